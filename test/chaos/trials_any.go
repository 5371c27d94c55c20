//go:build linux

package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// one starts the only process and the callers.
func (l *lab) one() (*proc, error) {
	p, err := l.serve(l.url)
	if err != nil {
		return nil, err
	}
	return p, l.begin()
}

// removeFolder counts what is acknowledged after the files have gone: nothing
// can bring it back. It measures the time until the last of it, and until
// /readyz is red.
func removeFolder(l *lab) error {
	p, err := l.one()
	if err != nil {
		return err
	}
	if err := l.recover(recoverTimeout); err != nil {
		return err
	}
	l.gone = true
	l.hurt()
	if err := os.RemoveAll(l.data); err != nil {
		return err
	}
	red := time.Duration(-1)
	for time.Since(l.hurtAt) < 10*time.Second && red < 0 {
		if pause(l.ctx, 100*time.Millisecond); !p.ready() {
			red = time.Since(l.hurtAt)
		}
	}
	pause(l.ctx, 2*time.Second)
	l.load.end()
	last := l.hurtAt
	for _, w := range l.load.snapshot() {
		if w.acked.After(l.hurtAt) {
			l.lost++
			last = w.acked
		}
	}
	l.value = max(last.Sub(l.hurtAt), red)
	l.measured = fmt.Sprintf("/readyz red after %s, last write acknowledged after %s", seconds(red), seconds(last.Sub(l.hurtAt)))
	if red < 0 {
		l.measured, l.value = "/readyz never red", time.Hour
	}
	return nil
}

// smallDisk puts the data folder on a disk of its own.
func smallDisk(l *lab) error {
	if err := os.MkdirAll(l.data, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", l.data, "tmpfs", 0, "size=24m,mode=0700"); err != nil {
		return skip("a small disk needs the right to mount one")
	}
	l.later(func() { _ = syscall.Unmount(l.data, syscall.MNT_DETACH) })
	return nil
}

func fullDisk(l *lab) error {
	p, err := l.one()
	if err != nil {
		return err
	}
	l.hurt()
	filler := filepath.Join(l.data, "filler")
	if err := fill(filler); err != nil {
		return err
	}
	red := time.Duration(-1)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); pause(l.ctx, 50*time.Millisecond) {
		if red < 0 && !p.ready() {
			red = time.Since(l.hurtAt)
		}
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	l.measured = "/readyz red after " + seconds(red)
	if red < 0 {
		l.measured = "/readyz stayed green"
	}
	return l.goOn()
}

// fill writes until there is no room.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for chunk := make([]byte, 64<<10); len(chunk) > 0; {
		if _, err := f.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
	return nil
}

// importing loads a file while callers write, and measures how long these
// waited for their answers.
func importing(l *lab) error {
	rows := 100_000
	if l.house.short {
		rows = 5_000
	}
	if _, err := l.one(); err != nil {
		return err
	}
	var sheet strings.Builder
	sheet.WriteString("name,usuario,data_de_vencimento\n")
	for i := range rows {
		fmt.Fprintf(&sheet, "Cliente %d,importado%d,2031-01-15\n", i, i)
	}
	file := filepath.Join(l.dir, "clientes.csv")
	if err := os.WriteFile(file, []byte(sheet.String()), 0o600); err != nil {
		return err
	}
	l.hurt()
	if _, err := l.command("import", "customers", file, "--company", l.company); err != nil {
		return err
	}
	took := time.Since(l.hurtAt)
	var waits []time.Duration
	for _, w := range l.load.snapshot() {
		if w.sent.After(l.hurtAt) && !w.acked.IsZero() {
			waits = append(waits, w.acked.Sub(w.sent))
		}
	}
	if len(waits) == 0 {
		waits = []time.Duration{took}
	}
	l.value = quantile(waits, 0.99)
	l.measured = fmt.Sprintf("p99 of %d writes %d ms, import %s", len(waits), l.value.Milliseconds(), seconds(took))
	return l.goOn()
}

