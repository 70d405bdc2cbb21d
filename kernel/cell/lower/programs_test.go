package lower_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

type program struct {
	Name   string `json:"name"`
	Src    string `json:"src"`
	Stdout string `json:"stdout"`
	Exit   int    `json:"exit"`
}

// sharedFile reads a file of the folder shared beside the repository; ok is false where there is none.
func sharedFile(t *testing.T, name string) (b []byte, ok bool) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	b, err = os.ReadFile(filepath.Join(dir, "..", "shared", name))
	if err != nil {
		t.Logf("../shared/%s is not here: nothing to compare with", name)
		return nil, false
	}
	return b, true
}

// TestPrograms runs whole programs whose output `go run` gave: at least 97 % right, none wrong, the others refused with a
// construct, a reason and a way round.
func TestPrograms(t *testing.T) {
	b, ok := sharedFile(t, "cases/go/programs.jsonl")
	if !ok {
		return
	}
	if name := os.Getenv("MEMWALL_PROGRAMS"); name != "" { // others, in the same form
		var err error
		if b, err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	only := os.Getenv("MEMWALL_PROGRAM")
	n, right := 0, 0
	for _, l := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
		var p program
		if err := json.Unmarshal(l, &p); err != nil {
			t.Fatal(err)
		}
		if only != "" && p.Name != only {
			continue
		}
		n++
		o := runProgram(t, p.Name+".go", p.Src, 30*time.Second)
		switch {
		case o.refused != "":
			t.Logf("%s: refused: %s", p.Name, o.refused)
			if !strings.Contains(o.refused, " cannot be used in a cell: ") || !strings.HasSuffix(o.refused, ")") {
				t.Errorf("%s: the refusal names no construct, reason and way: %s", p.Name, o.refused)
			}
		case o.stdout == p.Stdout && o.exit == p.Exit:
			right++
		default:
			t.Errorf("%s: wrong\n got exit %d %q %s\nwant exit %d %q", p.Name, o.exit, o.stdout, o.panic, p.Exit, p.Stdout)
		}
	}
	t.Logf("%d of %d right", right, n)
	if only == "" && float64(right) < 0.97*float64(n) {
		t.Errorf("%d of %d programs right, want at least 97 %%", right, n)
	}
}

// TestOwnPrograms runs the programs of testdata, each over one part of the language or the library; the outputs beside them are
// those of `go run`.
func TestOwnPrograms(t *testing.T) {
	names, err := filepath.Glob("testdata/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal("no programs in testdata", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(name, ".go") + ".out")
			if err != nil {
				t.Fatal(err)
			}
			o := runProgram(t, name, string(src), 30*time.Second)
			if o.refused != "" {
				t.Fatal(o.refused)
			}
			got, lines := strings.Split(o.stdout, "\n"), strings.Split(string(want), "\n")
			for i := range max(len(got), len(lines)) {
				g, w := "(no more lines)", "(no more lines)"
				if i < len(got) {
					g = got[i]
				}
				if i < len(lines) {
					w = lines[i]
				}
				if address.ReplaceAllString(g, "ADDRESS") != address.ReplaceAllString(w, "ADDRESS") {
					t.Errorf("line %d\n got %s\nwant %s", i+1, g, w)
				}
			}
		})
	}
}

var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)
