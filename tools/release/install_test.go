package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	unitFile  = "/usr/lib/systemd/system/carteira.service"
	envFile   = "/etc/carteira/carteira.env"
	dataDir   = "/var/lib/carteira"
	patience  = 60 * time.Second
	installed = "/usr/bin/carteira"
)

// The package is installed on this machine, since what it does with users and
// folders is what is to be tested. It is removed at the end.
func TestDebIsInstalledStartedAsItsOwnUserAndRemoved(t *testing.T) {
	mayInstall(t)
	r := makeOnce(t)
	t.Cleanup(func() {
		_, _ = run(t, "dpkg", "--purge", "carteira")
		_ = os.RemoveAll(dataDir)
		_, _ = run(t, "userdel", "carteira")
	})
	deb := filepath.Join(r.dist, "carteira_0.1.0_"+runtime.GOARCH+".deb")
	if out, err := install(t, deb); err != nil || !strings.Contains(out, "systemctl enable --now carteira") {
		t.Fatalf("%v\n%s", err, out)
	}
	owner, err := user.Lookup("carteira")
	must(t, err)
	wantMode(t, dataDir, 0o700, owner.Uid)
	wantMode(t, envFile, 0o640, "0")
	wantSoundUnit(t)
	if out, err := run(t, installed, "--version"); err != nil || !strings.HasPrefix(out, "carteira 0.1.0 ") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run(t, "gzip", "-t", "/usr/share/man/man1/carteira-serve.1.gz"); err != nil {
		t.Errorf("%v: %s", err, out)
	}

	s := startIn(t, asTheUnit(t, owner))
	s.wantReady()
	eventually(t, "the first backup is there", func() bool {
		copies, _ := filepath.Glob(filepath.Join(dataDir, "backups", "carteira-*.db"))
		return len(copies) == 1
	})
	if out, err := s.command("doctor"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	s.stop()

	if out, err := install(t, deb); err != nil || strings.Contains(out, "enable --now") { // an upgrade
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run(t, "dpkg", "-r", "carteira"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	wantThere(t, map[string]bool{installed: false, unitFile: false, envFile: true, dataDir + "/carteira.db": true})
	if out, err := run(t, "dpkg", "-P", "carteira"); err != nil || !strings.Contains(out, "still in /var/lib/carteira") {
		t.Errorf("%v\n%s", err, out)
	}
	wantThere(t, map[string]bool{envFile: false, dataDir + "/carteira.db": true})
}

// install leaves to the removal what other packages do on a change, such as reading every man page anew, for seconds.
func install(t *testing.T, deb string) (string, error) {
	t.Helper()
	return run(t, "dpkg", "--no-triggers", "-i", deb)
}

func TestRPMCanBeRead(t *testing.T) {
	if _, err := exec.LookPath("rpm"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("rpm is not installed")
		}
		t.Skip("rpm is not installed; `make package` installs it where it may")
	}
	r := makeOnce(t)
	rpms, _ := filepath.Glob(filepath.Join(r.dist, "*.rpm"))
	for query, wanted := range map[string][]string{
		"--list":        {installed, unitFile, envFile},
		"--scripts":     {"useradd --system", "systemctl disable --now"},
		"--configfiles": {envFile},
	} {
		out, err := run(t, "rpm", "-qp", query, rpms[0])
		for _, want := range wanted {
			if err != nil || !strings.Contains(out, want) {
				t.Errorf("%s: %s is not in it: %v\n%s", query, want, err, out)
			}
		}
	}
	if out, err := run(t, "rpm", "-K", "--nosignature", rpms[0]); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// mayInstall skips where installing would be out of place.
func mayInstall(t *testing.T) {
	t.Helper()
	_, missing := exec.LookPath("dpkg")
	_, err := os.Stat(dataDir)
	switch {
	case err == nil:
		t.Skip(dataDir + " is there: this machine has a Carteira of its own")
	case os.Getuid() != 0 || missing != nil:
		if os.Getenv("CI") == "true" {
			t.Fatal("this needs root and dpkg")
		}
		t.Skip("this needs root and dpkg")
	}
}

// asTheUnit reads from the installed unit how it would be started. systemd
// itself runs on no machine of tests.
func asTheUnit(t *testing.T, owner *user.User) place {
	t.Helper()
	unit := readSettings(t, unitFile)
	if unit["User"] != "carteira" || unit["ExecStart"] != installed+" serve" || unit["EnvironmentFile"] != "-"+envFile {
		t.Fatalf("%v", unit)
	}
	p := place{program: installed, env: []string{"PATH=/usr/bin:/bin"}}
	for name, value := range readSettings(t, envFile) {
		p.env = append(p.env, name+"="+value)
	}
	p.env = append(p.env, "CARTEIRA_LISTEN="+freeAddress(t)) // 8080 may be in use
	p.uid, _ = strconv.Atoi(owner.Uid)
	p.gid, _ = strconv.Atoi(owner.Gid)
	return p
}

// readSettings reads NAME=VALUE lines; of several the last counts.
func readSettings(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(name, "#") {
			found[name] = value
		}
	}
	return found
}

// wantSoundUnit asks systemd's own tool, where there is one.
func wantSoundUnit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Log("systemd-analyze is not installed; the unit was not verified")
		return
	}
	if out, err := run(t, "systemd-analyze", "verify", "--man=no", unitFile); err != nil || strings.Contains(out, "carteira.service:") {
		t.Errorf("%v\n%s", err, out)
	}
	// 0 is safe and 10 is not: a unit without any of its lines has 9.6.
	if out, err := run(t, "systemd-analyze", "security", "--offline=true", "--threshold=20", unitFile); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func wantMode(t *testing.T, path string, mode os.FileMode, owner string) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	uid := strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Uid))
	if info.Mode().Perm() != mode || uid != owner {
		t.Errorf("%s has mode %o and owner %s", path, info.Mode().Perm(), uid)
	}
}

