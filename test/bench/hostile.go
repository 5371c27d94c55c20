//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const badTLSPath = "/bad-tls" // it proves to be another address

// hostilePaths are the ways in which receivers are hostile.
var hostilePaths = []string{"/hang", "/drip", "/huge", "/reset", badTLSPath, "/redirect"}

func hostilePath(number int) string { return hostilePaths[number%len(hostilePaths)] }

var hostilities = map[string]func(http.ResponseWriter, *http.Request){
	"/hang":  func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() },
	"/drip":  drip,
	"/huge":  huge,
	"/reset": reset,
	"/redirect": func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Location", "/elsewhere")
		rw.WriteHeader(http.StatusFound)
	},
}

// drip answers 200 and then a byte now and then, until the caller hangs up.
func drip(rw http.ResponseWriter, request *http.Request) {
	flusher := http.NewResponseController(rw)
	for {
		if _, err := rw.Write([]byte{'.'}); err != nil || flusher.Flush() != nil {
			return
		}
		select {
		case <-request.Context().Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

var megabyte = bytes.Repeat([]byte("x"), 1<<20)

// huge answers 200 and ten megabytes.
func huge(rw http.ResponseWriter, _ *http.Request) {
	for range 10 {
		if _, err := rw.Write(megabyte); err != nil {
			return
		}
	}
}

// reset hangs up without a word.
func reset(rw http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		return
	}
	if raw, ok := conn.(interface{ NetConn() net.Conn }); ok {
		if tcp, ok := raw.NetConn().(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
			_ = tcp.Close()
			return
		}
	}
	_ = conn.Close()
}

// hostileVariable turns this program into the hostile receivers: the file of
// their order.
const hostileVariable = "CARTEIRA_BENCH_HOSTILE"

// hostileOrder is what the process of hostile receivers is asked for.
type hostileOrder struct {
	N     int
	Roots string // where it writes its authority
	Hosts string // where it writes its addresses, when it is ready
}

// hostileProcess is receivers on machines of their own, as far as one machine
// can show that: another process than the one that measures, with the
// processor time that no other process wants.
type hostileProcess struct {
	cmd   *exec.Cmd
	hosts []string
}

// startHostile starts them, and adds their authority to the roots.
func (b *bench) startHostile(ctx context.Context, roots string) (*hostileProcess, error) {
	order := hostileOrder{N: b.lanes, Roots: filepath.Join(b.dir, "hostile.pem"), Hosts: filepath.Join(b.dir, "hostile.json")}
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := &hostileProcess{cmd: exec.Command("nice", "-n", "19", self)}
	process.cmd.Env = append(os.Environ(), hostileVariable+"="+string(text))
	process.cmd.Stderr = os.Stderr
	process.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := process.cmd.Start(); err != nil {
		return nil, err
	}
	if process.hosts, err = awaitHosts(ctx, order.Hosts); err == nil {
		err = appendFile(roots, order.Roots)
	}
	if err != nil {
		process.stop()
	}
	return process, errors.Join(err, os.Remove(order.Hosts))
}

func (p *hostileProcess) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func awaitHosts(ctx context.Context, file string) (hosts []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		text, err := os.ReadFile(file)
		if err == nil {
			return hosts, json.Unmarshal(text, &hosts)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the hostile receivers do not start: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func appendFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(to, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// serveHostile is the process.
func serveHostile(settings string) error {
	var order hostileOrder
	if err := json.Unmarshal([]byte(settings), &order); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	ctx := context.Background()
	receivers, err := startReceivers(ctx, order.Roots, order.N, true)
	if err != nil {
		return err
	}
	text, err := json.Marshal(receivers.hosts)
	if err != nil {
		return err
	}
	if err := os.WriteFile(order.Hosts+".new", text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(order.Hosts+".new", order.Hosts); err != nil {
		return err
	}
	select {}
}
