package rt

import "sync"

// CondWait is (*sync.Cond).Wait. Another goroutine waits in the caller's place: the lock, which has no owner, is given up only
// when that goroutine is in the list of those that wait. An interrupt takes the lock back, because the caller's deferred functions
// release it.
func CondWait(c *sync.Cond) {
	got := make(chan any, 1)
	go func() {
		defer func() { got <- recover() }()
		c.Wait()
	}()
	select {
	case p := <-got:
		if p != nil {
			panic(p)
		}
	case <-current().done:
		c.L.Lock()
		go func() {
			if p := <-got; p == nil {
				c.L.Unlock() // a late signal gave the lock to the goroutine that waited
			}
		}()
		panic(Interrupted{})
	}
}
