package program

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen. It is long because it
// only matters when something is wrong.
const patience = 4 * time.Minute

// process is a running carteira.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout output
	stderr output
	ended  chan struct{}
}

// launch starts the binary with nothing of the developer's environment but what
// finds programs. The process is killed at the end of the test if it still runs.
func launch(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return start(t, binary, env, args...)
}

// start is launch for a binary that was built in another way.
func start(t *testing.T, binary string, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.cmd.Dir, "TMPDIR=" + p.cmd.Dir}, env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	endWithTests(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.kill()
		for _, sign := range []string{"DATA RACE", "panic:", "goroutine 1 ["} {
			if strings.Contains(p.stderr.String(), sign) {
				t.Errorf("carteira %s:\n%s", strings.Join(args, " "), p.stderr.String())
			}
		}
	})
	return p
}

// wait returns the exit code; -1 for a process that a signal ended.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.kill()
		p.t.Fatalf("%v does not end:\n%s", p.cmd.Args, p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(signal syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.t.Errorf("signal %v: %v", signal, err)
	}
}

// kill is kill -9; on a process that has ended it does nothing.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// await waits until o holds what find looks for. A process that ends first, or
// does not get there, fails the test.
func (p *process) await(output *output, find func(text string) bool) {
	p.t.Helper()
	late := time.After(patience)
	for {
		text, more := output.state()
		if find(text) {
			return
		}
		select {
		case <-more:
		case <-p.ended:
			if !find(output.String()) {
				p.t.Fatalf("%v ended:\n%s", p.cmd.Args, p.stderr.String())
			}
			return
		case <-late:
			p.t.Fatalf("%v does not say what is awaited:\n%s%s", p.cmd.Args, output.String(), p.stderr.String())
		}
	}
}

// output collects what a process writes and signals when there is more.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // closed at the next write
}

// Write implements io.Writer.
func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
	return o.text.Write(data)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) state() (text string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more == nil {
		o.more = make(chan struct{})
	}
	return o.text.String(), o.more
}

// eventually polls for a condition that has no signal.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("still not so: %s", what)
		}
	}
}

// together runs n calls at once and waits for all.
func together(n int, call func(i int)) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			call(i)
		})
	}
	close(begin)
	all.Wait()
}
