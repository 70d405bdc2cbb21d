package rt

import (
	"sync"
	"testing"
	"time"
)

// TestCondWait: a wait ends with its signal, or with an interrupt of the cell; the lock is held afterwards either way.
func TestCondWait(t *testing.T) {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	BeginCell(901)
	defer EndCell()
	mu.Lock()
	go func() {
		mu.Lock() // free only while CondWait waits
		c.Signal()
		mu.Unlock()
	}()
	CondWait(c)
	if mu.TryLock() {
		t.Fatal("the lock is free after a wait")
	}
	go func() {
		time.Sleep(20 * time.Millisecond)
		Interrupt(901)
	}()
	func() {
		defer mu.Unlock()
		defer func() {
			if _, ok := recover().(Interrupted); !ok {
				t.Error("an interrupted wait must panic with Interrupted")
			}
			if mu.TryLock() {
				t.Error("the lock is free after an interrupted wait")
			}
		}()
		CondWait(c)
	}()
	c.Broadcast() // the late signal must leave the lock free
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		if mu.TryLock() {
			mu.Unlock()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a late signal keeps the lock")
		}
	}
}
