package smtp

import (
	"bytes"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"unicode"

	"carteira/internal/reminder"
)

// compose makes the mail. No value can add a header: those that are not
// encoded are addresses that were checked.
func (s sender) compose(letter reminder.Letter) []byte {
	from := s.from
	if from.Name == "" {
		from.Name = letter.Company
	}
	var buf bytes.Buffer
	header := func(name, value string) {
		// Long texts are several encoded words, each on a line of its own.
		buf.WriteString(name + ": " + strings.ReplaceAll(value, "?= =?", "?=\r\n =?") + "\r\n")
	}
	header("From", address(from))
	header("To", address(mail.Address{Name: letter.Name, Address: letter.To}))
	if s.replyTo.Address != "" {
		header("Reply-To", address(s.replyTo))
	}
	header("Subject", mime.QEncoding.Encode("utf-8", plain(letter.Subject)))
	header("Date", letter.At.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	header("Message-ID", messageID(letter, s.from.Address))
	header("Auto-Submitted", "auto-generated") // so that no out-of-office answers it
	if url := optOutHeader(letter); url != "" {
		header("List-Unsubscribe", "<"+url+">")
		header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click") // RFC 8058
	}
	header("MIME-Version", "1.0")
	if letter.Look != nil {
		contentType, body := rich(letter)
		header("Content-Type", contentType)
		return append(append(buf.Bytes(), "\r\n"...), body...)
	}
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	buf.WriteString("\r\n")
	body := quotedprintable.NewWriter(&buf)
	_, _ = body.Write([]byte(strings.ReplaceAll(letter.Text, "\n", "\r\n"))) // a buffer takes everything
	_ = body.Close()
	buf.WriteString("\r\n")
	return buf.Bytes()
}

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

// address prints a name and an address; the name is encoded or quoted.
func address(a mail.Address) string {
	a.Name = plain(a.Name)
	if a.Name == "" {
		return "<" + a.Address + ">"
	}
	return a.String()
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
	return "<" + letter.ID + "@" + domain + ">"
}
