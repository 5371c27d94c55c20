package smtp

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/mail"
	"regexp"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"carteira/internal/platform/color"
	"carteira/internal/reminder"
)

// compose makes the mail: the text, and where the company has a look the same as
// a page with its pictures, of which a reader shows the last one that it can. No
// value can add a header: texts are made plain, and addresses were checked.
func (s sender) compose(letter reminder.Letter) (*gomail.Msg, error) {
	from := s.from
	if from.Name == "" {
		from.Name = letter.Company
	}
	message := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithCharset("utf-8"))
	message.SetAddrHeaderFromMailAddress(gomail.HeaderFrom, address(from))
	message.SetAddrHeaderFromMailAddress(gomail.HeaderTo, address(mail.Address{Name: letter.Name, Address: letter.To}))
	if s.replyTo.Address != "" {
		message.SetAddrHeaderFromMailAddress(gomail.HeaderReplyTo, address(s.replyTo))
	}
	message.Subject(plain(letter.Subject))
	message.SetDateWithValue(letter.At)
	message.SetMessageIDWithValue(messageID(letter, s.from.Address))
	message.SetGenHeader("Auto-Submitted", "auto-generated") // so that no out-of-office answers it
	if url := optOutHeader(letter); url != "" {
		message.SetGenHeaderPreformatted(gomail.HeaderListUnsubscribe, "<"+url+">")
		message.SetGenHeader(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click") // RFC 8058
	}
	if letter.Look == nil {
		message.SetBodyString(gomail.TypeTextPlain, lines(letter.Text))
		return message, nil
	}
	pictures := picturesOf(letter)
	message.SetBodyString(gomail.TypeTextPlain, lines(plainText(letter)))
	message.AddAlternativeString(gomail.TypeTextHTML, lines(pageOf(letter, pictures)))
	for _, picture := range pictures {
		err := message.EmbedReader(picture.name, bytes.NewReader(picture.content),
			gomail.WithFileContentType("image/png"), gomail.WithFileContentID(picture.id))
		if err != nil {
			return nil, err
		}
	}
	return message, nil
}

// lines ends the lines of a text as mails do.
func lines(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// optOutHeader is the address of the one click. One that could end its header is
// none of ours.
func optOutHeader(letter reminder.Letter) string {
	if letter.Look == nil || strings.ContainsFunc(letter.Look.OptOutURL, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '<' || r == '>'
	}) {
		return ""
	}
	return letter.Look.OptOutURL
}

// address is one with a name that cannot end its header.
func address(a mail.Address) *mail.Address {
	a.Name = plain(a.Name)
	return &a
}

// plain is a text without control characters, of a length that fits a header.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:300])
	}
	return strings.TrimSpace(text)
}

// messageID is the same at every attempt of a message.
func messageID(letter reminder.Letter, from string) string {
	_, domain, _ := strings.Cut(from, "@")
	return letter.ID + "@" + domain
}

//go:embed mail.html
var mailText string

// mailPage escapes each value for its place.
var mailPage = template.Must(template.New("mail").Parse(mailText))

// houseColor is that of buttons where the company has none.
const houseColor = "05694b"

// picture is a file that the HTML shows.
type picture struct {
	id, name string
	content  []byte
}

// mailData is what fills the page.
type mailData struct {
	Company    string
	Subject    string
	Paragraphs [][]line
	Color      string // of the button
	Letters    string // the color of its letters
	PayURL     string
	OptOutURL  string
	Logo, QR   template.URL // cid: addresses of ours
}

// line is a line of the text, in pieces that are links or not.
type line []piece

type piece struct{ Text, URL string }

// plainText is the text with the addresses that the page has behind its buttons.
func plainText(letter reminder.Letter) string {
	text := letter.Text
	if url := letter.Look.PayURL; url != "" && !strings.Contains(text, url) {
		text += "\n\nPagar: " + url
	}
	if url := letter.Look.OptOutURL; url != "" {
		text += "\n\n--\nPara não receber mais mensagens: " + url
	}
	return text
}

func picturesOf(letter reminder.Letter) (list []picture) {
	if len(letter.Look.Logo) > 0 {
		list = append(list, picture{"logo." + letter.ID, "logo.png", letter.Look.Logo})
	}
	if len(letter.Look.QR) > 0 {
		list = append(list, picture{"pix." + letter.ID, "pix.png", letter.Look.QR})
	}
	return list
}

func pageOf(letter reminder.Letter, pictures []picture) string {
	data := mailData{
		Company:    letter.Company,
		Subject:    letter.Subject,
		Paragraphs: paragraphs(letter.Text),
		PayURL:     letter.Look.PayURL,
		OptOutURL:  letter.Look.OptOutURL,
	}
	data.Color, data.Letters = buttonColors(letter.Look.Color)
	for _, picture := range pictures {
		address := template.URL("cid:" + picture.id) //nolint:gosec // ids are letters of ours
		if picture.name == "logo.png" {
			data.Logo = address
		} else {
			data.QR = address
		}
	}
	var buf bytes.Buffer
	if err := mailPage.Execute(&buf, data); err != nil {
		panic(err) // a buffer takes everything, and the page is fixed
	}
	return buf.String()
}

func buttonColors(chosen string) (background, letters string) {
	background = strings.TrimPrefix(chosen, "#")
	parsed, err := color.Parse(background)
	if err != nil {
		parsed, _ = color.Parse(houseColor)
	}
	return parsed.String(), parsed.Readable().String()
}

var link = regexp.MustCompile(`https?://[^\s<>"]+`)

// paragraphs cuts a text into paragraphs and lines, and finds its addresses.
func paragraphs(text string) (list [][]line) {
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var lines []line
		for row := range strings.SplitSeq(strings.Trim(block, "\n"), "\n") {
			lines = append(lines, pieces(row))
		}
		list = append(list, lines)
	}
	return list
}

func pieces(row string) (list line) {
	for {
		at := link.FindStringIndex(row)
		if at == nil {
			return append(list, piece{Text: row})
		}
		url := strings.TrimRight(row[at[0]:at[1]], ".,;:!?)")
		list = append(list, piece{Text: row[:at[0]]}, piece{Text: url, URL: url})
		row = row[at[0]+len(url):]
	}
}
