package kit

import (
	"net/http"
	"time"

	"carteira/internal/account"
	"carteira/internal/web/page"
)

// The cookies: one of the session, and one by which a browser is known again
// after it has ended.
const (
	SessionCookie = "carteira_session"
	deviceCookie  = "carteira_device"
)

// CookieName is that of a cookie here. Under https it is bound to the host: a
// neighbour under the same domain cannot put one of its own in its place.
func CookieName(r *http.Request, name string) string {
	if page.Secure(r) {
		return "__Host-" + name
	}
	return name
}

// CookieValue is what a cookie holds; "" without it.
func CookieValue(r *http.Request, name string) string {
	cookie, err := r.Cookie(CookieName(r, name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Token is what the browser holds; "" when it holds nothing.
func Token(r *http.Request) string { return CookieValue(r, SessionCookie) }

// SetCookie gives the browser a cookie for a time.
func (req *Request) SetCookie(name, value string, life time.Duration) {
	http.SetCookie(req.Writer, &http.Cookie{
		Name: CookieName(req.Request, name), Value: value, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true,
		Secure: page.Secure(req.Request), SameSite: http.SameSiteLaxMode,
	})
}

// Remember gives the browser what a sign-in has made.
func (req *Request) Remember(in account.SignedIn) {
	req.SetCookie(SessionCookie, in.Token, account.SessionLife)
	if in.Device != "" {
		req.SetCookie(deviceCookie, in.Device, account.DeviceLife)
	}
}
