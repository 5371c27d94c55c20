//go:build unix

// Command withpg runs a command with a throw-away PostgreSQL:
//
//	go run ./test/withpg [--durable] -- command [argument…]
//
// The command finds the server in CARTEIRA_TEST_POSTGRES_URL; if that is already
// set, the command runs against it and nothing is started. The server itself,
// and that nothing of it stays behind however withpg ends, is test/kit/pgserver's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"carteira/test/kit/pgserver"
)

const urlVariable = "CARTEIRA_TEST_POSTGRES_URL"

// patience is how long a test may wait for a connection: on a machine with other work the program's own limit of five
// seconds can pass. Tests of a server that is silent take it out of the URL.
const patience = "&connect_timeout=60"

func main() {
	durable := flag.Bool("durable", false, "keep fsync and synchronous commits on, for benchmarks and kill tests")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: withpg [--durable] -- command [argument…]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	code, err := run(*durable, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpg:", err)
	}
	os.Exit(code)
}

// run gives the command a server and returns its exit code, or the code a shell
// would give for what went wrong before it.
func run(durable bool, argv []string) (int, error) {
	stopping := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, stopping...)
	go stopWhenOrphaned()

	if os.Getenv(urlVariable) != "" {
		return follow(argv, signals)
	}
	setup, done := signal.NotifyContext(context.Background(), stopping...)
	defer done()
	server, err := pgserver.Start(setup, pgserver.Options{Durable: durable})
	if err != nil {
		return 1, err
	}
	defer server.Stop()
	fmt.Fprintln(os.Stderr, "withpg:", server)
	if err := os.Setenv(urlVariable, server.URL()+patience); err != nil {
		return 1, err
	}
	return follow(argv, signals)
}

// stopWhenOrphaned turns the death of the parent into a SIGTERM. Without it,
// killing `go run` or make would leave this process, and so the server, behind.
func stopWhenOrphaned() {
	parent := os.Getppid()
	for os.Getppid() == parent {
		time.Sleep(500 * time.Millisecond)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
}

// follow runs the command, hands every signal on to it and returns its exit code.
func follow(argv []string, signals <-chan os.Signal) (int, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// A terminal signals all of its foreground group, and only that group may
	// read from it. Without one, a group of the command's own lets a signal reach
	// what the command started too: `go test` hands none on to its test binaries.
	grouped := !onTerminal()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: grouped}
	if err := cmd.Start(); err != nil {
		return 127, err
	}
	target := cmd.Process.Pid
	if grouped {
		target = -target
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = syscall.Kill(target, s.(syscall.Signal))
		case err := <-ended:
			return exitCode(err)
		}
	}
}

func onTerminal() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	return tty.Close() == nil
}

func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return 1, err
		}
		return 0, nil
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
