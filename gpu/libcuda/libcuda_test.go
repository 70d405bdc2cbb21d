package libcuda

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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

// Ctrl-C ends a program that sits in an endless CUDA kernel.
func TestInterrupt(t *testing.T) {
	program, l := client(t)
	if program == "" {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := command(ctx, program, l, "spin")
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(pipe); lines.Scan() && lines.Text() != "spinning"; {
	}
	time.Sleep(300 * time.Millisecond)
	began := time.Now()
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err == nil || err.Error() != "signal: interrupt" || time.Since(began) > 5*time.Second {
		t.Errorf("ended with %v after %v", err, time.Since(began))
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
