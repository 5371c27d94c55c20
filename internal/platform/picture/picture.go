// Package picture makes pictures that are safe to show of files that people
// send. It owns which formats are read, how large they may be and how they are
// made smaller. It does not know what a picture is for.
package picture

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	_ "image/jpeg" // is read
	"image/png"
	"io"
)

// Size is a box in pixels.
type Size struct{ Width, Height int }

// The reasons by which a file is refused, for people.
var (
	ErrFormat = errors.New("must be a PNG or JPEG picture")
	ErrLarge  = errors.New("must have at most 3000 pixels a side and 4 million in all")
	ErrScans  = errors.New("has too many layers; save it as PNG, or as JPEG that is not progressive")
)

// What a small file can make us do is bounded before it is decoded: a picture of
// one colour packs very well, and each scan of a progressive JPEG goes over all
// pixels again.
const (
	maxSide   = 3000
	maxPixels = 4 << 20
	maxVisits = 16 * maxPixels // pixels times scans: three times those of a common progressive JPEG
)

// scan is the marker that each scan of a JPEG begins with. Inside a scan no such
// bytes can be, so that there are at most as many scans as markers.
var scan = []byte{0xff, 0xda}

// turn admits one decoder at a time, which bounds the memory.
var turn = make(chan struct{}, 1)

// Fit reads a PNG or JPEG file and returns a PNG of its pixels that fits the
// box; a picture that fits already keeps its size. Nothing else of the file is
// kept: no text, no profile, nothing that a browser could run. It waits for its
// turn, and ends with the context.
func Fit(ctx context.Context, file []byte, box Size) ([]byte, error) {
	if err := affordable(file); err != nil {
		return nil, err
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	source, _, err := image.Decode(whileWanted{ctx, bytes.NewReader(file)})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, ErrFormat
	}
	var out bytes.Buffer
	err = png.Encode(&out, shrink(source, fitting(source.Bounds(), box)))
	return out.Bytes(), err
}

// affordable refuses a file by what its head says and its markers count.
func affordable(file []byte) error {
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || config.Width < 1 || config.Height < 1 {
		return ErrFormat
	}
	pixels := config.Width * config.Height
	if config.Width > maxSide || config.Height > maxSide || pixels > maxPixels {
		return ErrLarge
	}
	if format == "jpeg" && bytes.Count(file, scan) > maxVisits/pixels {
		return ErrScans
	}
	return nil
}

// whileWanted is a file that ends when who asked has gone.
type whileWanted struct {
	ctx  context.Context // decoders take a reader and no context
	file io.Reader
}

func (r whileWanted) Read(into []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.file.Read(into)
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
			drawn.Set(x, y, mean(source, image.Rect(bounds.Min.X+x*bounds.Dx()/size.Width,
				bounds.Min.Y+y*bounds.Dy()/size.Height, bounds.Min.X+(x+1)*bounds.Dx()/size.Width,
				bounds.Min.Y+(y+1)*bounds.Dy()/size.Height)))
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
