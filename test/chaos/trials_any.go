//go:build linux

package main

import (
	"errors"
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

	"carteira/test/kit/tlstest"
)

// one starts the only process and the callers.
func (l *lab) one() (*proc, error) {
	proc, err := l.serve(l.url)
	if err != nil {
		return nil, err
	}
	return proc, l.begin()
}

// removeFolder counts what is acknowledged after the files have gone: nothing
// can bring it back. It measures the time until the last of it, and until
// /readyz is red.
func removeFolder(lab *lab) error {
	proc, err := lab.one()
	if err != nil {
		return err
	}
	if err := lab.recover(); err != nil {
		return err
	}
	lab.gone = true
	lab.hurt()
	if err := os.RemoveAll(lab.data); err != nil {
		return err
	}
	red := time.Duration(-1)
	for time.Since(lab.hurtAt) < lab.span(10*time.Second) && red < 0 {
		if pause(lab.ctx, 100*time.Millisecond); !proc.ready() {
			red = time.Since(lab.hurtAt)
		}
	}
	pause(lab.ctx, lab.span(2*time.Second))
	lab.load.end()
	last := lab.hurtAt
	lab.lost = lab.ackedSince(lab.hurtAt)
	writes, _ := lab.load.snapshot()
	for _, write := range writes {
		if write.acked.After(last) {
			last = write.acked
		}
	}
	lab.value = max(last.Sub(lab.hurtAt), red)
	lab.measured = fmt.Sprintf("/readyz red after %s, last write acknowledged after %s", seconds(red), seconds(last.Sub(lab.hurtAt)))
	if red < 0 {
		lab.measured, lab.value = "/readyz never red", time.Hour
	}
	return nil
}

// smallDisk puts the data folder on a disk of its own.
func smallDisk(lab *lab) error {
	if err := os.MkdirAll(lab.data, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", lab.data, "tmpfs", 0, "size=24m,mode=0700"); err != nil {
		return skip("a small disk needs the right to mount one")
	}
	lab.later(func() { _ = syscall.Unmount(lab.data, syscall.MNT_DETACH) })
	return nil
}

