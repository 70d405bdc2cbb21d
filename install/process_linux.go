package install

import "syscall"

// dieWithParent ends the server when memwall is killed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
