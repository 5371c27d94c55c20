package picture_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"carteira/internal/platform/housetest"
	"carteira/internal/platform/picture"
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
		made, err := picture.Fit(pngOf(t, painted(given[0], given[1], color.RGBA{200, 10, 30, 255})), box)
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
	made, err := picture.Fit(pngOf(t, painted(96, 32, color.RGBA{})), box)
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
	made, err := picture.Fit(file.Bytes(), box)
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
		if _, err := picture.Fit(file, box); !errors.Is(err, picture.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSmallFileOfManyPixelsIsRefusedUnread(t *testing.T) {
	huge := pngOf(t, image.NewPaletted(image.Rect(0, 0, 3001, 3), color.Palette{color.Black}))
	if _, err := picture.Fit(huge, box); !errors.Is(err, picture.ErrLarge) {
		t.Errorf("%d bytes: %v", len(huge), err)
	}
}
