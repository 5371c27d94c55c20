// Package smtp is the channel to any mail server. It makes the mail, as text and
// as a page with the company's face, and hands it over with TLS. Mail servers know no repeated message,
// so nothing is sent twice by itself; the Message-ID is the same at every
// attempt all the same. What becomes of a mail that a server has taken is not
// its business.
package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"net/textproto"
	"strconv"
	"strings"

	gosmtp "github.com/wneessen/go-mail/smtp"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/outbound"
	"carteira/internal/reminder"
)

// How TLS comes about.
const (
	startTLS = "starttls"
	implicit = "tls"
	none     = "none" // for a relay in a network that the operator allows
)

// Kind is how companies choose it.
var Kind = reminder.Kind{
	Name:      "smtp",
	Title:     "E-mail (SMTP)",
	Reach:     reminder.ByEmail,
	PerMinute: 60,
	About: "Any mail server: your provider's, or that of a mailing service. It needs the server's name, mostly a user with a " +
		"password, and an address that mails may come from.",
	Options: []reminder.Option{
		{Name: "host", Title: "Server", Help: "The name of the mail server, such as smtp.example.com", Required: true},
		{Name: "port", Title: "Port", Help: "Usually 587 with starttls, 465 with tls.", Default: "587"},
		{
			Name:    "security",
			Title:   "Security",
			Default: startTLS,
			Choices: []string{startTLS, implicit, none},
			Help:    "How the connection is encrypted; none is for a relay in the operator's own network.",
		},
		{Name: "username", Title: "User name", Help: "For signing in at the server. Left empty: without."},
		{Name: "password", Title: "Password", Help: "Of that user.", Secret: true},
		{Name: "from", Title: "Sender's address", Help: "The address that mails come from.", Required: true},
		{Name: "from_name", Title: "Sender's name", Help: "What stands beside the address. Left empty: the company's name."},
		{Name: "reply_to", Title: "Reply to", Help: "The address that answers go to. Left empty: the sender's."},
	},
	Presets: presets(),
	Open:    open,
	Check:   check,
}

type sender struct {
	options  map[string]string
	port     int
	from     mail.Address
	replyTo  mail.Address
	env      reminder.Env
	security string
}

func open(options map[string]string, env reminder.Env) (reminder.Sender, error) {
	var wrong fault.Fields
	s := sender{options: options, env: env, security: options["security"]}
	var err error
	if s.port, err = strconv.Atoi(options["port"]); err != nil || s.port < 1 || s.port > 65535 {
		wrong.Add("port", "must be a port such as 587")
	}
	if s.from.Address = options["from"]; !isAddress(s.from.Address) {
		wrong.Add("from", "must be a valid e-mail address")
	}
	s.replyTo.Address = options["reply_to"]
	if s.replyTo.Address != "" && !isAddress(s.replyTo.Address) {
		wrong.Add("reply_to", "must be a valid e-mail address")
	}
	if options["username"] != "" && options["password"] == "" {
		wrong.Add("password", "is required with a user")
	}
	if s.security == none && options["username"] != "" {
		wrong.Add("security", "none would show the password to everybody on the way")
	}
	s.from.Name = options["from_name"]
	return s, wrong.Err()
}

func isAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && !strings.ContainsAny(s, "\r\n<> ")
}

func check(ctx context.Context, options map[string]string, env reminder.Env) error {
	if err := env.Gate.CheckHost(ctx, options["host"]); err != nil {
		return fault.Field("host", outbound.Public(err))
	}
	return nil
}

// Send implements reminder.Sender.
func (s sender) Send(ctx context.Context, letter reminder.Letter) (string, error) {
	if !isAddress(letter.To) {
		return "", &reminder.Refusal{Reason: "the e-mail address is not a valid one"}
	}
	message, err := s.compose(letter)
	if err != nil {
		return "", err
	}
	client, err := s.connect(ctx)
	if err != nil {
		return "", s.unsent(ctx, err)
	}
	defer client.Close() //nolint:errcheck // the mail was taken or not
	writer, err := s.envelope(client, letter.To)
	if err != nil {
		return "", s.unsent(ctx, err)
	}
	if _, err := message.WriteTo(writer); err != nil {
		return "", s.unsent(ctx, err) // without its end no server delivers a mail
	}
	if err := writer.Close(); err != nil {
		return "", s.afterEnd(ctx, err)
	}
	_ = client.Quit() // taken: what comes after changes nothing
	return "<" + messageID(letter, s.from.Address) + ">", nil
}

