// Package quanttest reads ../shared/cases/quant, packed weights made by other implementations (GGML, ml_dtypes, auto-gptq,
// autoawq), for the tests of the reference encoders and of the CUDA kernels.
package quanttest

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Block is a case of a block format: values, GGML's bytes for them, other bytes that are also right where there are some, and
// what the bytes decode to.
type Block struct {
	Case   string
	Input  string `json:"input_f32_hex"`
	Packed string `json:"packed_hex"`
	Second string `json:"second_packed_hex"`
	Values string `json:"dequant_f32_hex"`
}

// Small is a case of a small float; Kind says which of the fields are there.
type Small struct {
	Format, Kind string
	Input        string `json:"input_f32_hex"`
	Packed       string `json:"packed_hex"`
	Saturated    string `json:"packed_satfinite_hex"`
	Values       string `json:"dequant_f32_hex"`
	Zlib         string `json:"zlib_base64"`
}

// Cases gives the lines of a file. Where the folder is not there it says so in one line and gives none.
func Cases[T any](t *testing.T, name string) []T {
	t.Helper()
	file, err := os.Open(filepath.Join(root(t), "..", "shared", "cases", "quant", name))
	if err != nil {
		t.Logf("not compared with other implementations: %v", err)
		return nil
	}
	defer file.Close()
	var list []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	if err := lines.Err(); err != nil || len(list) == 0 {
		t.Fatalf("%s: %d cases, %v", name, len(list), err)
	}
	return list
}

// root is the top folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("no go.mod above the test's folder: %v", err)
	return ""
}

// Hex are the bytes of a field.
func Hex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Floats are the f32 numbers of a field.
func Floats(t *testing.T, s string) []float32 {
	t.Helper()
	b := Hex(t, s)
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// AllHalves are the codes of all 65,536 f16 numbers, from a field that holds them deflated.
func AllHalves(t *testing.T, s string) []byte {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil || len(all) != 1<<16 {
		t.Fatalf("%d bytes, %v", len(all), err)
	}
	return all
}
