package lower_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"memwall/kernel/cell/lower"
)

// TestFile lowers and runs the program in $MEMWALL_FILE: a tool for whoever works on the templates.
func TestFile(t *testing.T) {
	name := os.Getenv("MEMWALL_FILE")
	if name == "" {
		return
	}
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	u, err := s.lower(name, string(src))
	var r *lower.Refusal
	if errors.As(err, &r) {
		t.Fatal(s.fset.Position(r.Pos), r)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + u.Text)
	o := runProgram(t, name, string(src), time.Minute)
	t.Logf("exit %d, refused %q, panic %q\n%s", o.exit, o.refused, o.panic, o.stdout)
}
