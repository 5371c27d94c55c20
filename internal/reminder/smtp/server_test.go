package smtp

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"carteira/test/kit/channeltest"
)

// mailServer is a mail server of the test, which takes mails and gives the
// configured answers.
type mailServer struct {
	t        *testing.T
	listener net.Listener
	implicit bool
	noTLS    bool   // it offers no STARTTLS
	auth     string // the ways to sign in that it offers

	mu    sync.Mutex
	on    map[string]string // what it answers to a command, in the place of the usual
	mails []taken
}

// taken is a mail that the server took, with who signed in.
type taken struct {
	from, to, user, password string
	secure                   bool
	text                     string
}

func newMailServer(t *testing.T, change ...func(*mailServer)) *mailServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &mailServer{t: t, listener: listener, auth: "PLAIN LOGIN", on: map[string]string{}}
	for _, f := range change {
		f(server)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go server.serve()
	return server
}

func (s *mailServer) port() string { return strconv.Itoa(s.listener.Addr().(*net.TCPAddr).Port) }

func (s *mailServer) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		go s.talk(conn)
	}
}

func (s *mailServer) answer(command, usual string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.on[command]; ok {
		return a
	}
	return usual
}

func (s *mailServer) set(command, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on[command] = answer
}

func (s *mailServer) received() []taken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]taken(nil), s.mails...)
}

var tlsConfig = &tls.Config{Certificates: []tls.Certificate{channeltest.Certificate()}, MinVersion: tls.VersionTLS12}

// talk speaks with one client until it goes away.
func (s *mailServer) talk(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var m taken
	if s.implicit {
		conn, m.secure = tls.Server(conn, tlsConfig), true
	}
	in := bufio.NewReader(conn)
	say := func(line string) { fmt.Fprintf(conn, "%s\r\n", line) }
	read := func() string {
		line, _ := in.ReadString('\n')
		return strings.TrimRight(line, "\r\n")
	}
	if s.answer("CONNECT", "220 mx.example.com") == "hang up" {
		return
	}
	say(s.answer("CONNECT", "220 mx.example.com ESMTP"))
	for {
		line := read()
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			lines := []string{"mx.example.com", "8BITMIME"}
			if !m.secure && !s.noTLS {
				lines = append(lines, "STARTTLS")
			}
			if s.auth != "" {
				lines = append(lines, "AUTH "+s.auth)
			}
			for i, l := range lines {
				say("250" + map[bool]string{true: " ", false: "-"}[i == len(lines)-1] + l)
			}
		case "STARTTLS":
			say("220 go ahead")
			secured := tls.Server(conn, tlsConfig)
			conn, in, m.secure = secured, bufio.NewReader(secured), true
		case "AUTH":
			m.user, m.password = s.signIn(rest, say, read)
			say(s.answer("AUTH", "235 welcome"))
		case "MAIL":
			m.from = rest
			say(s.answer("MAIL", "250 ok"))
		case "RCPT":
			m.to = strings.TrimSuffix(strings.TrimPrefix(rest, "TO:<"), ">")
			say(s.answer("RCPT", "250 ok"))
		case "DATA":
			say(s.answer("DATA", "354 go on"))
			if !s.body(&m, in, say) {
				return
			}
		case "QUIT":
			say("221 bye")
			return
		default:
			return
		}
	}
}

func (s *mailServer) signIn(rest string, say func(string), read func() string) (user, password string) {
	decode := func(text string) string {
		plain, _ := base64.StdEncoding.DecodeString(text)
		return string(plain)
	}
	if plain, ok := strings.CutPrefix(rest, "PLAIN "); ok {
		parts := strings.Split(decode(plain), "\x00")
		return parts[1], parts[2]
	}
	say("334 " + base64.StdEncoding.EncodeToString([]byte("Username:")))
	user = decode(read())
	say("334 " + base64.StdEncoding.EncodeToString([]byte("Password:")))
	return user, decode(read())
}

// body takes a mail to its end; false when the server then hangs up.
func (s *mailServer) body(taken *taken, in *bufio.Reader, say func(string)) bool {
	var text strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		text.WriteString(strings.TrimPrefix(line, "."))
	}
	taken.text = text.String()
	answer := s.answer("END", "250 queued")
	if answer == "250 queued" || answer == "hang up" || !strings.ContainsAny(answer[:1], "45") {
		s.mu.Lock()
		s.mails = append(s.mails, *taken)
		s.mu.Unlock()
	}
	if answer == "hang up" {
		return false
	}
	say(answer)
	return true
}
