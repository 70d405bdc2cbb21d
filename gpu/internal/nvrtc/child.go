package nvrtc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// childVariable names the library in the environment of the child; whoever has it set is the child.
const childVariable = "MEMWALL_NVRTC_CHILD"

// memoryVariable is the child's memory limit in bytes.
const memoryVariable = "MEMWALL_NVRTC_MEMORY"

// replyMark stands before the reply, in case the compiler itself prints to standard output.
const replyMark = "\n--memwall-nvrtc-reply--\n"

// request is what the child is asked, as JSON on its standard input, which then stays open: its end tells the child that
// the parent is gone.
type request struct {
	Name    string
	Text    string
	Headers map[string]string `json:",omitempty"`
	Options []string
}

func (r *request) wantsCubin() bool { return strings.HasPrefix(r.Options[0], "--gpu-architecture=sm_") }

// reply is the child's answer.
type reply struct {
	Status  int    // nvrtcResult; 0 is success
	Problem string // what Status means
	Version string // "12.9"
	Log     string
	PTX     string
	Cubin   []byte
	Archs   []int32 // that this NVRTC compiles for, where an option was refused
}

// canBeChild tells that ChildMain was called, so that starting our own binary again leads there.
var canBeChild atomic.Bool

// children bounds how many compilers run at once.
var children = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))

// ChildMain returns at once unless this process is a compiler child; then it compiles and exits. Every main and every
// TestMain of a program that compiles CUDA C++ calls it first.
func ChildMain() {
	canBeChild.Store(true)
	path, is := os.LookupEnv(childVariable)
	if !is {
		return
	}
	os.Exit(childMain(path, os.Stdin, os.Stdout))
}

func childMain(path string, in io.Reader, out io.Writer) int {
	memory, _ := strconv.ParseInt(os.Getenv(memoryVariable), 10, 64) // absent or broken: no limit, as the parent's own check of Memory
	answer := &reply{Status: -1}
	var r request
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&r); err != nil || len(r.Options) == 0 {
		answer.Problem = "the request cannot be read"
	} else if l, err := openLibrary(path); err != nil {
		answer.Problem = err.Error()
	} else if err := limitResources(memory); err != nil {
		answer.Problem = "the limits cannot be set: " + err.Error()
	} else {
		go func() {
			io.Copy(io.Discard, in)
			os.Exit(3) // the parent is gone or gave up
		}()
		answer = l.compile(&r)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return 4
	}
	if _, err := out.Write(append([]byte(replyMark), data...)); err != nil {
		return 4
	}
	return 0
}

// runChild has a child compile the request within the source's limits.
func runChild(ctx context.Context, install *installation, r *request, s Source) (*reply, error) {
	if os.Getenv(childVariable) != "" {
		return nil, fmt.Errorf("nvrtc: %w: it did not call gpu.ChildMain first", errChild)
	}
	if !canBeChild.Load() {
		return nil, errors.New("nvrtc: this program's main (or TestMain) must call gpu.ChildMain first, so that it can start itself as the compiler")
	}
	select {
	case children <- struct{}{}:
		defer func() { <-children }()
	case <-ctx.Done():
		return nil, fmt.Errorf("nvrtc: %s: interrupted", s.Name)
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("nvrtc: %w: %w", errChild, err)
	}
	folder, err := os.MkdirTemp("", "memwall-nvrtc-") // an empty folder: relative paths find nothing
	if err != nil {
		return nil, fmt.Errorf("nvrtc: %w: %w", errChild, err)
	}
	defer os.RemoveAll(folder)
	limited, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, executable)
	cmd.Dir = folder
	cmd.Env = append(childEnvironment(), childVariable+"="+install.library, memoryVariable+"="+strconv.FormatInt(s.Memory, 10))
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("nvrtc: %w: %w", errChild, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("nvrtc: %w: %w", errChild, err)
	}
	encodeErr := json.NewEncoder(stdin).Encode(r)
	waitErr := cmd.Wait() // also closes stdin
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("nvrtc: %s: interrupted", s.Name)
	case limited.Err() != nil:
		return nil, fmt.Errorf("nvrtc: %s: compiling took more than %v and was stopped\nmake the source smaller (fewer template instances, less unrolling)", s.Name, s.Timeout)
	case waitErr != nil:
		return nil, childDied(s, waitErr, stderr.String())
	case encodeErr != nil:
		return nil, fmt.Errorf("nvrtc: %w: %w", errChild, encodeErr)
	}
	_, data, found := bytes.Cut(stdout.Bytes(), []byte(replyMark))
	var answer reply
	if !found || json.Unmarshal(data, &answer) != nil {
		return nil, fmt.Errorf("nvrtc: %w: it answered %d bytes that are no reply", errChild, stdout.Len())
	}
	if answer.Status == -1 {
		return nil, fmt.Errorf("nvrtc: %w: %s", errChild, answer.Problem)
	}
	return &answer, nil
}

// childDied turns the end of a child that gave no answer into an error: out of memory where that is the likely reason.
func childDied(s Source, err error, stderr string) error {
	for _, sign := range []string{"bad_alloc", "out of memory", "cannot allocate memory", "failed to allocate", "Cannot allocate memory"} {
		if strings.Contains(stderr, sign) {
			return outOfMemory(s)
		}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	if line != "" {
		line = ": " + line
	}
	return fmt.Errorf("nvrtc: %s: %w (%v)%s\nthe session is not affected; a source that crashes the compiler is NVIDIA's fault, try it in smaller pieces", s.Name, errChild, err, line)
}

func outOfMemory(s Source) error {
	return fmt.Errorf("nvrtc: %s: the compiler needed more than its %d MiB of memory and was stopped\nmake the source smaller (fewer template instances, less unrolling)", s.Name, s.Memory>>20)
}

// childEnvironment is ours without what would change a compiler's options behind our back.
func childEnvironment() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "NVCC_") || strings.HasPrefix(name, "NVRTC_") || name == childVariable || name == memoryVariable || name == "GOTRACEBACK" {
			continue
		}
		env = append(env, v)
	}
	return env
}
