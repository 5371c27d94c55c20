package smtp

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"
	"testing"

	"carteira/internal/reminder"
	"carteira/test/kit/channeltest"
)

// part is a part of a mail, decoded.
type part struct {
	header textproto.MIMEHeader
	kind   string
	body   string
}

// partsOf takes a mail apart, down to what has no parts.
func partsOf(t *testing.T, header textproto.MIMEHeader, body io.Reader) (list []part) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(kind, "multipart/") {
		list = append(list, part{header: header, kind: kind})
		for reader := multipart.NewReader(body, params["boundary"]); ; {
			next, err := reader.NextRawPart()
			if err == io.EOF {
				return list
			}
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, partsOf(t, next.Header, next)...)
		}
	}
	switch header.Get("Content-Transfer-Encoding") {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return []part{{header, kind, strings.ReplaceAll(string(text), "\r\n", "\n")}}
}

// sendRich sends a letter to a real server and takes apart what came.
func sendRich(t *testing.T, letter reminder.Letter) (mail.Header, []part) {
	t.Helper()
	server := newMailServer(t)
	sender, err := open(server.options(), channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	letter.To = "ana@example.com"
	if _, err := sender.Send(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	text := server.received()[0].text
	for line := range strings.Lines(text) {
		if len(line) > 998 {
			t.Errorf("a line of %d bytes, more than servers bear", len(line))
		}
	}
	message, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return message.Header, partsOf(t, textproto.MIMEHeader(message.Header), message.Body)
}

func dot(t *testing.T) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 40, 40))
	picture.Set(1, 1, color.White)
	var buf bytes.Buffer
	if err := png.Encode(&buf, picture); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func richLetter(t *testing.T) reminder.Letter {
	t.Helper()
	letter := channeltest.Letter()
	letter.Text = "Olá, Ana!\n\nPague R$ 35,00 em https://carteira.example/pay/abc?x=1&y=2.\nObrigado"
	letter.Look = &reminder.Look{
		Color: "#ffcc00", Logo: dot(t), QR: dot(t), PayURL: "https://carteira.example/pay/abc?x=1&y=2",
		OptOutURL: "https://carteira.example/unsubscribe/v1.01234567.abc",
	}
	return letter
}

func TestMailHasTextPageAndPictures(t *testing.T) {
	letter := richLetter(t)
	_, parts := sendRich(t, letter)
	var kinds []string
	for _, part := range parts {
		kinds = append(kinds, part.kind)
	}
	if got := strings.Join(kinds, " "); got != "multipart/related multipart/alternative text/plain text/html image/png image/png" {
		t.Fatalf("the mail has %s", got)
	}
	if want := letter.Text + "\n\n--\nPara não receber mais mensagens: " + letter.Look.OptOutURL; parts[2].body != want {
		t.Errorf("the text is %q, want %q", parts[2].body, want)
	}
	page := parts[3].body
	for _, want := range []string{
		`href="https://carteira.example/pay/abc?x=1&amp;y=2"`, "Pagar agora", "background:#ffcc00;color:#000000",
		`<img src="cid:` + contentID(parts[4]) + `"`, `<img src="cid:` + contentID(parts[5]) + `"`, `alt="Rede Clara"`,
		`href="` + letter.Look.OptOutURL + `"`, "Pague R$ 35,00 em <a href=",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	for _, picture := range parts[4:] {
		if picture.body != strings.ReplaceAll(string(dot(t)), "\r\n", "\n") || !strings.HasPrefix(picture.header.Get("Content-Disposition"), "inline") {
			t.Errorf("picture of %d bytes, %v", len(picture.body), picture.header)
		}
	}
}

func contentID(part part) string { return strings.Trim(part.header.Get("Content-ID"), "<>") }

func TestMailCanBeStoppedWithOneClick(t *testing.T) {
	letter := richLetter(t)
	header, _ := sendRich(t, letter)
	if header.Get("List-Unsubscribe") != "<"+letter.Look.OptOutURL+">" || header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
		t.Errorf("%v", header)
	}
	letter.Look.OptOutURL = ""
	header, parts := sendRich(t, letter)
	if header.Get("List-Unsubscribe") != "" || header.Get("List-Unsubscribe-Post") != "" || strings.Contains(parts[3].body, "receber") {
		t.Errorf("a mail that cannot be stopped says so: %v", header)
	}
}

func TestMailWithoutPicturesHasNone(t *testing.T) {
	letter := channeltest.Letter()
	letter.Look = &reminder.Look{Color: "red;}", PayURL: "https://carteira.example/pay/abc"}
	_, parts := sendRich(t, letter)
	if len(parts) != 3 || parts[2].kind != "text/html" || !strings.Contains(parts[2].body, "background:#05694b;color:#ffffff") {
		t.Errorf("%+v", parts)
	}
	if !strings.HasSuffix(parts[1].body, "\n\nPagar: https://carteira.example/pay/abc") {
		t.Errorf("the text does not lead to the payment: %q", parts[1].body)
	}
}

// Names and texts come from companies and their customers.
func TestMailTakesNoMarkupAndNoHeader(t *testing.T) {
	const evil = "x\r\nBcc: all@example.com\r\n\r\n<script>alert(1)</script>\"'><img src=x onerror=alert(1)> javascript:alert(1)"
	letter := richLetter(t)
	letter.Company, letter.Name, letter.Subject, letter.Text = evil, evil, evil, evil+" https://a.example/\"onclick=x"
	letter.Look.PayURL = "javascript:alert(1)"
	letter.Look.OptOutURL = "https://a.example/\r\nBcc: all@example.com"
	header, parts := sendRich(t, letter)
	if header.Get("Bcc") != "" {
		t.Errorf("headers %v", header)
	}
	page := parts[3].body
	for _, bad := range []string{"<script", "<img src=x", `href="javascript:`, `"onclick=`} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s:\n%s", bad, page)
		}
	}
}
