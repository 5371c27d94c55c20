//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
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
			"CARTEIRA_SECRET_KEY=" + secretKey, "CARTEIRA_RATE_LIMIT=0",
		}
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

// startAt starts a server with a given address.
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

// tick is the unit of /proc/PID/stat on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// cpuOf is the processor time that a process has used, its own and the
// system's for it; 0 when there is no such process here.
func cpuOf(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything; utime and stime are the
	// 12th and 13th after it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	user, _ := strconv.Atoi(string(fields[11]))
	system, _ := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * tick
}

// memoryOf reads VmRSS (now) or VmHWM (at most, ever) of a process, in bytes.
func memoryOf(pid int, what string) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return field(string(status), what) << 10
}

// field finds "name: 123 kB" in a file of /proc.
func field(file, name string) int64 {
	for line := range strings.Lines(file) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

// machine describes what the figures were measured on.
func machine() string {
	model := "unknown processor"
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(cpuinfo)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	meminfo, _ := os.ReadFile("/proc/meminfo")
	return fmt.Sprintf("%d cores (%s), %d GB, %s %s/%s", runtime.NumCPU(), model,
		field(string(meminfo), "MemTotal")>>20, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
