package session

import "testing"

// TestGoexit: a cell that ends its goroutine is an error, runs what it deferred, and leaves the session good.
func TestGoexit(t *testing.T) {
	s := newSession(t)
	const why = ": runtime.Goexit ended the cell's own goroutine: return from the function, or start a goroutine that ends itself"
	for i, c := range []struct{ code, want string }{
		{"x := 1\nruntime.Goexit()\nx = 2", "<Goexit cell 1, 2:1" + why + "\n    runtime.Goexit()\n    ^>"},
		{"x", "[int: 1]"},
		{"func() {\n\tdefer func() { fmt.Println(\"deferred\", recover()) }()\n\truntime.Goexit()\n}()", "deferred <nil>\n<Goexit cell 3, 1:1" + why + "\n    func() {\n    ^>"},
		{"var wg sync.WaitGroup\nwg.Add(1)\ngo func() { defer wg.Done(); runtime.Goexit() }()\nwg.Wait()\nx + 1", "[int: 2]"},
	} {
		if got := evaluate(t, s, i+1, c.code); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.code, got, c.want)
		}
	}
}
