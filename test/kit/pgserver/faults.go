//go:build unix

package pgserver

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Standby starts a streaming standby of s, with a folder and a port of its own.
// Stop must be called for it too.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	standby := &Server{bin: s.bin, password: s.password, options: s.options}
	err := standby.setUp(ctx, func(ctx context.Context) error { return standby.copyFrom(ctx, s) })
	return standby.orNothing(ctx, err)
}

// copyFrom fills the folder with a copy of primary that follows it.
func (s *Server) copyFrom(ctx context.Context, primary *Server) error {
	backup := s.asOwner(exec.CommandContext(ctx, s.program("pg_basebackup"), "--pgdata", s.path("data"),
		"--write-recovery-conf", "--wal-method", "stream", "--checkpoint", "fast", "--no-sync", "--host", "127.0.0.1",
		"--port", strconv.Itoa(primary.port), "--username", superuser))
	backup.Env = append(os.Environ(), "PGPASSWORD="+s.password)
	backup.ExtraFiles = []*os.File{s.alive}
	return output(backup)
}

// Synchronous makes commits of s wait for a standby, from its return on. It must
// follow already. A server takes its time to read settings anew: once the sender of
// its log has, the checkpointer has been asked to, and does so before it makes a
// checkpoint.
func (s *Server) Synchronous(ctx context.Context) error {
	if err := s.Exec(ctx, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	const check = "SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')"
	for err := s.Exec(ctx, check); err != nil; err = s.Exec(ctx, check) {
		if ctx.Err() != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return s.Exec(ctx, "CHECKPOINT")
}

// Promote ends the recovery of a standby and returns when it takes writes.
func (s *Server) Promote(ctx context.Context) error {
	return output(s.asOwner(exec.CommandContext(ctx, s.program("pg_ctl"), "promote", "-s", "-w", "-D", s.path("data"))))
}

// Crash ends the server as a power cut would: nothing is written down, every
// connection is reset, and the next start recovers from the log.
func (s *Server) Crash() {
	_ = s.postgres.Process.Signal(syscall.SIGQUIT)
	<-s.exited
}

// Restart starts a server that crashed or was shut down, at the same address.
func (s *Server) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return s.withLog(s.run(ctx))
}

// ShutDown stops the server in order and keeps its folder for Restart.
func (s *Server) ShutDown(ctx context.Context) error {
	err := output(s.asOwner(exec.CommandContext(ctx, s.program("pg_ctl"), "stop", "-s", "-w", "-m", "fast", "-D",
		s.path("data"))))
	if err == nil {
		<-s.exited
	}
	return err
}

// Exec runs statements in the test database as its superuser.
func (s *Server) Exec(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if err := s.psql(ctx, database, statement); err != nil {
			return err
		}
	}
	return nil
}
