package lower_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// plainRunFiles lists Go's own tests that are one file, run without flags, and are judged by their exit status and output.
func plainRunFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var r []string
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(b), "\n")
		if strings.TrimSpace(first) == "// run" {
			r = append(r, n)
		}
	}
	return r
}

// TestGoTests runs the plain files of Go's own tests, where the Go distribution has them: none may be wrong. Each runs in a
// process of its own, because some end it. Of the 141 that Go 1.26 ships, 95 must be right.
func TestGoTests(t *testing.T) {
	files := plainRunFiles(t, filepath.Join(runtime.GOROOT(), "test"))
	if len(files) == 0 {
		t.Log("this Go distribution has no tests: nothing to run")
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	only := os.Getenv("MEMWALL_PROGRAM")
	var mu sync.Mutex
	var wg sync.WaitGroup
	counts := map[string]int{}
	slots := make(chan bool, 2)
	for _, f := range files {
		if only != "" && filepath.Base(f) != only {
			continue
		}
		if only == "" && tooSlow[filepath.Base(f)] {
			t.Logf("%s: not run: it takes minutes in an interpreter", filepath.Base(f))
			continue
		}
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			kind, note := runGoTest(self, f)
			mu.Lock()
			defer mu.Unlock()
			counts[kind]++
			switch kind {
			case "right":
			case "refused":
				t.Logf("%s: refused: %s", filepath.Base(f), note)
			case "slow":
				t.Errorf("%s: not done in %v", filepath.Base(f), goTestLimit)
			default:
				t.Errorf("%s: %s: %s", filepath.Base(f), kind, note)
			}
		})
	}
	wg.Wait()
	t.Logf("%v", counts)
	if only == "" && counts["right"] < 95 {
		t.Errorf("%d right, want at least 95", counts["right"])
	}
}

// tooSlow are files that need minutes in an interpreter.
var tooSlow = map[string]bool{"copy.go": true, "divmod.go": true}

const goTestLimit = 40 * time.Second

func runGoTest(self, file string) (kind, note string) {
	ctx, cancel := context.WithTimeout(context.Background(), goTestLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-test.run=^TestOneProgram$", "-test.v")
	cmd.Env = append(os.Environ(), "MEMWALL_ONE="+file)
	b, err := cmd.CombinedOutput()
	out := string(b)
	_, rest, ok := strings.Cut(out, "OUTCOME ")
	switch {
	case ctx.Err() != nil:
		return "slow", ""
	case !ok:
		return "died", short(out) + " " + errText(err)
	}
	kind, note, _ = strings.Cut(rest, " ")
	if kind == "right" {
		want, err := os.ReadFile(strings.TrimSuffix(file, ".go") + ".out")
		if err == nil && !strings.Contains(out, fmt.Sprintf("STDOUT %q\n", want)) {
			return "wrong", short(out)
		}
	}
	return kind, short(note)
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func short(s string) string {
	if len(s) > 300 {
		s = s[:300]
	}
	return strings.ReplaceAll(s, "\n", "~")
}

// TestOneProgram runs the program in $MEMWALL_ONE for TestGoTests.
func TestOneProgram(t *testing.T) {
	name := os.Getenv("MEMWALL_ONE")
	if name == "" {
		return
	}
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	s.bothStreams = true
	o := s.run(t, name, string(src), time.Minute)
	t.Logf("STDOUT %q", o.stdout)
	switch {
	case o.refused != "":
		t.Logf("OUTCOME refused %s", o.refused)
	case o.exit != 0:
		t.Logf("OUTCOME wrong exit %d %s %s", o.exit, o.panic, short(o.stdout))
	default:
		t.Log("OUTCOME right ")
	}
}
