package smtp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/reminder"
	"carteira/test/kit/channeltest"
)

func (s *mailServer) options(pairs ...string) map[string]string {
	o := map[string]string{
		"host": "127.0.0.1", "port": s.port(), "security": startTLS, "username": "clara", "password": "hunter2-hunter2", "from": "cobranca@clara.example",
	}
	if s.implicit {
		o["security"] = implicit
	}
	for i := 0; i < len(pairs); i += 2 {
		o[pairs[i]] = pairs[i+1]
	}
	return o
}

// answers are what the server says for each of the suite's.
func (s *mailServer) answers(answer channeltest.Answer) {
	switch answer {
	case channeltest.Refuse:
		s.set("RCPT", "550 5.1.1 no such user")
	case channeltest.Busy:
		s.set("RCPT", "451 4.7.1 greylisted, come back later")
	case channeltest.Silence:
		s.set("END", "hang up")
	case channeltest.Garbage:
		s.set("END", "what was that?")
	case channeltest.Accept:
	}
}

func bodyOf(t *testing.T, text string) (mail.Header, string) {
	t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(message.Body))
	if err != nil {
		t.Fatal(err)
	}
	return message.Header, strings.TrimSuffix(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n")
}

func TestChannel(t *testing.T) {
	for _, security := range []string{startTLS, implicit} {
		t.Run(security, func(t *testing.T) {
			channeltest.Run(t, func(t *testing.T) *channeltest.Rig {
				t.Helper()
				server := newMailServer(t, func(server *mailServer) { server.implicit = security == implicit })
				return &channeltest.Rig{
					Kind: Kind, Options: server.options(), Address: "host", Texts: true, Answer: server.answers, Close: func() { _ = server.listener.Close() },
					Received: func() (list []channeltest.Received) {
						for _, taken := range server.received() {
							_, text := bodyOf(t, taken.text)
							list = append(list, channeltest.Received{To: taken.to, Text: text})
						}
						return list
					},
				}
			})
		})
	}
}