func quantile(list []time.Duration, q float64) time.Duration {
	slices.Sort(list)
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

// kill is one kill of the only process, and the return of the next.
type kill struct{ at, back time.Time }

// killRepeatedly kills the process in the middle of requests, and measures how
// long after its return those are answered that were under way.
func killRepeatedly(l *lab) error {
	l.eager = true
	p, err := l.one()
	if err != nil {
		return err
	}
	l.hurt()
	var kills []kill
	for range 5 {
		at := time.Now()
		p.kill()
		next, err := l.serve(l.url)
		if err != nil {
			return err
		}
		l.replace(p, next)
		kills, p = append(kills, kill{at, next.readyAt}), next
		pause(l.ctx, 2*time.Second)
	}
	err = l.goOn()
	l.value = slowestRepeat(l.load.snapshot(), kills)
	l.measured = "repeats answered within " + seconds(l.value) + " of the return"
	return err
}

// slowestRepeat is the longest wait, after the last return, for the answer to a
// request that was under way at a kill.
func slowestRepeat(writes []write, kills []kill) (longest time.Duration) {
	for _, w := range writes {
		for _, k := range kills {
			underWay := w.sent.Before(k.at) && w.acked.After(k.at)
			if underWay {
				longest = max(longest, w.acked.Sub(k.back))
			}
		}
	}
	return longest
}

// hostile has receivers that hang, drip, send without end, reset, cannot be
// trusted or send elsewhere, and measures how late a healthy one hears.
func hostile(l *lab) error {
	if _, err := l.serve(l.url); err != nil {
		return err
	}
	bad := hostileReceiver()
	l.later(bad.Close)
	babble, err := babbling()
	if err != nil {
		return err
	}
	l.later(func() { _ = babble.Close() })
	for i := range 48 {
		kind := []string{"hang", "drip", "huge", "reset", "redirect", "tls"}[i%6]
		address := fmt.Sprintf("%s/%s/%d", bad.URL, kind, i)
		if kind == "tls" {
			address = fmt.Sprintf("https://%s/%d", babble.Addr(), i)
		}
		if err := l.webhook(address); err != nil {
			return err
		}
	}
	l.hurtAt = time.Now()
	if err := l.begin(); err != nil {
		return err
	}
	pause(l.ctx, 20*time.Second)
	l.load.end()
	var late []time.Duration
	arrived := l.receiver.arrivals()
	for _, w := range l.load.snapshot() {
		at, came := arrived.last(w.name)
		if !came {
			at = time.Now()
		}
		if !w.acked.IsZero() {
			late = append(late, at.Sub(w.acked))
		}
	}
	l.value = quantile(late, 0.99)
	l.measured = fmt.Sprintf("p99 of %d deliveries %d ms", len(late), l.value.Milliseconds())
	return l.finish()
}

// hostileReceiver has the certificate that all test servers have, so that the
// program trusts it as it trusts the healthy one.
func hostileReceiver() *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		switch strings.Split(q.URL.Path, "/")[1] {
		case "hang":
			<-q.Context().Done()
		case "drip":
			drip(w, q, []byte("."), 200*time.Millisecond)
		case "huge":
			drip(w, q, make([]byte, 1<<20), 0)
		case "reset":
			if c, ok := w.(http.Hijacker); ok {
				reset(c)
			}
		case "redirect":
			http.Redirect(w, q, "https://127.0.0.1:1/", http.StatusFound)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	return s
}

// babbling answers what is no TLS.
func babbling() (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "220 mail.example.com\r\n")
			_ = conn.Close()
		}
	}()
	return listener, nil
}

func drip(w http.ResponseWriter, q *http.Request, drop []byte, every time.Duration) {
	for range 600 {
		if _, err := w.Write(drop); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		pause(q.Context(), every)
	}
}

func reset(c http.Hijacker) {
	conn, _, err := c.Hijack()
	if err != nil {
		return
	}
	if under, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = under.NetConn()
	}
	if plain, ok := conn.(*net.TCPConn); ok {
		_ = plain.SetLinger(0)
	}
	_ = conn.Close()
}

// signIns has a process with little memory check many passwords at once, while
// callers write.
func signIns(l *lab) error {
	group, err := newCgroup(96 << 20)
	if err != nil {
		return err
	}
	l.later(group.remove)
	p, err := l.serveWith(group.wrap(l.house.binary, "serve"), l.url)
	if err != nil {
		return err
	}
	if err := l.begin(); err != nil {
		return err
	}
	l.hurt()
	var mu sync.Mutex
	var all sync.WaitGroup
	answers := map[int]int{}
	for i := range 30 {
		all.Go(func() {
			status := signIn(p.addr, fmt.Sprintf("person%d@example.com", i))
			mu.Lock()
			defer mu.Unlock()
			answers[status]++
		})
	}
	all.Wait()
	l.value = time.Since(l.hurtAt)
	l.measured = fmt.Sprintf("answered %v in %s, at most %d MB used", answers, seconds(l.value), group.peak()>>20)
	return l.goOn()
}

func signIn(addr, person string) (status int) {
	client := &http.Client{Timeout: time.Minute}
	a, err := client.PostForm("http://"+addr+"/login", url.Values{"email": {person}, "password": {"a wrong one"}})
	if err != nil {
		return 0
	}
	_ = a.Body.Close()
	return a.StatusCode
}
