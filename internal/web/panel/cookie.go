package panel

import (
	"net/http"
	"time"

	"carteira/internal/account"
	"carteira/internal/web/page"
)

// cookieName is that of the session. Under https it is bound to the host: a
// neighbour under the same domain cannot put one of its own in its place.
func cookieName(r *http.Request) string {
	if page.Secure(r) {
		return "__Host-carteira_session"
	}
	return "carteira_session"
}

// token is what the browser holds; "" when it holds nothing.
func token(r *http.Request) string {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return ""
	}
	return c.Value
}

func (req *request) remember(token string) {
	http.SetCookie(req.w, &http.Cookie{
		Name: cookieName(req.Request), Value: token, Path: "/", MaxAge: int(account.SessionLife / time.Second),
		HttpOnly: true, Secure: page.Secure(req.Request), SameSite: http.SameSiteLaxMode,
	})
}

func (req *request) forget() {
	http.SetCookie(req.w, &http.Cookie{
		Name: cookieName(req.Request), Path: "/", MaxAge: -1, HttpOnly: true, Secure: page.Secure(req.Request), SameSite: http.SameSiteLaxMode,
	})
}
