// Package color owns what the program reckons with colors: reading one, and
// which letters can be read on it. It does not own which colors companies choose.
package color

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// RGB is a color, each part from 0 to 255.
type RGB [3]float64

// White and Black are the colors of letters on others.
var (
	White = RGB{255, 255, 255}
	Black = RGB{}
)

var errColor = errors.New("a color has six hexadecimal digits")

// Parse reads six hexadecimal digits.
func Parse(text string) (RGB, error) {
	number, err := strconv.ParseUint(text, 16, 32)
	if err != nil || len(text) != 6 {
		return RGB{}, errColor
	}
	return RGB{float64(number >> 16), float64(number >> 8 & 0xff), float64(number & 0xff)}, nil
}

// String is the color as stylesheets write it: #05694b.
func (c RGB) String() string {
	return fmt.Sprintf("#%02x%02x%02x", int(c[0]), int(c[1]), int(c[2]))
}

// Readable is the color of letters on this one: white where their contrast is at
// least 4.5 to 1, else black.
func (c RGB) Readable() RGB {
	if 1.05/(c.luminance()+0.05) >= 4.5 {
		return White
	}
	return Black
}

// OnDark is the color for a dark page, where a dark one could not be seen.
func (c RGB) OnDark() RGB {
	const visible, step = 0.18, 0.1
	for c.luminance() < visible {
		for n := range c {
			c[n] += (White[n] - c[n]) * step
		}
	}
	return c
}

// luminance is how light a color is to the eye, from 0 to 1, as WCAG reckons it.
func (c RGB) luminance() float64 {
	var linear [3]float64
	for n, part := range c {
		part /= 255
		if linear[n] = part / 12.92; part > 0.04045 {
			linear[n] = math.Pow((part+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*linear[0] + 0.7152*linear[1] + 0.0722*linear[2]
}
