//go:build unix

package pgserver

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

// clean waits until the other end of its standard input is closed, which the kernel reports however its
// starter ended, kill -9 included; then it stops the server and deletes the folder. $1 is pg_ctl, $2
// the folder. A PgBouncer ends first. A server that was about to start when the starter died is met by
// a later round.
const clean = `
cat >/dev/null
[ ! -f "$2/pgbouncer.pid" ] || kill -9 "$(cat "$2/pgbouncer.pid")"
for round in 1 2 3; do
	"$1" stop -s -D "$2/data" -m fast -t 60
	rm -rf "$2" && exit
	sleep 0.3
done`

// Options say what kind of server to start.
type Options struct {
	// Durable keeps fsync and synchronous commits on, for benchmarks and kill tests.
	Durable bool
	// Settings are further settings of the server, as name=value.
	Settings []string
}

// Server is one throw-away cluster and the processes that serve and clean it.
type Server struct {
	bin      string // folder of the server programs
	dir      string
	port     int
	password string // else any local user could become the server's
	owner    *syscall.Credential
	options  Options
	cleaner  *exec.Cmd
	alive    *os.File // while it is open, the cleaner waits
	postgres *exec.Cmd
	exited   chan struct{} // closed when postgres has ended
}

// Start brings up a server with an empty database, or leaves nothing. Stop must
// be called at the end.
func Start(ctx context.Context, options Options) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	server := &Server{bin: bin, password: rand.Text(), options: options}
	err = server.setUp(ctx, server.initialize)
	if err == nil {
		err = server.createDatabase(ctx)
	}
	return server.orNothing(ctx, err)
}

// setUp makes the folder, lets fill put a cluster into it, and serves that.
func (s *Server) setUp(ctx context.Context, fill func(context.Context) error) error {
	if err := s.prepareFolder(); err != nil {
		return err
	}
	if err := s.startCleaner(); err != nil {
		return err
	}
	if err := fill(ctx); err != nil {
		return err
	}
	return s.serve(ctx)
}

// orNothing stops a server that could not be set up.
func (s *Server) orNothing(ctx context.Context, err error) (*Server, error) {
	if cause := context.Cause(ctx); cause != nil {
		err = cause // a program that was cut short only repeats it
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// prepareFolder makes the folder and chooses its owner: PostgreSQL refuses to
// run as root, so root gives it to the user that the package made.
func (s *Server) prepareFolder() (err error) {
	if os.Geteuid() == 0 {
		if s.owner, err = credentialOf("postgres"); err != nil {
			return err
		}
	}
	place := "" // the temporary folder, on a disk
	if !s.options.Durable {
		place = folderInMemory()
	}
	if s.dir, err = os.MkdirTemp(place, "pgserver-"); err != nil {
		return err
	}
	if err := s.write("password", s.password); err != nil {
		return err
	}
	return s.give(s.dir)
}

// write makes a file of the server's user in its folder.
func (s *Server) write(name, text string) error {
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		return err
	}
	return s.give(s.path(name))
}

// give makes the server's user the owner of a file.
func (s *Server) give(path string) error {
	if s.owner == nil {
		return nil
	}
	return os.Chown(path, int(s.owner.Uid), int(s.owner.Gid))
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

func (s *Server) startCleaner() error {
	waiting, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = waiting.Close() }()
	s.alive = alive
	s.cleaner = s.detached(exec.Command("/bin/sh", "-c", clean, "pgserver-cleaner", s.program("pg_ctl"), s.dir))
	s.cleaner.Dir = "/"
	s.cleaner.Stdin = waiting
	return s.cleaner.Start()
}

func (s *Server) initialize(ctx context.Context) error {
	// C.UTF-8 sorts by code point as SQLite does.
	initdb := s.asOwner(exec.CommandContext(ctx, s.program("initdb"), "--pgdata", s.path("data"), "--username",
		superuser, "--auth", "md5", "--pwfile", s.path("password"), "--encoding", "UTF8", "--locale", "C.UTF-8",
		"--no-sync"))
	// The cleaner must not delete what initdb is still writing.
	initdb.ExtraFiles = []*os.File{s.alive}
	return output(initdb)
}

// serve starts postgres and waits until it accepts connections. Between the
// choice of a free port and its use another process may take it: then another is
// tried.
func (s *Server) serve(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for range startTries {
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.run(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	return s.withLog(err)
}

// run starts postgres at its port and waits until it accepts connections.
func (s *Server) run(ctx context.Context) error {
	if err := s.launch(); err != nil {
		return err
	}
	return s.awaitReady(ctx)
}

func (s *Server) withLog(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("start PostgreSQL: %w\n%s", err, s.logTail())
}

func (s *Server) launch() error {
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

func (s *Server) settings() []string {
	args := []string{
		"-D", s.path("data"), "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=" + s.dir,
		"-c", "max_connections=300",
		"-c", "shared_buffers=128MB",
	}
	if !s.options.Durable {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "autovacuum=off")
	}
	for _, setting := range s.options.Settings {
		args = append(args, "-c", setting)
	}
	return args
}

// awaitReady asks through the socket in our own folder: on the port, a stranger
// who took it could answer.
func (s *Server) awaitReady(ctx context.Context) error {
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

func (s *Server) createDatabase(ctx context.Context) error {
	return s.psql(ctx, superuser, "CREATE DATABASE "+database)
}

func (s *Server) psql(ctx context.Context, db, statements string) error {
	cmd := exec.CommandContext(ctx, s.program("psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--host",
		s.dir, "--port", strconv.Itoa(s.port), "--username", superuser, "--dbname", db, "--command", statements)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+s.password)
	return output(cmd)
}

// Stop lets the cleaner do its work, which is the same however the starter ends, and
// waits for it.
func (s *Server) Stop() {
	if s.cleaner != nil {
		_ = s.alive.Close()
		_ = s.cleaner.Wait()
	}
	if s.postgres != nil && s.postgres.Process != nil {
		// It has ended, unless the cleaner was killed.
		_ = s.postgres.Process.Signal(syscall.SIGQUIT)
		<-s.exited
	}
	if s.dir != "" {
		// The server's user may not delete from a temporary folder that is root's.
		_ = os.RemoveAll(s.dir)
	}
}

// Address is the host and port that the server listens on.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// URL is how to connect to the empty database, with the password.
func (s *Server) URL() string { return s.URLAt(s.Address()) }

// URLAt is URL by way of other addresses: a proxy, or several servers to try in
// that order.
func (s *Server) URLAt(addresses ...string) string {
	hosts := strings.Join(addresses, ",")
	return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", superuser, s.password, hosts, database)
}

// String says what was started, without the password.
func (s *Server) String() string {
	mode := "not durable"
	if s.options.Durable {
		mode = "durable"
	}
	return fmt.Sprintf("throw-away PostgreSQL (%s) on 127.0.0.1:%d in %s", mode, s.port, s.dir)
}

func (s *Server) path(name string) string {
	return filepath.Join(s.dir, name)
}

func (s *Server) program(name string) string {
	return filepath.Join(s.bin, name)
}

func (s *Server) logTail() string {
	const lines = 20
	log, _ := os.ReadFile(s.path("log"))
	all := strings.Split(strings.TrimSpace(string(log)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func (s *Server) asOwner(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	return cmd
}

// detached keeps a terminal's Ctrl-C away: the server must outlive the command.
func (s *Server) detached(cmd *exec.Cmd) *exec.Cmd {
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
