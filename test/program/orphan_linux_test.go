package program

import (
	"os/exec"
	"syscall"
)

// endWithTests kills a process when the tests die without cleaning up, as they
// do at go test's timeout.
func endWithTests(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
