package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// exitText says how the process ended that left no trace.
func (p *process) exitText() string {
	if p.state == nil {
		return "the worker process is gone"
	}
	return fmt.Sprintf("the worker process ended with exit status %#x", uint32(p.state.ExitCode()))
}

// killGroup leaves processes that the worker has started to end with their pipes; the worker itself is killed by its handle.
func killGroup(*exec.Cmd) {}

// separate keeps the interrupts of a console from the worker.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// widen leaves a pipe at the size that the system gives.
func widen(*os.File) {}
