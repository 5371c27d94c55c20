package page

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// quiet is the empty border that scanners want around a code, in modules.
const quiet = 4

// QR draws a code as SVG in the page itself: the policy lets no data: picture
// in, and a secret in a picture of its own address would lie about.
func QR(text string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", err
	}
	var path strings.Builder
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	side := code.Size + 2*quiet
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers only
		`<svg class="qr" viewBox="0 0 %d %d" role="img" aria-label="QR code" shape-rendering="crispEdges">`+
			`<path d="%s"/></svg>`, side, side, path.String())), nil
}
