package color

import "testing"

func TestLettersCanBeReadOnEveryColor(t *testing.T) {
	for text, want := range map[string]RGB{
		"05694b": White, "000000": White, "7a1fa2": White, "ffffff": Black, "ffcc00": Black, "00ff00": Black,
	} {
		parsed, err := Parse(text)
		if err != nil || parsed.String() != "#"+text || parsed.Readable() != want {
			t.Errorf("%s: %v with letters %v, %v", text, parsed, parsed.Readable(), err)
		}
	}
}

func TestDarkColorsAreSeenOnDarkPages(t *testing.T) {
	for _, dark := range []RGB{Black, {5, 105, 75}} {
		if lighter := dark.OnDark(); lighter.luminance() < 0.18 {
			t.Errorf("%v became %v", dark, lighter)
		}
	}
	if White.OnDark() != White {
		t.Error("white is light enough")
	}
}

func TestWhatIsNoColorIsRefused(t *testing.T) {
	for _, text := range []string{"", "fff", "#05694b", "05694g", "-5694b", "05694b0"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
