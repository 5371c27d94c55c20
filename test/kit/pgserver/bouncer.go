//go:build unix

package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bouncer is a PgBouncer in transaction mode before a server.
type Bouncer struct {
	server *Server
	port   int
	cmd    *exec.Cmd
	exited chan struct{}
}

// ErrNoBouncer says that PgBouncer is not installed; tools/ensure installs it.
var ErrNoBouncer = errors.New("the program pgbouncer is not installed")

// Bouncer starts a PgBouncer that shares few server connections among many
// clients, one transaction at a time. Stop must be called before the server's.
func (s *Server) Bouncer(ctx context.Context) (*Bouncer, error) {
	program, err := findBouncer()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	bouncer := &Bouncer{server: s, port: port, exited: make(chan struct{})}
	config, err := bouncer.configure()
	if err != nil {
		return nil, err
	}
	bouncer.cmd = s.detached(exec.Command(program, config))
	if err := bouncer.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(bouncer.exited)
		_ = bouncer.cmd.Wait()
	}()
	if err := bouncer.awaitReady(ctx); err != nil {
		bouncer.Stop()
		return nil, err
	}
	return bouncer, nil
}

// findBouncer looks where Debian puts it too, which is not in everybody's PATH.
func findBouncer() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBouncer
}

func (b *Bouncer) configure() (path string, err error) {
	server := b.server
	settings := []string{
		"[databases]",
		fmt.Sprintf("%s = host=127.0.0.1 port=%d", database, server.port),
		"[pgbouncer]",
		"listen_addr = 127.0.0.1", "listen_port = " + strconv.Itoa(b.port), "unix_socket_dir =",
		"auth_type = scram-sha-256", "auth_file = " + server.path("userlist.txt"),
		"logfile = " + server.path("pgbouncer.log"),
		"pidfile = " + server.path("pgbouncer.pid"),
		"pool_mode = transaction", "default_pool_size = 3", "max_client_conn = 200",
	}
	users := fmt.Sprintf("%q %q\n", superuser, server.password)
	path = server.path("pgbouncer.ini")
	return path, errors.Join(server.write("userlist.txt", users),
		server.write("pgbouncer.ini", strings.Join(settings, "\n")+"\n"))
}

func (b *Bouncer) awaitReady(ctx context.Context) error {
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", b.Address())
		if err == nil {
			return conn.Close()
		}
		select {
		case <-b.exited:
			log, _ := os.ReadFile(b.server.path("pgbouncer.log"))
			return fmt.Errorf("start PgBouncer: %s\n%s", b.cmd.ProcessState, log)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Address is the host and port that PgBouncer listens on.
func (b *Bouncer) Address() string {
	return fmt.Sprintf("127.0.0.1:%d", b.port)
}

// URL is the server's, by way of PgBouncer.
func (b *Bouncer) URL() string { return b.server.URLAt(b.Address()) }

// Stop ends PgBouncer at once.
func (b *Bouncer) Stop() {
	_ = b.cmd.Process.Signal(syscall.SIGKILL)
	<-b.exited
	_ = os.Remove(b.server.path("pgbouncer.pid"))
}
