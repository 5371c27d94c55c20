package pix_test

import (
	"bytes"
	"encoding/json"
	"image"
	_ "image/png"
	"os"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"carteira/internal/payment/pix"
	"carteira/internal/platform/money"
	"carteira/test/kit/pixtest"
)

type vector struct{ Name, Payload string }

type vectors struct{ Valid, Invalid []vector }

func readVectors(tb testing.TB) vectors {
	tb.Helper()
	text, err := os.ReadFile("testdata/brcode.json")
	if err != nil {
		tb.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		tb.Fatal(err)
	}
	if len(v.Valid) < 20 || len(v.Invalid) < 3 {
		tb.Fatalf("%d valid and %d invalid vectors: some are missing", len(v.Valid), len(v.Invalid))
	}
	return v
}

func TestEveryValidVectorIsRead(t *testing.T) {
	for _, vector := range readVectors(t).Valid {
		if _, err := pixtest.Parse(vector.Payload); err != nil {
			t.Errorf("%s: %v", vector.Name, err)
		}
	}
}

func TestEveryInvalidVectorIsRefused(t *testing.T) {
	for _, vector := range readVectors(t).Invalid {
		if code, err := pixtest.Parse(vector.Payload); err == nil {
			t.Errorf("%s: read as %+v", vector.Name, code)
		}
	}
}

