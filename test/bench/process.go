//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// process is a server under measurement: the product or a baseline.
type process struct {
	cmd   *exec.Cmd
	addr  string
	log   string
	probe string        // the path that answers 200 when it is ready
	ready time.Duration // from its start until the probe was green
	ended chan struct{}
}

const (
	readyTimeout = 30 * time.Second
	stopTimeout  = 30 * time.Second
)

// startProduct serves a dataset with the real program.
func (b *bench) startProduct(ctx context.Context, dataset *dataset) (*process, error) {
	return b.start(ctx, exec.Command(b.product, "serve"), func(addr string) []string {
		return []string{
			"CARTEIRA_LISTEN=" + addr, "CARTEIRA_DATABASE_URL=" + dataset.url, "CARTEIRA_DATA_DIR=" + b.dir,
			"CARTEIRA_SECRET_KEY=" + strings.Repeat("00", 32), "CARTEIRA_RATE_LIMIT=0",
		}
	})
}

// startBaseline serves a dataset with this program, started once more.
func (b *bench) startBaseline(ctx context.Context, kind string, dataset *dataset) (*process, error) {
	return b.start(ctx, exec.Command("/proc/self/exe"), func(addr string) []string {
		return []string{baselineVariable + "=" + strings.Join([]string{kind, addr, b.dir, dataset.url}, " ")}
	})
}

func (b *bench) start(ctx context.Context, cmd *exec.Cmd, environment func(addr string) []string) (*process, error) {
	addr, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), environment(addr)...)
	return b.startAt(ctx, cmd, addr)
}

// startAt starts a server that was told where to listen.
func (b *bench) startAt(ctx context.Context, cmd *exec.Cmd, addr string) (*process, error) {
	log, err := os.CreateTemp(b.dir, "log-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd.Stderr = log // the product's request log is on, as in earnest
	// However this program ends, nothing of it stays behind.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p := &process{cmd: cmd, addr: addr, log: log.Name(), probe: "/readyz", ended: make(chan struct{})}
	if cmd.Path == b.pocketBase {
		p.probe = "/api/health"
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	if err := p.awaitReady(ctx); err != nil {
		p.stop()
		return nil, fmt.Errorf("start %s: %w\n%s", filepath.Base(cmd.Path), err, p.logTail())
	}
	p.ready = time.Since(began)
	return p, nil
}

func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (p *process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		if p.isReady(ctx) {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New(p.cmd.ProcessState.String())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func (p *process) isReady(ctx context.Context) bool {
	client, err := dial(ctx, p.addr)
	if err != nil {
		return false
	}
	defer client.close()
	_, err = client.do(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n", p.probe))
	return err == nil
}

// stop lets the process end by itself, and ends it if it does not.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	_ = os.Remove(p.log)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) logTail() string {
	const lines = 10
	log, _ := os.ReadFile(p.log)
	all := strings.Split(strings.TrimSpace(string(log)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
