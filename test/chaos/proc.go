//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// proc is a process that serves.
type proc struct {
	cmd     *exec.Cmd
	addr    string
	log     string
	ended   chan struct{}
	readyAt time.Time
}

const readyTimeout = 60 * time.Second

// environment is that of a machine with these settings, without how much memory the tests may have.
func environment(settings []string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, settings...)
}

// launch serves with a binary and waits until /readyz is green.
func launch(ctx context.Context, dir string, argv, env []string) (*proc, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp(dir, "log-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(environment(env), "CARTEIRA_LISTEN="+addr)
	cmd.Stderr = log
	// However this program ends, nothing of it stays behind.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p := &proc{cmd: cmd, addr: addr, log: log.Name(), ended: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	if err := p.awaitReady(ctx); err != nil {
		p.kill()
		return nil, fmt.Errorf("start %s: %w\n%s", argv[0], err, p.tail())
	}
	p.readyAt = time.Now()
	return p, nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (p *proc) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for !p.ready() {
		select {
		case <-p.ended:
			return errors.New(p.cmd.ProcessState.String())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

var probe = &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// ready reports whether a balancer would send requests here.
func (p *proc) ready() bool {
	response, err := probe.Get("http://" + p.addr + "/readyz")
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func (p *proc) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *proc) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *proc) signal(signal syscall.Signal) { _ = p.cmd.Process.Signal(signal) }

func (p *proc) tail() string {
	const lines = 12
	log, _ := os.ReadFile(p.log)
	all := strings.Split(strings.TrimSpace(string(log)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
