package libcuda

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memwall/gpu/libcuda/record"
	"memwall/install"
	"memwall/install/installtest"
)

// client builds the library, and a C program that is linked with it; it answers "" where there is no C compiler.
func client(t *testing.T) (program string, l *Library) {
	t.Helper()
	installtest.Sources(t)
	b, why := install.FindCUDABuild()
	if b == nil {
		t.Log("not run: " + why)
		return "", nil
	}
	cache, err := install.Cache()
	if err != nil {
		t.Fatal(err)
	}
	l, err = Build(t.Context(), filepath.Join(cache, "test", "libcuda"))
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "client")
	out, err := exec.Command(b.CC, "-O2", "-I", filepath.Join(b.Root, "gpu/internal/cuda/shim/include"), "-o", program, "testdata/client.c", "-L", l.Dir, "-lcuda", "-lpthread").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program, l
}

func command(ctx context.Context, program string, l *Library, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), append(l.Environment(), "MEMWALL_DEVICE=a100", record.EnvironmentFile+"=")...)
	return cmd
}

// A C program that is linked with -lcuda: fork before and after cuInit, threads, faults, and what is refused.
func TestClient(t *testing.T) {
	program, l := client(t)
	if program == "" {
		return
	}
	for _, c := range []struct{ what, out, err string }{
		{"fork", "before: 0\nafter: 3 3\nparent: 0\n", ""},
		{"threads", "128000\n", ""},
		{"graphs", "0 0 1 1 32 1\n", ""},
		{"cubin", "209\n", "memwall: the image is machine code of a GPU (a cubin); the virtual GPU executes PTX: build it with PTX in it\n"},
		{"tables", "500\n", "memwall: this program asks the driver for an undocumented table (cuGetExportTable 6bd5fb6c000000000000000000000000), as NVIDIA's CUDA runtime library does: programs built with it cannot run on the virtual GPU\n"},
		{"fault", "0 700 700\n", "memwall: virtual GPU: PTX:4: atom.global.add.u32 out of bounds\nCTA (0,0,0) warp 0 lane 0: address 0x40, a null pointer\n"},
	} {
		var out, errs bytes.Buffer
		cmd := command(t.Context(), program, l, c.what)
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if err != nil || out.String() != c.out || errs.String() != c.err {
			t.Errorf("%s: %v\n%s%s\nwant\n%s%s", c.what, err, &out, &errs, c.out, c.err)
		}
	}
}

// mostWait is how long after Ctrl-C a program that sits in an endless CUDA kernel may go on.
const mostWait = 2 * time.Second

// interrupted starts a program, waits until it says that it spins, interrupts it, and gives what it wrote after that, how it ended and
// how long that took.
func interrupted(t *testing.T, l *Library, program string, args ...string) (after string, ended error, took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := command(ctx, program, l, args...)
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(pipe)
	for line := ""; line != "spinning\n"; {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("the program ended before it span: %v", cmd.Wait())
		}
	}
	time.Sleep(300 * time.Millisecond)
	began := time.Now()
	cmd.Process.Signal(os.Interrupt)
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	ended = cmd.Wait()
	return string(rest), ended, time.Since(began)
}

// Ctrl-C ends a program that sits in an endless CUDA kernel.
func TestInterrupt(t *testing.T) {
	program, l := client(t)
	if program == "" {
		return
	}
	if _, err, took := interrupted(t, l, program, "spin"); err == nil || err.Error() != "signal: interrupt" || took > mostWait {
		t.Errorf("ended with %v after %v", err, took)
	}
}

// In Python Ctrl-C becomes a KeyboardInterrupt where the launch stood.
func TestInterruptPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("not run: there is no python3")
		return
	}
	program, l := client(t)
	if program == "" {
		return
	}
	if out, err, took := interrupted(t, l, python, "testdata/spin.py"); err != nil || out != "KeyboardInterrupt\n" || took > mostWait {
		t.Errorf("ended with %v after %v\n%s", err, took, out)
	}
}

