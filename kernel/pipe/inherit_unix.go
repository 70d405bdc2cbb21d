//go:build unix

package pipe

import (
	"os"
	"os/exec"
	"syscall"
)

// inherit passes the files on as descriptors 3 and up.
func inherit(cmd *exec.Cmd, files []*os.File) (numbers []uintptr, err error) {
	for _, f := range files {
		numbers = append(numbers, uintptr(3+len(cmd.ExtraFiles)))
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	return numbers, nil
}

// adopt makes an inherited descriptor close on exec, and a pipe ready for the poller.
func adopt(fd uintptr, pipe bool) {
	syscall.CloseOnExec(int(fd))
	if pipe {
		syscall.SetNonblock(int(fd), true)
	}
}

// mapPrints maps the memory in f.
func mapPrints(f *os.File) (*Prints, error) {
	mem, err := syscall.Mmap(int(f.Fd()), 0, printsBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return newPrints(mem), nil
}

func (p *Prints) unmap() { syscall.Munmap(p.mem) }
