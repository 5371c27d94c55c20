package pix

import (
	"fmt"

	"rsc.io/qr"
)

// scale is the pixels of a module: enough to be scanned from a screen and to
// be shrunk.
const scale = 6

// PNG draws text as a QR code, with the quiet zone that scanners need.
func PNG(text string) ([]byte, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("draw QR code: %w", err)
	}
	code.Scale = scale
	return code.PNG(), nil
}
