package nvrtc

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	name, err := libraryName()
	if err != nil || runtime.GOOS == "windows" {
		t.Logf("not checked on %s: %v", runtime.GOOS, err)
		return
	}
	root := t.TempDir()
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	site := filepath.Join(root, "python", "abc", "lib", "python3.11", "site-packages", "nvidia")
	library := filepath.Join(site, "cuda_nvrtc", "lib", name)
	writeFile(t, library, "not really")
	writeFile(t, filepath.Join(site, "cuda_runtime", "include", "cuda_fp16.h"), "")
	writeFile(t, filepath.Join(site, "cuda_cccl", "include", "cuda", "std", "cstdint"), "")
	for _, variables := range [][2]string{
		{"MEMWALL_CACHE", root}, {"MEMWALL_NVRTC", library}, {"MEMWALL_NVRTC", filepath.Dir(library)}, {"MEMWALL_NVRTC", filepath.Join(root, "python", "abc")},
	} {
		t.Setenv("MEMWALL_NVRTC", "")
		t.Setenv("MEMWALL_CACHE", t.TempDir())
		t.Setenv(variables[0], variables[1])
		i, err := find()
		if err != nil {
			t.Fatalf("%v: %v", variables, err)
		}
		if i.library != library || len(i.headers) != 2 || i.headers[0] != filepath.Join(site, "cuda_runtime", "include") {
			t.Errorf("%v: %+v", variables, i)
		}
	}
	t.Setenv("MEMWALL_NVRTC", root)
	want := "nvrtc: MEMWALL_NVRTC is \"" + root + "\", where there is no " + name + "\n" +
		"CUDA C++ needs NVIDIA's run-time compiler (NVRTC 12): `memwall lab` installs it into the project's Python environment, " +
		"or `pip install nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-cccl-cu12==12.9.27` and set MEMWALL_NVRTC " +
		"to the folder that holds " + name + ". The CUDA kernels that memwall ships, and PTX, run without it."
	if err := Available(); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestNoLibrary opens a file that is no library: an error, not a crash of the session.
func TestNoLibrary(t *testing.T) {
	name, err := libraryName()
	if err != nil {
		t.Logf("not checked: %v", err)
		return
	}
	path := filepath.Join(t.TempDir(), name)
	writeFile(t, path, "not an ELF file")
	t.Setenv("MEMWALL_NVRTC", path)
	t.Setenv("MEMWALL_CACHE", t.TempDir())
	_, err = Compile(t.Context(), Source{Name: "k.cu", Text: "__global__ void f() {}", Arch: "sm_80"})
	want := "nvrtc: the CUDA C++ compiler's process failed: cannot open " + path + ": "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v\nwant %s…", err, want)
	}
}

func TestCacheIgnoresCorruptEntries(t *testing.T) {
	root := t.TempDir()
	t.Setenv("MEMWALL_CACHE", root)
	key := cacheKey(&installation{stamp: "x"}, &request{Name: "k.cu", Text: "text", Options: []string{"-w"}})
	r := &Result{PTX: ".version 7.0", Cubin: []byte{1, 2, 3}, Functions: map[string]Facts{"f": {Registers: 8}}, Log: []Diagnostic{{Severity: "warning", Message: "<m>"}}}
	cacheStore(key, r)
	path, _ := cachePath(key)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := cacheLoad(key)
	if got == nil || !got.Cached || got.PTX != r.PTX || got.Functions["f"].Registers != 8 || string(got.Cubin) != "\x01\x02\x03" || got.Log[0].Message != "<m>" {
		t.Fatalf("got %+v", got)
	}
	for i, bad := range []string{"", "{", string(data[:len(data)/2]), strings.Replace(string(data), "7.0", "7.1", 1), "null", "[]"} {
		writeFile(t, path, bad)
		if got := cacheLoad(key); got != nil {
			t.Errorf("corrupt entry %d gives %+v", i, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	writeFile(t, filepath.Join(root, "file"), "")
	t.Setenv("MEMWALL_CACHE", filepath.Join(root, "file")) // cannot be a folder
	cacheStore(key, r)
	if cacheLoad(key) != nil {
		t.Error("a cache that cannot be")
	}
	other := cacheKey(&installation{stamp: "y"}, &request{Name: "k.cu", Text: "text", Options: []string{"-w"}})
	if other == key {
		t.Error("another compiler has the same key")
	}
}

// TestChildProtocol runs the child in this process: what is no request is answered, not hung on.
func TestChildProtocol(t *testing.T) {
	for _, in := range []string{"", "{", "{}", "[1, 2]"} {
		var out strings.Builder
		if code := childMain("/nowhere", strings.NewReader(in), &out); code != 0 {
			t.Errorf("%q: exit %d", in, code)
		}
		if want := replyMark + `{"Status":-1,"Problem":"the request cannot be read"`; !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q: %s", in, out.String())
		}
	}
}

func TestWithoutChildMain(t *testing.T) {
	canBeChild.Store(false)
	defer canBeChild.Store(true)
	_, err := runChild(t.Context(), &installation{library: "/nowhere"}, &request{Options: []string{"-w"}}, Source{Name: "k.cu"})
	want := "nvrtc: this program's main (or TestMain) must call gpu.ChildMain first, so that it can start itself as the compiler"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	t.Setenv(childVariable, "/nowhere")
	_, err = runChild(t.Context(), &installation{library: "/nowhere"}, &request{Options: []string{"-w"}}, Source{Name: "k.cu"})
	if want := "nvrtc: the CUDA C++ compiler's process failed: it did not call gpu.ChildMain first"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
