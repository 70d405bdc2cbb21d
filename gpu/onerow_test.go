package gpu

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFormatIsOneRow adds a format to gpu/quant's table in a copy, one line, and uses it as a tensor's element type.
func TestFormatIsOneRow(t *testing.T) {
	table, err := filepath.Abs(filepath.Join("quant", "formats.go"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	const last = "boundQ8_0, encodeQ8_1, decodeQ8_1},\n"
	row := "\t{\"Q4_X\", 32, 18, \"as Q4_0, for a test\", 0, boundSymmetric(8), encodeQ4_0, decodeQ4_0},\n"
	if strings.Count(string(source), last) != 1 {
		t.Fatal("the table does not end as this test knows it")
	}
	const program = `package main

import (
	"fmt"

	"memwall/gpu"
	"memwall/gpu/quant"
)

func main() {
	f, err := quant.Get("q4_x")
	if err != nil {
		panic(err)
	}
	dtype, err := gpu.TypeNamed("q4_x")
	if err != nil {
		panic(err)
	}
	dev, err := gpu.Open("virtual:h200")
	if err != nil {
		panic(err)
	}
	values := make([]float32, 64)
	for i := range values {
		values[i] = float32(i%16 - 8)
	}
	w := dev.FromAs(dtype, values, 2, 32)
	fmt.Println(f, w.DType(), w.Bytes(), w.At(1, 31), len(quant.Formats()))
}
`
	folder := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	put := func(path, name, text string) {
		copied := filepath.Join(folder, name)
		if err := os.WriteFile(copied, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[path] = copied
	}
	put(table, "formats.go", strings.Replace(string(source), last, last+row, 1))
	put(filepath.Join(filepath.Dir(table), "onerow", "main.go"), "main.go", program)
	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(list, data, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "run", "-overlay", list, "./quant/onerow").CombinedOutput()
	if want := "Q4_X: 4.5 bits a weight (32 values in 18 B) q4_x 36 7 13\n"; err != nil || string(out) != want {
		t.Errorf("got %s, %v\nwant %s", out, err, want)
	}
}