func TestParseReadsWhatTheCodeSays(t *testing.T) {
	tests := map[string]struct {
		code string
		want pixtest.Code
	}{
		"the manual's full example": {
			"00020104141234567890123426580014BR.GOV.BCB.PIX0136123e4567-e12b-12d1-a456-42665544000027300012BR.COM.OUTRO011001234567895204000053039865406123.455802BR5917NOME DO RECEBEDOR6008BRASILIA61087007490062190515RP12345678-201980390012BR.COM.OUTRO01190123.ABCD.3456.WXYZ6304AD38",
			pixtest.Code{Key: "123e4567-e12b-12d1-a456-426655440000", Amount: 123_45, Name: "NOME DO RECEBEDOR", City: "BRASILIA", PostalCode: "70074900", TxID: "RP12345678-2019"},
		},
		"a key with a description": {
			"00020126490014br.gov.bcb.pix0114112223330001810209Fatura 4252040000530398654071234.565802BR5912EMPRESA LTDA6009SAO PAULO62070503F426304EAEC",
			pixtest.Code{Key: "11222333000181", Description: "Fatura 42", Amount: 1234_56, Name: "EMPRESA LTDA", City: "SAO PAULO", TxID: "F42"},
		},
		"a charge with a recurrence": {
			"00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa35319489063047741",
			pixtest.Code{Once: true, URL: "pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441", RecurrenceURL: "pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa353194890", Name: "Fulano de Tal", City: "BRASILIA"},
		},
		"pasted with spaces around, its sum in small letters": {
			" 00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041d3d\n",
			pixtest.Code{Key: "123e4567-e12b-12d1-a456-426655440000", Name: "Fulano de Tal", City: "BRASILIA"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := pixtest.Parse(tt.code)
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

func TestStaticCodesAreThoseOfTheVectors(t *testing.T) {
	tests := map[string]struct {
		static pix.Static
		want   string
	}{
		"no amount, no id": {
			pix.Static{Key: key(t, "123e4567-e12b-12d1-a456-426655440000"), Name: "Fulano de Tal", City: "BRASILIA"},
			"00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D",
		},
		"e-mail, description, amount": {
			pix.Static{Key: key(t, "Thalesog@me.com"), Name: "THALES OGLIARI", City: "SÃO MIGUEL DO OESTE", Amount: 10_00, Description: "Pedido 123"},
			"00020126510014br.gov.bcb.pix0115thalesog@me.com0210Pedido 123520400005303986540510.005802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***63040DC6",
		},
		"phone": {
			pix.Static{Key: key(t, "+55 (61) 91234-5678"), Name: "FULANO DE TAL", City: "BRASILIA", Amount: 10_50, TxID: "INV0001"},
			"00020126360014br.gov.bcb.pix0114+5561912345678520400005303986540510.505802BR5913FULANO DE TAL6008BRASILIA62110507INV00016304F405",
		},
		"CNPJ and description": {
			pix.Static{Key: key(t, "11.222.333/0001-81"), Name: "EMPRESA LTDA", City: "SÃO PAULO", Amount: 1234_56, TxID: "F42", Description: "Fatura 42"},
			"00020126490014br.gov.bcb.pix0114112223330001810209Fatura 4252040000530398654071234.565802BR5912EMPRESA LTDA6009SAO PAULO62070503F426304EAEC",
		},
		"CNPJ with letters, one cent": {
			pix.Static{Key: key(t, "12.abc.345/01de-35"), Name: "EMPRESA ALFA", City: "RECIFE", Amount: 1},
			"00020126360014br.gov.bcb.pix011412ABC34501DE3552040000530398654040.015802BR5912EMPRESA ALFA6006RECIFE62070503***630406FE",
		},
		"everything as long as it may be": {
			pix.Static{Key: key(t, "cobranca@exemplo.com.br"), Name: "LOJA", City: "CURITIBA", Amount: money.Max, TxID: strings.Repeat("A", 25), Description: strings.Repeat("x", 80)},
			"00020126990014br.gov.bcb.pix0123cobranca@exemplo.com.br0250xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx520400005303986541199999999.995802BR5904LOJA6008CURITIBA62290525AAAAAAAAAAAAAAAAAAAAAAAAA63041C20",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := tt.static.Code(); err != nil || got != tt.want {
				t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestDynamicCodeIsThatOfTheVector(t *testing.T) {
	dynamic := pix.Dynamic{URL: "payload.psp.com/3ec9d2f9-5f03-4e0e-820d-63a81e769e87", Name: "THALES OGLIARI", City: "SAO MIGUEL DO O"}
	want := "00020101021226740014br.gov.bcb.pix2552payload.psp.com/3ec9d2f9-5f03-4e0e-820d-63a81e769e875204000053039865802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***63042895"
	if got, err := dynamic.Code(); err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestCodesThatCannotBeAreRefused(t *testing.T) {
	evp := key(t, "123e4567-e12b-12d1-a456-426655440000")
	tests := map[string]interface{ Code() (string, error) }{
		"no key":              pix.Static{},
		"id with a hyphen":    pix.Static{Key: evp, TxID: "A-1"},
		"id too long":         pix.Static{Key: evp, TxID: strings.Repeat("A", 26)},
		"negative amount":     pix.Static{Key: evp, Amount: -1},
		"amount too large":    pix.Static{Key: evp, Amount: money.Max + 1},
		"no address":          pix.Dynamic{},
		"address with scheme": pix.Dynamic{URL: "https://pix.example.com/1"},
		"address too long":    pix.Dynamic{URL: strings.Repeat("a", 78)},
		"address with accent": pix.Dynamic{URL: "pix.example.com/é"},
	}
	for name, code := range tests {
		if got, err := code.Code(); err == nil {
			t.Errorf("%s: made %s", name, got)
		}
	}
}

func TestBrokenCodesAreRefused(t *testing.T) {
	good := func(change func(string) string) string {
		text, err := pix.Static{Key: key(t, "a@b.co"), Name: "N", City: "C", Amount: 100}.Code()
		if err != nil {
			t.Fatal(err)
		}
		return pixtest.Seal(change(text[:len(text)-8]))
	}
	replace := func(old, with string) func(string) string {
		return func(text string) string {
			if !strings.Contains(text, old) {
				t.Fatalf("no %s in %s", old, text)
			}
			return strings.Replace(text, old, with, 1)
		}
	}
	tests := map[string]string{
		"empty":               "",
		"only a sum":          pixtest.Seal(""),
		"dollars":             good(replace("5303986", "5303840")),
		"another country":     good(replace("5802BR", "5802US")),
		"no name":             good(replace("5901N", "")),
		"an empty name":       good(replace("5901N", "5900")),
		"zero":                good(replace("54041.00", "54040.00")),
		"a comma":             good(replace("54041.00", "54041,00")),
		"a negative amount":   good(replace("54041.00", "5405-1.00")),
		"another format":      good(replace("000201", "000202")),
		"format not first":    good(replace("000201", "010212000201")),
		"unknown method":      good(replace("000201", "000201010213")),
		"no PIX":              good(replace("br.gov.bcb.pix", "br.gov.bcb.xip")),
		"key twice":           good(replace("5204", "27280014br.gov.bcb.pix0106a@b.co5204")),
		"a field twice":       good(replace("5802BR", "5802BR5802BR")),
		"no category":         good(replace("52040000", "")),
		"a key and a charge":  good(replace("26280014br.gov.bcb.pix0106a@b.co", "26380014br.gov.bcb.pix0106a@b.co2506b.co/1")),
		"neither key nor URL": good(replace("26280014br.gov.bcb.pix0106a@b.co", "26180014br.gov.bcb.pix")),
		"broken recurrence":   good(func(s string) string { return s + "8004ABCD" }),
		"too long": good(func(s string) string {
			return s + "6499" + strings.Repeat("x", 99) + "6599" + strings.Repeat("x", 99) + "6699" + strings.Repeat("x", 99) + "6799" + strings.Repeat("x", 99) + "6899" + strings.Repeat("x", 99)
		}),
	}
	if _, err := pixtest.Parse(good(func(s string) string { return s })); err != nil {
		t.Fatalf("the code before it is broken: %v", err)
	}
	for name, code := range tests {
		if c, err := pixtest.Parse(code); err == nil {
			t.Errorf("%s: %s read as %+v", name, code, c)
		}
	}
}

func TestSumOfTheStandard(t *testing.T) {
	if got := pix.CRC("123456789"); got != 0x29B1 {
		t.Errorf("got %04X, want 29B1", got)
	}
}

func TestFoldKeepsWhatBanksAccept(t *testing.T) {
	tests := map[string]string{
		"Açaí & Cia. Ltda":     "Acai Cia. Ltda",
		"  João\t da\nSilva ":  "Joao da Silva",
		"Ção":                  "Cao",
		"loja_do-zé@exemplo":   "loja do-ze exemplo",
		"😀":                    "",
		"東京":                   "",
		"R$ 10,00 – promoção!": "R 10 00 promocao",
		"bad \xff utf":         "bad utf",
	}
	for in, want := range tests {
		if got := pix.Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNamesThatFoldToNothingGetOne(t *testing.T) {
	code, err := pix.Static{Key: key(t, "a@b.co"), Name: "東京", City: "😀"}.Code()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := pixtest.Parse(code); err != nil || c.Name != "RECEBEDOR" || c.City != "BRASIL" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestDescriptionGivesWayToALongKey(t *testing.T) {
	long := key(t, strings.Repeat("a", 70)+"@b.co")
	code, err := pix.Static{Key: long, Name: "N", City: "C", Description: "Fatura"}.Code()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := pixtest.Parse(code); err != nil || c.Key != long.Value || c.Description != "" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestPictureIsReadByAScanner(t *testing.T) {
	texts := []string{"https://pay.example.com/checkout/8f14e45fceea167a"}
	for _, vector := range readVectors(t).Valid {
		texts = append(texts, vector.Payload)
	}
	for _, text := range texts {
		if got := scan(t, text); got != text {
			t.Errorf("scanned %q, want %q", got, text)
		}
	}
}

func TestTextTooLongForAPictureIsRefused(t *testing.T) {
	if _, err := pix.PNG(strings.Repeat("x", 5000)); err == nil {
		t.Error("5000 characters were drawn")
	}
}

// scan draws text and reads the picture with an independent decoder.
func scan(t *testing.T, text string) string {
	t.Helper()
	drawn, err := pix.PNG(text)
	if err != nil {
		t.Fatal(err)
	}
	picture, _, err := image.Decode(bytes.NewReader(drawn))
	if err != nil {
		t.Fatal(err)
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(picture)
	if err != nil {
		t.Fatal(err)
	}
	result, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
	if err != nil {
		t.Fatalf("scan %q: %v", text, err)
	}
	return result.GetText()
}

func key(tb testing.TB, text string) pix.Key {
	tb.Helper()
	k, err := pix.ParseKey(text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return k
}