func send(t *testing.T, options map[string]string, change ...func(*reminder.Letter)) error {
	t.Helper()
	sender, err := open(options, channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	letter := channeltest.Letter()
	letter.To = letter.Email
	for _, f := range change {
		f(&letter)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = sender.Send(ctx, letter)
	return err
}

func TestMailIsWellFormed(t *testing.T) {
	server := newMailServer(t)
	if err := send(t, server.options("from_name", "Cobrança", "reply_to", "ajuda@clara.example")); err != nil {
		t.Fatal(err)
	}
	taken := server.received()[0]
	if !taken.secure || taken.user != "clara" || taken.password != "hunter2-hunter2" || !strings.HasPrefix(taken.from, "FROM:<cobranca@clara.example>") {
		t.Errorf("envelope %+v", taken)
	}
	header, text := bodyOf(t, taken.text)
	subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
	if err != nil || subject != "Vence amanhã" {
		t.Errorf("subject %q, %v", subject, err)
	}
	for name, want := range map[string]string{
		"Date": "Tue, 20 Jan 2026 09:00:00 -0300", "Message-Id": "<msg_0123456789abcdef01234567@clara.example>", "Mime-Version": "1.0",
		"Content-Type": "text/plain; charset=utf-8", "To": `"Ana Souza" <ana@example.com>`, "Reply-To": "<ajuda@clara.example>", "Auto-Submitted": "auto-generated",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	from, err := mail.ParseAddress(header.Get("From"))
	if err != nil || from.Name != "Cobrança" || from.Address != "cobranca@clara.example" {
		t.Errorf("from %v, %v", from, err)
	}
	if text != channeltest.Letter().Text {
		t.Errorf("text %q", text)
	}
	for line := range strings.Lines(taken.text) {
		if len(line) > 998 || !strings.HasSuffix(line, "\r\n") {
			t.Errorf("a line that no server must take: %q", line)
		}
	}
}

// No value can add a header or a recipient.
func TestNothingCanBeInjected(t *testing.T) {
	server := newMailServer(t)
	evil := "x\r\nBcc: all@example.com\r\n\r\nHi"
	err := send(t, server.options("from_name", "C\r\nX-From: 1"), func(letter *reminder.Letter) {
		letter.Name, letter.Subject, letter.Company = evil, strings.Repeat("não ", 90)+evil, evil
		letter.Text = "a\r\n.\r\nQUIT\r\nb\n.\nc"
	})
	if err != nil {
		t.Fatal(err)
	}
	mails := server.received()
	if len(mails) != 1 {
		t.Fatalf("%d mails", len(mails))
	}
	header, _ := bodyOf(t, mails[0].text)
	for _, name := range []string{"Bcc", "X-From"} {
		if header.Get(name) != "" {
			t.Errorf("%s: %s", name, header.Get(name))
		}
	}
	for _, to := range []string{"ana@example.com>\r\nRCPT TO:<x@example.com", "a b@example.com", "Ana <ana@example.com>", "nobody", ""} {
		err := send(t, server.options(), func(letter *reminder.Letter) { letter.To = to })
		if _, ok := errors.AsType[*reminder.Refusal](err); !ok {
			t.Errorf("%q: %v", to, err)
		}
	}
	if len(server.received()) != 1 {
		t.Error("something was sent")
	}
}

func TestServersAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		on      [2]string
		change  func(*mailServer)
		options []string
		want    error
	}{
		"greeting put off":         {on: [2]string{"CONNECT", "421 too many connections"}, want: &reminder.Passing{Reason: "too many connections (421)"}},
		"greeting refused":         {on: [2]string{"CONNECT", "554 go away"}, want: &reminder.Refusal{Reason: "go away (554)"}},
		"hangs up at once":         {on: [2]string{"CONNECT", "hang up"}, want: &reminder.Passing{Reason: "connection closed without an answer"}},
		"wrong password":           {on: [2]string{"AUTH", "535 5.7.8 bad credentials"}, want: &reminder.Refusal{Reason: "5.7.8 bad credentials (535)"}},
		"sender refused":           {on: [2]string{"MAIL", "553 not your address"}, want: &reminder.Refusal{Reason: "not your address (553)"}},
		"no such mailbox":          {on: [2]string{"RCPT", "550 no such user"}, want: &reminder.Refusal{Reason: "no such user (550)"}},
		"data put off":             {on: [2]string{"DATA", "452 disk full"}, want: &reminder.Passing{Reason: "disk full (452)"}},
		"spam, at the end":         {on: [2]string{"END", "554 looks like spam"}, want: &reminder.Refusal{Reason: "looks like spam (554)"}},
		"put off, at the end":      {on: [2]string{"END", "451 try later"}, want: &reminder.Passing{Reason: "try later (451)"}},
		"no STARTTLS":              {change: func(server *mailServer) { server.noTLS = true }, want: &reminder.Refusal{Reason: "the server offers no STARTTLS"}},
		"no way to sign in":        {change: func(server *mailServer) { server.auth = "GSSAPI" }, want: &reminder.Refusal{Reason: "the server offers no way to sign in that is known here"}},
		"LOGIN":                    {change: func(server *mailServer) { server.auth = "LOGIN" }},
		"no sign-in":               {change: func(server *mailServer) { server.auth = "" }, options: []string{"username", "", "password", ""}},
		"a relay next door":        {change: func(server *mailServer) { server.noTLS = true }, options: []string{"security", none, "username", "", "password", ""}},
		"TLS where none is spoken": {options: []string{"security", implicit}, want: &reminder.Passing{Reason: "TLS: the server's certificate or handshake was not accepted"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := newMailServer(t, func(server *mailServer) {
				if tt.change != nil {
					tt.change(server)
				}
			})
			if tt.on[0] != "" {
				server.set(tt.on[0], tt.on[1])
			}
			err := send(t, server.options(tt.options...))
			if fmt.Sprint(err) != fmt.Sprint(tt.want) || fmt.Sprintf("%T", err) != fmt.Sprintf("%T", tt.want) {
				t.Errorf("%T %v, want %T %v", err, err, tt.want, tt.want)
			}
			if got, want := len(server.received()), map[bool]int{true: 1, false: 0}[tt.want == nil]; got != want {
				t.Errorf("%d mails, want %d", got, want)
			}
		})
	}
}

// A certificate for another name, or from an unknown authority, is not
// accepted.
func TestForgedServerIsNotSpokenTo(t *testing.T) {
	server := newMailServer(t)
	made, err := open(server.options(), channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	forged := made.(sender)
	forged.env.RootCAs = nil
	letter := channeltest.Letter()
	letter.To = letter.Email
	_, err = forged.Send(t.Context(), letter)
	if _, ok := errors.AsType[*reminder.Passing](err); !ok || !strings.Contains(err.Error(), "TLS") || len(server.received()) != 0 {
		t.Errorf("%v, %d mails", err, len(server.received()))
	}
}

// A server that says nothing, or too much, costs the time of one attempt.
func TestHostileServers(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"says nothing": func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) },
		"never stops": func(conn net.Conn) {
			for line := []byte("220-" + strings.Repeat("x", 1000) + "\r\n"); ; {
				if _, err := conn.Write(line); err != nil {
					return
				}
			}
		},
		"one endless line": func(conn net.Conn) {
			for {
				if _, err := conn.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go func() {
						defer func() { _ = conn.Close() }()
						serve(conn)
					}()
				}
			}()
			server := &mailServer{listener: listener}
			sender, err := open(server.options(), channeltest.Env())
			if err != nil {
				t.Fatal(err)
			}
			letter := channeltest.Letter()
			letter.To = letter.Email
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err = sender.Send(ctx, letter)
			if _, ok := errors.AsType[*reminder.Passing](err); !ok {
				t.Errorf("%T %v, want a Passing", err, err)
			}
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for field, options := range map[string]map[string]string{
		"port":     {"port": "99999"},
		"from":     {"from": "Ana <ana@example.com>"},
		"reply_to": {"reply_to": "x\r\n@y"},
		"password": {"password": ""},
		"security": {"security": none},
	} {
		all := (&mailServer{listener: fakeListener{}}).options()
		maps.Copy(all, options)
		if _, err := open(all, channeltest.Env()); len(fault.FieldsOf(err).Get(field)) == 0 {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// fakeListener has an address and no listener behind it.
type fakeListener struct{ net.Listener }

func (fakeListener) Addr() net.Addr { return &net.TCPAddr{Port: 587} }