var (
	errNoTLS    = errors.New("the server offers no STARTTLS")
	errExposed  = errors.New("a connection without TLS may only go to a network that the operator allows")
	errNoSignIn = errors.New("the server offers no way to sign in that is known here")
)

// connect opens a connection, secures it and signs in.
func (s sender) connect(ctx context.Context) (*gosmtp.Client, error) {
	opened, err := s.env.Gate.Connect(ctx, s.options["host"], s.port)
	if err != nil {
		return nil, err
	}
	if s.security == none && !opened.Inside {
		return nil, errors.Join(errExposed, opened.Close())
	}
	client, err := s.greet(ctx, opened)
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return client, nil
}

func (s sender) greet(ctx context.Context, opened *outbound.Connection) (*gosmtp.Client, error) {
	config := &tls.Config{ServerName: opened.Name, RootCAs: s.env.RootCAs, MinVersion: tls.VersionTLS12}
	var conn net.Conn = &bounded{Conn: opened, left: maxRead}
	if s.security == implicit {
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, &tlsError{err}
		}
		conn = secured
	}
	client, err := gosmtp.NewClient(conn, opened.Name)
	if err != nil {
		return nil, err
	}
	if err := client.Hello(helloName(s.from.Address)); err != nil {
		return nil, err
	}
	if s.security == startTLS {
		if ok, _ := client.Extension("STARTTLS"); !ok {
			return nil, errNoTLS
		}
		if err := client.StartTLS(config); err != nil {
			return nil, &tlsError{err}
		}
	}
	return client, s.signIn(client, opened.Name)
}

// helloName is the name in our greeting: the sender's domain, since the name
// of this machine should not leave it.
func helloName(from string) string {
	_, domain, _ := strings.Cut(from, "@")
	return domain
}

func (s sender) signIn(client *gosmtp.Client, host string) error {
	user, password := s.options["username"], s.options["password"]
	if user == "" {
		return nil
	}
	_, methods := client.Extension("AUTH")
	for method := range strings.FieldsSeq(strings.ToUpper(methods)) {
		switch method {
		case "PLAIN":
			return client.Auth(gosmtp.PlainAuth("", user, password, host, false))
		case "LOGIN":
			return client.Auth(gosmtp.LoginAuth(user, password, host, false))
		}
	}
	return errNoSignIn
}

func (s sender) envelope(client *gosmtp.Client, to string) (io.WriteCloser, error) {
	if err := client.Mail("<" + s.from.Address + ">"); err != nil {
		return nil, err
	}
	if err := client.Rcpt("<" + to + ">"); err != nil {
		return nil, err
	}
	return client.Data()
}

// tlsError says that TLS did not come about.
type tlsError struct{ cause error }

func (e *tlsError) Error() string { return "TLS: " + e.cause.Error() }
func (e *tlsError) Unwrap() error { return e.cause }

// unsent returns what a failure means before the end of the mail was written.
func (s sender) unsent(ctx context.Context, err error) error {
	answer, answered := errors.AsType[*textproto.Error](err)
	_, noTLS := errors.AsType[*tlsError](err)
	switch {
	case answered && answer.Code >= 500:
		return &reminder.Refusal{Reason: said(answer)}
	case answered:
		return &reminder.Passing{Reason: said(answer)}
	case errors.Is(err, errNoTLS), errors.Is(err, errExposed), errors.Is(err, errNoSignIn):
		return &reminder.Refusal{Reason: firstLine(err.Error())}
	case errors.Is(err, outbound.ErrRefused):
		return &reminder.Refusal{Reason: "the server " + outbound.Public(err)}
	case noTLS:
		return &reminder.Passing{Reason: "TLS: the server's certificate or handshake was not accepted"}
	}
	return &reminder.Passing{Reason: outbound.Public(outbound.Explain(ctx, err))}
}

// afterEnd returns what a failure means once the whole mail was on its way: a
// server that said no has not taken it, one that said nothing may have.
func (s sender) afterEnd(ctx context.Context, err error) error {
	if _, answered := errors.AsType[*textproto.Error](err); answered {
		return s.unsent(ctx, err)
	}
	return &reminder.Doubt{Reason: "the server took the mail and did not confirm it: " + outbound.Public(outbound.Explain(ctx, err))}
}

func said(e *textproto.Error) string {
	return fmt.Sprintf("%s (%d)", strings.Join(strings.Fields(e.Msg), " "), e.Code)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// maxRead bounds what a server may say in one connection, TLS included.
const maxRead = 256 << 10

var errTalkative = errors.New("the server says too much")

// bounded reads no more than left bytes.
type bounded struct {
	net.Conn
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTalkative
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
