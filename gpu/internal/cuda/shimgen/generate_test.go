package shimgen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files in the repository are what the tables give.
func TestFiles(t *testing.T) {
	files, err := Files("../shim")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
		} else if strings.ReplaceAll(string(got), "\r\n", "\n") != want {
			t.Errorf("%s is not what api.txt and results.txt give: run go generate ./gpu/internal/cuda", name)
		}
	}
}

func TestBadTables(t *testing.T) {
	for text, want := range map[string]string{
		"0 go cuInit unsigned":           "api.txt:1: no line of the form: since answer cuName(arguments)",
		"0 go cuA(int a)\n0 go cuA()":    "api.txt:2: cuA stands there twice",
		"0 maybe cuA(int a)":             `api.txt: cuA is answered by "maybe": go, c, done, - or =NAME of one that Go answers`,
		"0 - cuB()\n0 =cuB cuA(int a)":   `api.txt: cuA is answered by "=cuB": go, c, done, - or =NAME of one that Go answers`,
		"0 =cuNone cuA(int a, double b)": `api.txt: cuA is answered by "=cuNone": go, c, done, - or =NAME of one that Go answers`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "api.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Files(dir)
		if err == nil || strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "") != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}
