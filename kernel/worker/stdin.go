package worker

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"memwall/kernel/pipe"
)

// Standard input is a pipe whose other end is here. A cell reads it by whatever way it likes: fmt.Scan, bufio.Scanner,
// io.ReadAll. Nothing tells that a reader waits, so the goroutines are looked at: one that stands in Read of this very
// file wants a line, and the user is asked for it.

// mentionsInput finds cells that may read; only when one has been seen are goroutines looked at.
var mentionsInput = regexp.MustCompile(`\b(Stdin|Scan|Scanln|Scanf)\b`)

const lookEvery = 15 * time.Millisecond

type stdin struct {
	w *worker

	mu     sync.Mutex
	read   *os.File // what os.Stdin is
	write  *os.File
	seen   bool // a cell has mentioned input
	dirty  bool // something was written since the cell began
	serial uint64
	waits  map[uint64]chan *pipe.InputReply
	over   chan struct{} // ends the look-out of the running cell
}

func newStdin(w *worker) (*stdin, error) {
	s := &stdin{w: w, waits: map[uint64]chan *pipe.InputReply{}}
	return s, s.renew()
}

// renew makes a new pipe: readers of the old one see the end of the file.
func (s *stdin) renew() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if s.write != nil {
		s.write.Close()
	}
	s.read, s.write, s.dirty = r, w, false
	os.Stdin = r
	return nil
}

// beginCell starts the look-out, if any cell so far may read.
func (s *stdin) beginCell(c *cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = s.seen || mentionsInput.MatchString(c.Code)
	if !s.seen {
		return
	}
	if _, err := os.Stdin.Stat(); err != nil { // the last cell has closed it or set it to nil
		s.renew()
	}
	if s.dirty { // what the last cell left unread is not this cell's input
		s.drain()
	}
	s.over = make(chan struct{})
	go s.lookOut(c, s.over)
}

func (s *stdin) drain() {
	s.dirty = false
	if s.read.SetReadDeadline(time.Now().Add(2*time.Millisecond)) != nil {
		return
	}
	defer s.read.SetReadDeadline(time.Time{})
	buf := make([]byte, 4096)
	for {
		if _, err := s.read.Read(buf); err != nil {
			return
		}
	}
}

// endCell ends the look-out. Goroutines of an interrupted cell that wait for input see the end of the file.
func (s *stdin) endCell(interrupted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		return
	}
	close(s.over)
	s.over = nil
	if interrupted {
		s.renew()
	}
}

// lookOut asks for a line whenever a goroutine waits for one.
func (s *stdin) lookOut(c *cell, over chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	buf := make([]byte, 64<<10)
	for {
		select {
		case <-over:
			return
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		s.mu.Lock()
		mark := fmt.Appendf(nil, "os.(*File).Read(%p,", s.read)
		s.mu.Unlock()
		if !waiting(&buf, mark) {
			continue
		}
		text, err := s.ask(c, over)
		if c.ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		if err != nil {
			s.w.port.Print(true, []byte("input: "+err.Error()+"\n"))
			s.renew()
		} else {
			s.dirty = true
			go s.write.WriteString(strings.TrimSuffix(text, "\n") + "\n") // may be longer than the pipe holds
		}
		s.mu.Unlock()
		time.Sleep(lookEvery)
	}
}

// waiting says whether a goroutine waits in a call that begins with mark.
func waiting(buf *[]byte, mark []byte) bool {
	for {
		n := runtime.Stack(*buf, true)
		if n < len(*buf) || n > 8<<20 {
			// The pointer may be followed by a question mark where the runtime is not sure of it.
			text := bytes.ReplaceAll((*buf)[:n], []byte("?,"), []byte(","))
			return bytes.Contains(text, mark)
		}
		*buf = make([]byte, 2*len(*buf))
	}
}

// ask asks the user for a line.
func (s *stdin) ask(c *cell, over chan struct{}) (string, error) {
	answer := make(chan *pipe.InputReply, 1)
	s.mu.Lock()
	s.serial++
	id := s.serial
	s.waits[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waits, id)
		s.mu.Unlock()
	}()
	if !c.AllowStdin {
		return "", fmt.Errorf("this client cannot be asked for input, so the cell reads the end of the file")
	}
	err := s.w.port.SendInOrder(func(mark uint64) pipe.Message {
		return &pipe.InputRequest{ID: id, Cell: c.id, Mark: mark}
	})
	if err != nil {
		return "", err
	}
	select {
	case r := <-answer:
		if r.Error != "" {
			return "", fmt.Errorf("%s", r.Error)
		}
		return r.Text, nil
	case <-c.ctx.Done():
		return "", c.ctx.Err()
	case <-over:
		return "", fmt.Errorf("the cell has ended")
	}
}

// reply hands an answer to who waits for it.
func (s *stdin) reply(m *pipe.InputReply) {
	s.mu.Lock()
	answer := s.waits[m.ID]
	delete(s.waits, m.ID)
	s.mu.Unlock()
	if answer != nil {
		answer <- m
	}
}
