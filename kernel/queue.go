package kernel

import (
	"sync"
	"time"

	"memwall/kernel/wire"
)

// waitingLimit bounds the bytes of requests that wait for their turn; beyond it peers are not read.
const waitingLimit = 64 << 20

// request is a message from a client.
type request struct {
	*wire.Message
	peer     *peer
	socket   *socket
	received time.Time
	size     int
	after    func() // called when the request is answered and idle is published
}

// requestQueue holds the shell requests in the order in which they came.
type requestQueue struct {
	mu     sync.Mutex
	change *sync.Cond
	list   []*request
	bytes  int
	closed bool
}

func newRequestQueue() *requestQueue {
	q := &requestQueue{}
	q.change = sync.NewCond(&q.mu)
	return q
}

// push appends a request, and waits while too much is waiting.
func (q *requestQueue) push(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > 0 && q.bytes+r.size > waitingLimit && !q.closed {
		q.change.Wait()
	}
	q.list = append(q.list, r)
	q.bytes += r.size
	q.change.Broadcast()
}

// pop waits for the next request; it returns nil when the queue is closed.
func (q *requestQueue) pop() *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return nil
	}
	r := q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	q.bytes -= r.size
	q.change.Broadcast()
	return r
}

func (q *requestQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}
