//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	database     = "carteira_test"
	superuser    = "postgres"
	startTimeout = 60 * time.Second
	startTries   = 5
)

// clean waits until nobody holds the other end of its standard input, which the
// kernel reports however withpg ended, kill -9 included; then it stops the
// server and deletes the folder. $1 is pg_ctl, $2 the folder. A server that was
// about to start when withpg died is met by a later round.
const clean = `
cat >/dev/null
for round in 1 2 3; do
	"$1" stop -s -D "$2/data" -m fast -t 60
	rm -rf "$2" && exit
	sleep 0.3
done`

// server is one throw-away cluster and the processes that serve and clean it.
type server struct {
	bin      string // folder of the server programs
	dir      string
	port     int
	password string // else any local user could become the server's
	owner    *syscall.Credential
	durable  bool
	cleaner  *exec.Cmd
	alive    *os.File // while it is open, the cleaner waits
	postgres *exec.Cmd
	exited   chan struct{} // closed when postgres has ended
}

// start brings up a server that is ready for the command, or leaves nothing.
func start(ctx context.Context, durable bool) (_ *server, err error) {
	s := &server{password: rand.Text(), durable: durable}
	if s.bin, err = programs(); err != nil {
		return nil, err
	}
	defer func() {
		if cause := context.Cause(ctx); cause != nil {
			err = cause // a program that was cut short only repeats it
		}
		if err != nil {
			s.stop()
		}
	}()
	if err = s.prepareFolder(); err != nil {
		return nil, err
	}
	if err = s.startCleaner(); err != nil {
		return nil, err
	}
	if err = s.initialize(ctx); err != nil {
		return nil, err
	}
	if err = s.serve(ctx); err != nil {
		return nil, err
	}
	return s, s.createDatabase(ctx)
}

// prepareFolder makes the folder and decides whose it is: PostgreSQL refuses to
// run as root, so root lends it to the user that the package made.
func (s *server) prepareFolder() (err error) {
	if os.Geteuid() == 0 {
		if s.owner, err = credentialOf("postgres"); err != nil {
			return err
		}
	}
	if s.dir, err = os.MkdirTemp("", "withpg-"); err != nil {
		return err
	}
	if err := os.WriteFile(s.path("password"), []byte(s.password), 0o600); err != nil {
		return err
	}
	if s.owner == nil {
		return nil
	}
	uid, gid := int(s.owner.Uid), int(s.owner.Gid)
	return errors.Join(os.Chown(s.path("password"), uid, gid), os.Chown(s.dir, uid, gid))
}

func credentialOf(name string) (*syscall.Credential, error) {
	account, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root and needs the user %s: %w", name, err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func (s *server) startCleaner() error {
	waiting, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = waiting.Close() }()
	s.alive = alive
	s.cleaner = s.detached(exec.Command("/bin/sh", "-c", clean, "withpg-cleaner", s.program("pg_ctl"), s.dir))
	s.cleaner.Dir = "/"
	s.cleaner.Stdin = waiting
	return s.cleaner.Start()
}

func (s *server) initialize(ctx context.Context) error {
	// C.UTF-8 sorts by code point as SQLite does, and still knows letters from
	// punctuation, which pg_trgm asks of the locale.
	initdb := s.asOwner(exec.CommandContext(ctx, s.program("initdb"),
		"--pgdata", s.path("data"), "--username", superuser, "--auth", "password", "--pwfile", s.path("password"),
		"--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"))
	// The cleaner must not delete what initdb is still writing.
	initdb.ExtraFiles = []*os.File{s.alive}
	return output(initdb)
}

// serve starts postgres and waits until it accepts connections. Between the
// choice of a free port and its use somebody may take it: then another is tried.
func (s *server) serve(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for range startTries {
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.launch(); err != nil {
			return err
		}
		if err = s.awaitReady(ctx); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("start PostgreSQL: %w\n%s", err, s.logTail())
}

func (s *server) launch() error {
	log, err := os.OpenFile(s.path("log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.postgres = s.detached(exec.Command(s.program("postgres"), s.settings()...))
	s.postgres.Stdout, s.postgres.Stderr = log, log
	if err := s.postgres.Start(); err != nil {
		return err
	}
	s.exited = make(chan struct{})
	go func() {
		defer close(s.exited)
		_ = s.postgres.Wait()
	}()
	return nil
}

func (s *server) settings() []string {
	args := []string{
		"-D", s.path("data"), "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=" + s.dir,
		"-c", "max_connections=300",
		"-c", "shared_buffers=128MB",
	}
	if !s.durable {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
	return args
}

// awaitReady asks through the socket in our own folder: on the port, a stranger
// who took it could answer.
func (s *server) awaitReady(ctx context.Context) error {
	for {
		if exec.Command(s.program("pg_isready"), "-q", "-h", s.dir, "-p", strconv.Itoa(s.port)).Run() == nil {
			return nil
		}
		select {
		case <-s.exited:
			return errors.New(s.postgres.ProcessState.String())
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *server) createDatabase(ctx context.Context) error {
	if err := s.psql(ctx, superuser, "CREATE DATABASE "+database); err != nil {
		return err
	}
	return s.psql(ctx, database, "CREATE EXTENSION pg_trgm SCHEMA public; CREATE EXTENSION btree_gin SCHEMA public")
}

func (s *server) psql(ctx context.Context, db, statements string) error {
	cmd := exec.CommandContext(ctx, s.program("psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1",
		"--host", s.dir, "--port", strconv.Itoa(s.port), "--username", superuser, "--dbname", db, "--command", statements)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+s.password)
	return output(cmd)
}

// stop lets the cleaner do its work, which is the same however withpg ends, and
// waits for it.
func (s *server) stop() {
	if s.cleaner != nil {
		_ = s.alive.Close()
		_ = s.cleaner.Wait()
	}
	if s.postgres != nil && s.postgres.Process != nil {
		// It has ended, unless somebody killed the cleaner.
		_ = s.postgres.Process.Signal(syscall.SIGQUIT)
		<-s.exited
	}
	if s.dir != "" {
		// The server's user may not delete from a temporary folder that is root's.
		_ = os.RemoveAll(s.dir)
	}
}

func (s *server) url() string {
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable", superuser, s.password, s.port, database)
}

// String says what was started, without the password.
func (s *server) String() string {
	mode := "not durable"
	if s.durable {
		mode = "durable"
	}
	return fmt.Sprintf("throw-away PostgreSQL (%s) on 127.0.0.1:%d in %s", mode, s.port, s.dir)
}

func (s *server) path(name string) string    { return filepath.Join(s.dir, name) }
func (s *server) program(name string) string { return filepath.Join(s.bin, name) }

func (s *server) logTail() string {
	const lines = 20
	log, _ := os.ReadFile(s.path("log"))
	all := strings.Split(strings.TrimSpace(string(log)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func (s *server) asOwner(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	return cmd
}

// detached keeps a terminal's Ctrl-C away: the server must outlive the command.
func (s *server) detached(cmd *exec.Cmd) *exec.Cmd {
	s.asOwner(cmd).SysProcAttr.Setsid = true
	return cmd
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// output runs a helper program that is worth reading only when it fails.
func output(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s in %s: %w %s", filepath.Base(cmd.Path), cmp.Or(cmd.Dir, "."), err, bytes.TrimSpace(out))
	}
	return nil
}
