//go:build unix

package supervisor

import (
	"fmt"
	"os/exec"
	"syscall"
)

// exitText says how the process ended that left no trace.
func (p *process) exitText() string {
	if p.state == nil {
		return "the worker process is gone"
	}
	status, ok := p.state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return fmt.Sprintf("compiled code ended the worker process with exit status %d", p.state.ExitCode())
	}
	if status.Signal() == syscall.SIGKILL {
		if oomKills() > p.oomKills {
			return "out of memory: the system killed the worker process"
		}
		return "the worker process was killed (SIGKILL), by hand or by the system because memory ran out"
	}
	return fmt.Sprintf("the worker process was ended by signal %d (%v)", int(status.Signal()), status.Signal())
}

// killGroup kills the worker and what it has started.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
