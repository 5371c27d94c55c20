package picture_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"carteira/internal/platform/picture"
	"carteira/test/kit/housetest"
)

var box = picture.Size{Width: 48, Height: 16}

func painted(width, height int, with color.Color) image.Image {
	drawn := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			drawn.Set(x, y, with)
		}
	}
	return drawn
}

func pngOf(t *testing.T, drawn image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	housetest.Must(t, png.Encode(&out, drawn))
	return out.Bytes()
}

func TestPictureFitsItsBoxAndKeepsItsProportions(t *testing.T) {
	for given, want := range map[[2]int][2]int{
		{20, 10}: {20, 10}, {96, 16}: {48, 8}, {100, 100}: {16, 16}, {10, 400}: {1, 16}, {3000, 1}: {48, 1},
	} {
		made, err := picture.Fit(t.Context(), pngOf(t, painted(given[0], given[1], color.RGBA{200, 10, 30, 255})), box)
		housetest.Must(t, err)
		drawn, err := png.Decode(bytes.NewReader(made))
		housetest.Must(t, err)
		if got := drawn.Bounds().Size(); got != (image.Point{want[0], want[1]}) {
			t.Errorf("%v became %v, want %v", given, got, want)
		}
		if r, g, b, a := drawn.At(0, 0).RGBA(); r>>8 != 200 || g>>8 != 10 || b>>8 != 30 || a>>8 != 255 {
			t.Errorf("%v has another colour: %d %d %d %d", given, r>>8, g>>8, b>>8, a>>8)
		}
	}
}

func TestTransparencyStays(t *testing.T) {
	made, err := picture.Fit(t.Context(), pngOf(t, painted(96, 32, color.RGBA{})), box)
	housetest.Must(t, err)
	drawn, err := png.Decode(bytes.NewReader(made))
	housetest.Must(t, err)
	if _, _, _, a := drawn.At(3, 3).RGBA(); a != 0 {
		t.Errorf("opaque by %d", a)
	}
}

func TestNothingOfTheFileStaysButItsPixels(t *testing.T) {
	var file bytes.Buffer
	housetest.Must(t, jpeg.Encode(&file, painted(30, 10, color.White), nil))
	file.WriteString("<script>alert(1)</script>")
	made, err := picture.Fit(t.Context(), file.Bytes(), box)
	housetest.Must(t, err)
	if !bytes.HasPrefix(made, []byte("\x89PNG")) || bytes.Contains(made, []byte("script")) {
		t.Errorf("%q", made)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	whole := pngOf(t, painted(40, 10, color.Black))
	for name, file := range map[string][]byte{
		"nothing": nil, "SVG": []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"GIF": []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), "HTML": []byte("<!doctype html>"), "half a PNG": whole[:len(whole)/2],
	} {
		if _, err := picture.Fit(t.Context(), file, box); !errors.Is(err, picture.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSmallFileOfManyPixelsIsRefusedUnread(t *testing.T) {
	huge := pngOf(t, image.NewPaletted(image.Rect(0, 0, 3001, 3), color.Palette{color.Black}))
	if _, err := picture.Fit(t.Context(), huge, box); !errors.Is(err, picture.ErrLarge) {
		t.Errorf("%d bytes: %v", len(huge), err)
	}
}

// jpegOf is a JPEG of one colour with more scans appended, each of which would go
// over all pixels.
func jpegOf(t *testing.T, width, height, scans int) []byte {
	t.Helper()
	var file bytes.Buffer
	housetest.Must(t, jpeg.Encode(&file, painted(width, height, color.White), nil))
	whole := file.Bytes()
	at := bytes.Index(whole, []byte{0xff, 0xda})
	body := whole[at : len(whole)-2]
	return append(bytes.Clone(whole[:len(whole)-2]), append(bytes.Repeat(body, scans), 0xff, 0xd9)...)
}

func TestCostOfAFileIsBoundedBeforeItIsDecoded(t *testing.T) {
	for name, tt := range map[string]struct {
		file []byte
		want error
	}{
		"a photograph":         {jpegOf(t, 1000, 1000, 0), nil},
		"many pixels":          {jpegOf(t, 2900, 2900, 0), picture.ErrLarge},
		"many scans":           {jpegOf(t, 1000, 1000, 70), picture.ErrScans},
		"scans behind the end": {append(jpegOf(t, 2000, 2000, 0), bytes.Repeat([]byte{0xff, 0xff, 0xda}, 99)...), picture.ErrScans},
	} {
		if _, err := picture.Fit(t.Context(), tt.file, box); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func TestDecodingEndsWithTheRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 { // a turn that was not given back would keep the second waiting
		if _, err := picture.Fit(ctx, jpegOf(t, 100, 100, 0), box); !errors.Is(err, context.Canceled) {
			t.Fatalf("decoded for nobody: %v", err)
		}
	}
	_, err := picture.Fit(t.Context(), jpegOf(t, 100, 100, 0), box)
	housetest.Must(t, err)
}