// fullDisk wants /readyz to be red while the disk is full, and green again later.
func fullDisk(lab *lab) error {
	proc, err := lab.one()
	if err != nil {
		return err
	}
	lab.hurt()
	filler := filepath.Join(lab.data, "filler")
	if err := fill(filler); err != nil {
		return err
	}
	red := time.Duration(-1)
	for end := time.Now().Add(lab.span(5 * time.Second)); time.Now().Before(end); pause(lab.ctx, 50*time.Millisecond) {
		if red < 0 && !proc.ready() {
			red = time.Since(lab.hurtAt)
		}
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	lab.measured = "/readyz red after " + seconds(red)
	if red < 0 {
		return errors.New("/readyz stayed green while the disk was full")
	}
	if err := lab.goOn(); err != nil {
		return err
	}
	if !proc.ready() {
		return errors.New("/readyz is red although the disk has room")
	}
	// What was acknowledged must be on the disk, not in the memory of a process.
	proc.kill()
	next, err := lab.serve(lab.url)
	lab.replace(proc, next)
	return err
}

// ackedSince counts the writes that were acknowledged after a moment.
func (l *lab) ackedSince(moment time.Time) (n int) {
	writes, _ := l.load.snapshot()
	for _, write := range writes {
		if write.acked.After(moment) {
			n++
		}
	}
	return n
}

// fill writes until there is no room.
func fill(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for chunk := make([]byte, 64<<10); len(chunk) > 0; {
		if _, err := file.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
	return nil
}

// importing loads a file while callers write, and measures how long these
// waited for their answers.
func importing(lab *lab) error {
	rows := 100_000
	if lab.house.short {
		rows = 5_000
	}
	if _, err := lab.one(); err != nil {
		return err
	}
	var sheet strings.Builder
	sheet.WriteString("name,usuario,data_de_vencimento\n")
	for i := range rows {
		fmt.Fprintf(&sheet, "%s%d,importado%d,2031-01-15\n", importedName, i, i)
	}
	file := filepath.Join(lab.dir, "clientes.csv")
	if err := os.WriteFile(file, []byte(sheet.String()), 0o600); err != nil {
		return err
	}
	lab.imported = rows
	lab.hurt()
	if _, err := lab.command("import", "customers", file, "--company", lab.company); err != nil {
		return err
	}
	took := time.Since(lab.hurtAt)
	var waits []time.Duration
	writes, _ := lab.load.snapshot()
	for _, write := range writes {
		switch {
		case write.acked.IsZero(): // it waits still
			waits = append(waits, time.Since(write.sent))
		case write.acked.After(lab.hurtAt):
			waits = append(waits, write.acked.Sub(write.sent))
		}
	}
	lab.value = quantile(waits, 0.99)
	lab.measured = fmt.Sprintf("p99 of %d writes %d ms, import %s", len(waits), lab.value.Milliseconds(), seconds(took))
	return lab.goOn()
}

func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

// kill is one kill of the only process, and the return of the next.
type kill struct{ at, back time.Time }

// killRepeatedly kills the process in the middle of requests, and measures how
// long after its return those are answered that were under way.
func killRepeatedly(lab *lab) error {
	lab.eager = true
	proc, err := lab.one()
	if err != nil {
		return err
	}
	lab.hurt()
	var kills []kill
	for range 5 {
		at := time.Now()
		proc.kill()
		next, err := lab.serve(lab.url)
		if err != nil {
			return err
		}
		lab.replace(proc, next)
		kills, proc = append(kills, kill{at, next.readyAt}), next
		pause(lab.ctx, lab.span(2*time.Second))
	}
	err = lab.goOn()
	writes, _ := lab.load.snapshot()
	lab.value = slowestRepeat(writes, kills)
	lab.measured = "repeats answered within " + seconds(lab.value) + " of the return"
	return err
}

// slowestRepeat is the longest wait, after the last return, for the answer to a
// request that was under way at a kill.
func slowestRepeat(writes []write, kills []kill) (longest time.Duration) {
	for _, write := range writes {
		for _, kill := range kills {
			underWay := write.sent.Before(kill.at) && write.acked.After(kill.at)
			if underWay {
				longest = max(longest, write.acked.Sub(kill.back))
			}
		}
	}
	return longest
}

// hostile has receivers that hang, drip, send without end, reset, cannot be
// trusted or send elsewhere, and measures how late a healthy one hears.
func hostile(lab *lab) error {
	if _, err := lab.serve(lab.url); err != nil {
		return err
	}
	bad := hostileReceiver()
	lab.later(bad.Close)
	babble, err := babbling()
	if err != nil {
		return err
	}
	lab.later(func() { _ = babble.Close() })
	for i := range 48 {
		kind := []string{"hang", "drip", "huge", "reset", "redirect", "tls"}[i%6]
		address := fmt.Sprintf("%s/%s/%d", bad.URL, kind, i)
		if kind == "tls" {
			address = fmt.Sprintf("https://%s/%d", babble.Addr(), i)
		}
		if err := lab.webhook(address, created); err != nil {
			return err
		}
	}
	lab.hurtAt = time.Now()
	if err := lab.begin(); err != nil {
		return err
	}
	pause(lab.ctx, lab.span(20*time.Second))
	lab.load.end()
	var late []time.Duration
	arrived := lab.receiver.arrivals()
	writes, _ := lab.load.snapshot()
	for _, write := range writes {
		at, came := arrived.last(created, write.name)
		if !came {
			at = time.Now()
		}
		if !write.acked.IsZero() {
			late = append(late, at.Sub(write.acked))
		}
	}
	lab.value = quantile(late, 0.99)
	lab.measured = fmt.Sprintf("p99 of %d deliveries %d ms", len(late), lab.value.Milliseconds())
	return lab.finish()
}

// hostileReceiver has the certificate that all test servers have, so that the
// program trusts it as it trusts the healthy one.
func hostileReceiver() *httptest.Server {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		switch strings.Split(request.URL.Path, "/")[1] {
		case "hang":
			<-request.Context().Done()
		case "drip":
			drip(w, request, []byte("."), 200*time.Millisecond)
		case "huge":
			drip(w, request, make([]byte, 1<<20), 0)
		case "reset":
			if hijacker, ok := w.(http.Hijacker); ok {
				reset(hijacker)
			}
		case "redirect":
			http.Redirect(w, request, "https://127.0.0.1:1/", http.StatusFound)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	tlstest.Start(server)
	return server
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

func drip(w http.ResponseWriter, request *http.Request, drop []byte, every time.Duration) {
	for range 600 {
		if _, err := w.Write(drop); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		pause(request.Context(), every)
	}
}

func reset(hijacker http.Hijacker) {
	conn, _, err := hijacker.Hijack()
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
func signIns(lab *lab) error {
	group, err := newCgroup(96 << 20)
	if err != nil {
		return err
	}
	lab.later(group.remove)
	proc, err := lab.serveWith(group.wrap(lab.house.binary, "serve"), lab.url)
	if err != nil {
		return err
	}
	if err := lab.begin(); err != nil {
		return err
	}
	lab.hurt()
	var mu sync.Mutex
	var all sync.WaitGroup
	answers := map[int]int{}
	for i := range 30 {
		all.Go(func() {
			status := signIn(proc.addr, fmt.Sprintf("person%d@example.com", i))
			mu.Lock()
			defer mu.Unlock()
			answers[status]++
		})
	}
	all.Wait()
	lab.value = time.Since(lab.hurtAt)
	lab.measured = fmt.Sprintf("answered %v in %s, at most %d MB used", answers, seconds(lab.value), group.peak()>>20)
	return errors.Join(signedIn(answers), lab.goOn())
}

// signedIn wants every person to have been answered: about their password, or that
// they are to wait, which a busy machine may say to many and not to all.
func signedIn(answers map[int]int) error {
	all := 0
	for _, n := range answers {
		all += n
	}
	checked, waited := answers[http.StatusUnprocessableEntity], answers[http.StatusTooManyRequests]+answers[http.StatusServiceUnavailable]
	if checked+waited < all || checked == 0 {
		return fmt.Errorf("of %d sign-ins %d passwords were checked, %d were to wait: %v", all, checked, waited, answers)
	}
	return nil
}

func signIn(addr, person string) (status int) {
	client := &http.Client{Timeout: time.Minute}
	response, err := client.PostForm("http://"+addr+"/login", url.Values{"email": {person}, "password": {"a wrong one"}})
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}
