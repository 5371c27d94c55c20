package checkout

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"carteira/internal/account"
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
	chosen, err := parseColor(text)
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
func stylesheet(chosen rgb) string {
	dark := chosen.onDark()
	light, night := chosen.variables(), dark.variables()
	return ":root:root{" + light + "}\n" +
		"@media (prefers-color-scheme: dark){:root:root:not([data-theme=\"light\"]){" + night + "}}\n" +
		":root:root[data-theme=\"dark\"]{" + night + "}\n"
}

// rgb is a color, each part from 0 to 255.
type rgb [3]float64

func parseColor(text string) (rgb, error) {
	number, err := strconv.ParseUint(text, 16, 32)
	if err != nil || len(text) != 6 {
		return rgb{}, fault.NotFound("page")
	}
	return rgb{float64(number >> 16), float64(number >> 8 & 0xff), float64(number & 0xff)}, nil
}

func (c rgb) String() string {
	return fmt.Sprintf("#%02x%02x%02x", int(c[0]), int(c[1]), int(c[2]))
}

func (c rgb) variables() string {
	text := c.readable().String()
	return "--primary:" + c.String() + ";--primary-foreground:" + text + ";--ring:" + c.String()
}

var (
	white = rgb{255, 255, 255}
	black = rgb{}
)

// readable is the color of letters on this one: white where their contrast is at
// least 4.5 to 1, else black, whose is.
func (c rgb) readable() rgb {
	if 1.05/(c.luminance()+0.05) >= 4.5 {
		return white
	}
	return black
}

// onDark is the color for a dark page, where a dark one could not be seen.
func (c rgb) onDark() rgb {
	const visible, step = 0.18, 0.1
	for c.luminance() < visible {
		for n := range c {
			c[n] += (white[n] - c[n]) * step
		}
	}
	return c
}

// luminance is how light a color is to the eye, from 0 to 1, as WCAG reckons it.
func (c rgb) luminance() float64 {
	var linear [3]float64
	for n, part := range c {
		part /= 255
		if linear[n] = part / 12.92; part > 0.04045 {
			linear[n] = math.Pow((part+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*linear[0] + 0.7152*linear[1] + 0.0722*linear[2]
}

// refuse answers what is not a page.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	err = web.Explain(err)
	web.ExchangeOf(r.Context()).Err = err
	web.WriteFault(w, err)
}
