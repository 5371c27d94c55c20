package panel

import (
	"net/http"
	"time"

	"carteira/internal/account"
	"carteira/internal/web/page"
)

// The cookies: one of the session, and one by which a browser is known again
// after it has ended.
const (
	sessionCookie = "carteira_session"
	deviceCookie  = "carteira_device"
)

// cookieName is that of a cookie here. Under https it is bound to the host: a
// neighbour under the same domain cannot put one of its own in its place.
func cookieName(r *http.Request, name string) string {
	if page.Secure(r) {
		return "__Host-" + name
	}
	return name
}

func cookieValue(r *http.Request, name string) string {
	cookie, err := r.Cookie(cookieName(r, name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// token is what the browser holds; "" when it holds nothing.
func token(r *http.Request) string { return cookieValue(r, sessionCookie) }

func (req *request) setCookie(name, value string, life time.Duration) {
	http.SetCookie(req.w, &http.Cookie{
		Name: cookieName(req.Request, name), Value: value, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true,
		Secure: page.Secure(req.Request), SameSite: http.SameSiteLaxMode,
	})
}

// remember gives the browser what a sign-in has made.
func (req *request) remember(in account.SignedIn) {
	req.setCookie(sessionCookie, in.Token, account.SessionLife)
	if in.Device != "" {
		req.setCookie(deviceCookie, in.Device, account.DeviceLife)
	}
}
