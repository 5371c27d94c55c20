package checkout

import (
	"fmt"
	"net/http"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/color"
	"carteira/internal/platform/fault"
	"carteira/internal/web"
)

// forever is for answers that their address says all about.
const forever = "public, max-age=31536000, immutable"

// RegisterBrand serves logos and the stylesheets of companies' colors, which the
// policy of the pages does not allow inside them.
func RegisterBrand(mux *http.ServeMux, accounts *account.Service) {
	mux.HandleFunc("GET /brand/{color}", style)
	mux.HandleFunc("GET /logo/{file}", func(w http.ResponseWriter, r *http.Request) {
		version, isPNG := strings.CutSuffix(r.PathValue("file"), ".png")
		content, err := accounts.Logo(r.Context(), version)
		if err == nil && !isPNG {
			err = fault.NotFound("page")
		}
		if err != nil {
			refuse(w, r, err)
			return
		}
		w.Header().Set("Cache-Control", forever)
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(content) //nolint:gosec // a picture that the program drew; a reader who has gone away is not our failure
	})
}

// style is the stylesheet of a color. The address has all of it, so that it tells
// nothing about any company.
func style(w http.ResponseWriter, r *http.Request) {
	text, isCSS := strings.CutSuffix(r.PathValue("color"), ".css")
	chosen, err := color.Parse(text)
	if err != nil || !isCSS {
		refuse(w, r, fault.NotFound("page"))
		return
	}
	w.Header().Set("Cache-Control", forever)
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = fmt.Fprint(w, stylesheet(chosen)) // a reader who has gone away is not our failure
}

// stylesheet gives buttons a color. Its selectors are stronger than those of the
// house's own colors.
func stylesheet(chosen color.RGB) string {
	light, night := variables(chosen), variables(chosen.OnDark())
	return ":root:root{" + light + "}\n" +
		"@media (prefers-color-scheme: dark){:root:root:not([data-theme=\"light\"]){" + night + "}}\n" +
		":root:root[data-theme=\"dark\"]{" + night + "}\n"
}

// variables are what the color sets in a stylesheet.
func variables(chosen color.RGB) string {
	text := chosen.Readable().String()
	return "--primary:" + chosen.String() + ";--primary-foreground:" + text + ";--ring:" + chosen.String()
}

// refuse answers what is not a page.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	err = web.Explain(err)
	web.ExchangeOf(r.Context()).Err = err
	web.WriteFault(w, err)
}
