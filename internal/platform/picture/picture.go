// Package picture makes pictures that are safe to show of files that people
// send. It owns which formats are read, how large they may be and how they are
// made smaller. It does not know what a picture is for.
package picture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	_ "image/jpeg" // is read
	"image/png"
)

// Size is a box in pixels.
type Size struct{ Width, Height int }

// The reasons by which a file is refused, for people.
var (
	ErrFormat = errors.New("must be a PNG or JPEG picture")
	ErrLarge  = errors.New("must have at most 3000 pixels a side")
)

// maxSide bounds the memory that a small file can make us use: a picture of one
// colour packs very well.
const maxSide = 3000

// Fit reads a PNG or JPEG file and returns a PNG of its pixels that fits the
// box; a picture that fits already keeps its size. Nothing else of the file is
// kept: no text, no profile, nothing that a browser could run.
func Fit(file []byte, box Size) ([]byte, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || config.Width < 1 || config.Height < 1 {
		return nil, ErrFormat
	}
	if config.Width > maxSide || config.Height > maxSide {
		return nil, ErrLarge
	}
	source, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, ErrFormat
	}
	var out bytes.Buffer
	err = png.Encode(&out, shrink(source, fitting(source.Bounds(), box)))
	return out.Bytes(), err
}

// fitting is the largest size with the proportions of a picture that fits the
// box and is not larger than the picture.
func fitting(bounds image.Rectangle, box Size) Size {
	size := Size{bounds.Dx(), bounds.Dy()}
	if size.Width > box.Width {
		size = Size{box.Width, size.Height * box.Width / size.Width}
	}
	if size.Height > box.Height {
		size = Size{size.Width * box.Height / size.Height, box.Height}
	}
	return Size{max(size.Width, 1), max(size.Height, 1)}
}

// shrink draws a picture at a size: each pixel is the mean of those that it
// covers, weighed by how opaque they are.
func shrink(source image.Image, size Size) image.Image {
	bounds := source.Bounds()
	drawn := image.NewRGBA(image.Rect(0, 0, size.Width, size.Height))
	for y := range size.Height {
		for x := range size.Width {
			drawn.Set(x, y, mean(source, image.Rect(
				bounds.Min.X+x*bounds.Dx()/size.Width,
				bounds.Min.Y+y*bounds.Dy()/size.Height,
				bounds.Min.X+(x+1)*bounds.Dx()/size.Width,
				bounds.Min.Y+(y+1)*bounds.Dy()/size.Height,
			)))
		}
	}
	return drawn
}

func mean(source image.Image, covered image.Rectangle) color.Color {
	var red, green, blue, alpha, count uint64
	for y := covered.Min.Y; y < max(covered.Max.Y, covered.Min.Y+1); y++ {
		for x := covered.Min.X; x < max(covered.Max.X, covered.Min.X+1); x++ {
			r, g, b, a := source.At(x, y).RGBA()
			red, green, blue, alpha, count = red+uint64(r), green+uint64(g), blue+uint64(b), alpha+uint64(a), count+1
		}
	}
	return color.RGBA64{
		R: uint16(red / count), G: uint16(green / count), B: uint16(blue / count), A: uint16(alpha / count), //nolint:gosec // means of 16 bits
	}
}