func wantThere(t *testing.T, files map[string]bool) {
	t.Helper()
	for path, want := range files {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// place is the folder and the user with which a program is started.
type place struct {
	root     string
	uid, gid int
	program  string
	env      []string
}

func (p place) cmd(args ...string) *exec.Cmd {
	cmd := exec.Command(p.program, args...)
	cmd.Path, cmd.Err = p.program, nil // looked for inside the root
	cmd.Env = p.env
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: p.root, Credential: &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.gid)},
		Pdeathsig: syscall.SIGKILL,
	}
	return cmd
}

// served is a server that was started.
type served struct {
	t       *testing.T
	place   place
	cmd     *exec.Cmd
	printed printed
	ended   chan error
}

func startIn(t *testing.T, p place) *served {
	t.Helper()
	s := &served{t: t, place: p, cmd: p.cmd("serve"), ended: make(chan error, 1)}
	s.cmd.Stderr = &s.printed
	runtime.LockOSThread() // the process dies with the thread that started it
	must(t, s.cmd.Start())
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		runtime.UnlockOSThread()
		if t.Failed() {
			t.Log(s.printed.String())
		}
	})
	return s
}

func (s *served) setting(name string) (value string) {
	for _, e := range s.place.env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

func (s *served) wantReady() {
	s.t.Helper()
	eventually(s.t, "it is ready", func() bool {
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.setting("CARTEIRA_LISTEN")+"/readyz", nil)
		must(s.t, err)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode == http.StatusOK
	})
}

// command runs another command in the same place.
func (s *served) command(args ...string) (string, error) {
	out, err := s.place.cmd(args...).CombinedOutput()
	return string(out), err
}

// stop stops the server as systemd would.
func (s *served) stop() {
	s.t.Helper()
	must(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-s.ended:
		must(s.t, err)
	case <-time.After(patience):
		s.t.Fatal("it does not stop")
	}
}

// printed collects what a process prints.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	return string(out), err
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !condition(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("still not so: %s", what)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
