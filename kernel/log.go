package kernel

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// logBurst is how many lines may be logged in a second; a hostile peer must not be able to fill the server's log.
const logBurst = 50

// logger writes lines to where the Jupyter server keeps the kernel's messages.
type logger struct {
	mu     sync.Mutex
	w      io.Writer
	second int64
	lines  int
	lost   int
}

func (l *logger) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now().Unix(); now != l.second {
		if l.lost > 0 {
			fmt.Fprintf(l.w, "memwall kernel: %d more messages of the same second\n", l.lost)
		}
		l.second, l.lines, l.lost = now, 0, 0
	}
	if l.lines >= logBurst {
		l.lost++
		return
	}
	l.lines++
	fmt.Fprintf(l.w, "memwall kernel: "+format+"\n", args...)
}
