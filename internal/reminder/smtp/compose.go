package smtp

import (
	"bytes"
	"net/mail"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"

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

// plain is a text without control characters, of a length that a header bears.
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