// --json gives each launch with its counts, equal ones once, and the faults.
func TestExecJSON(t *testing.T) {
	program, l := client(t)
	if program == "" {
		return
	}
	for _, c := range []struct {
		what, before string
		launches     int
		faults       []string
	}{
		{"threads", "128000\n", 4000, nil},
		{"fault", "0 700 700\n", 0, []string{"virtual GPU: PTX:4: atom.global.add.u32 out of bounds\nCTA (0,0,0) warp 0 lane 0: address 0x40, a null pointer"}},
	} {
		var out, errs bytes.Buffer
		o := Options{Device: "virtual:a100", JSON: true, Program: []string{program, c.what}, Stdout: &out, Stderr: &errs, Progress: func(string) {}}
		if err := execWith(t.Context(), o, l); err != nil {
			t.Fatalf("%v\n%s%s", err, &out, &errs)
		}
		text, ours := strings.CutPrefix(out.String(), c.before)
		var got struct {
			Launches []record.Entry
			Faults   []string
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || !ours {
			t.Fatalf("%s: %v\n%s", c.what, err, &out)
		}
		n := 0
		for _, e := range got.Launches {
			n += e.Launches
			if e.Observation.Function != "count" || e.Observation.Counts.CTAs != 1 {
				t.Errorf("%s: %+v", c.what, e.Observation)
			}
		}
		if n != c.launches || !slices.Equal(got.Faults, c.faults) {
			t.Errorf("%s: %d launches, faults %q; want %d, %q", c.what, n, got.Faults, c.launches, c.faults)
		}
	}
}

// --sanitize names the kernel and line of a race, on the program's standard error.
func TestExecSanitize(t *testing.T) {
	program, l := client(t)
	if program == "" {
		return
	}
	for _, c := range []struct {
		what, out, err string
		want           string
	}{{"race", "0 0\n", "exec: the sanitizer found 1 fault", "memwall: race: race in global memory between a write and a read, 4 hazards\n" +
		"  write by CTA (0,0,0) warp 0 lane 0: st.global.u32, PTX line 8\n" +
		"  read by CTA (0,0,0) warp 0 lane 1: ld.global.u32, PTX line 7\n" +
		"  address ADDRESS, the start of allocation ADDRESS of 4 B\n" +
		"  → put __syncwarp() between the two, or use an atomic\n"}, {"threads", "128000\n", "<nil>", ""}} {
		var out, errs bytes.Buffer
		o := Options{Device: "virtual:a100", Sanitize: true, Program: []string{program, c.what}, Stdout: &out, Stderr: &errs, Progress: func(string) {}}
		if err := execWith(t.Context(), o, l); fmt.Sprint(err) != c.err {
			t.Fatalf("%v, want %s\n%s%s", err, c.err, &out, &errs)
		}
		told := regexp.MustCompile("0x[0-9a-f]+").ReplaceAllString(errs.String(), "ADDRESS")
		if !strings.HasPrefix(out.String(), c.out) || told != c.want {
			t.Errorf("%s: %s\n%s\nwant\n%s", c.what, &out, told, c.want)
		}
		out.Reset()
		o.JSON = true
		if err := execWith(t.Context(), o, l); fmt.Sprint(err) != c.err {
			t.Fatal(err)
		}
		var got struct {
			Findings []struct{ Kind, Kernel string }
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(out.String(), c.out)), &got); err != nil || got.Findings == nil {
			t.Fatalf("%s: %v\n%s", c.what, err, &out)
		}
		if told := fmt.Sprint(got.Findings); told != map[bool]string{true: "[{race race}]", false: "[]"}[c.want != ""] {
			t.Errorf("%s: as JSON %s", c.what, told)
		}
	}
}

// exec runs a program and says at the end what it launched; its exit status is kept.
func TestExec(t *testing.T) {
	program, l := client(t)
	if program == "" {
		return
	}
	var out, errs bytes.Buffer
	page := filepath.Join(t.TempDir(), "cards.html")
	o := Options{Device: "virtual:a100", HTML: page, Program: []string{program, "threads"}, Stdout: &out, Stderr: &errs, Progress: func(string) {}}
	if err := execWith(t.Context(), o, l); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	if text := out.String(); !strings.HasPrefix(text, "128000\n\n") || !strings.Contains(text, "4,000 launches of count on virtual a100, EXECUTED") {
		t.Errorf("the output is\n%s%s", text, &errs)
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("MODELLED")) {
		t.Errorf("the page: %v\n%s", err, html)
	}
	o.Program = []string{"sh", "-c", "exit 7"}
	var ended *exec.ExitError
	if err := execWith(t.Context(), o, l); !errors.As(err, &ended) || ended.ExitCode() != 7 {
		t.Errorf("a program that ends with 7: %v", err)
	}
}

// Bad input to exec, whole.
func TestBadExec(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "exec: which program?\nusage: memwall exec [--device virtual:a100] -- PROGRAM ARGUMENTS …"},
		{Options{Device: "virtual:gtx", Program: []string{"true"}}, "exec: there is no virtual GPU \"virtual:gtx\"\nthe devices are virtual:"},
		{Options{Device: "cuda", Program: []string{"true"}}, "exec: there is no virtual GPU \"cuda\"\nthe devices are virtual:"},
	} {
		if err := Exec(t.Context(), c.o); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}
