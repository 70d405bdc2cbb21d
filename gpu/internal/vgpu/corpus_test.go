package vgpu

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// corpusCase is a CUDA kernel as a compiler emits it with a launch, and what numpy says it computes; testdata/corpus/common.py
// describes the format.
type corpusCase struct {
	Name, PTX, Entry string
	Grid, Block      [3]uint32
	Shared           int
	Arch             int
	Error            string
	Print            *string
	Args             []corpusArgument
}

type corpusArgument struct {
	Value, Type, Data, Expect string
	N                         int
	Rtol, Atol                *float64
}

type corpus struct {
	Blobs map[string][]byte
	Cases []corpusCase
	dir   string
}

func gunzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readCorpus(t testing.TB, producer string) *corpus {
	t.Helper()
	c := &corpus{dir: filepath.Join("testdata", "corpus", producer)}
	if err := json.Unmarshal(gunzip(t, filepath.Join(c.dir, "cases.json.gz")), c); err != nil {
		t.Fatal(err)
	}
	if len(c.Cases) == 0 {
		t.Fatalf("no cases of %s", producer)
	}
	return c
}

// elementSize is the size of a numpy type such as "f4".
func elementSize(t string) int { return int(t[len(t)-1] - '0') }

// floatElement reads an element as a floating-point number.
func floatElement(t string, b []byte) float64 {
	switch t {
	case "f2":
		return float64(halfToFloat(binary.LittleEndian.Uint16(b)))
	case "f4":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case "f8":
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	panic("no floating-point type: " + t)
}

// differ names the first element in which a buffer is not what it must be.
func (a *corpusArgument) differ(have, want []byte) string {
	size := elementSize(a.Type)
	if a.Type == "c8" || a.Type == "c1" { // c1 is the end of c16
		return "complex buffers are given as floats"
	}
	for i := 0; i < len(want); i += size {
		h, w := have[i:i+size], want[i:i+size]
		if a.Rtol == nil {
			if !bytes.Equal(h, w) {
				if a.Type[0] == 'f' {
					return fmt.Sprintf("element %d is %v (%x), want %v (%x)", i/size, floatElement(a.Type, h), h, floatElement(a.Type, w), w)
				}
				return fmt.Sprintf("element %d is %x, want %x (bytes, lowest first)", i/size, h, w)
			}
			continue
		}
		x, y := floatElement(a.Type, h), floatElement(a.Type, w)
		if x == y || x != x && y != y {
			continue
		}
		if !(math.Abs(x-y) <= *a.Atol+*a.Rtol*math.Abs(y)) || math.IsInf(y, 0) {
			return fmt.Sprintf("element %d is %v, want %v within %g + %g of it", i/size, x, y, *a.Atol, *a.Rtol)
		}
	}
	return ""
}

// run launches the case and says what is wrong; refused is set where the module does not load.
func (c *corpusCase) run(t testing.TB, d *Device, all *corpus) (wrong string, refused bool) {
	text := string(gunzip(t, filepath.Join(all.dir, c.PTX+".ptx.gz")))
	m, err := d.LoadPTX(text, driver.LoadOptions{Name: c.PTX + ".ptx"})
	if err != nil && c.Error != "" && strings.Contains(err.Error(), c.Error) {
		return "", false
	}
	if err != nil {
		return err.Error(), true
	}
	defer m.Unload()
	f, err := m.Function(c.Entry)
	if err != nil {
		return err.Error(), true
	}
	params := f.Params()
	if len(params) != len(c.Args) {
		return fmt.Sprintf("%d arguments for %d parameters", len(c.Args), len(params)), false
	}
	var args []byte
	addresses := make([]driver.Address, len(c.Args))
	for i, a := range c.Args {
		value := all.Blobs[a.Value]
		if a.Type != "" {
			data := make([]byte, max(a.N*elementSize(a.Type), 1))
			copy(data, all.Blobs[a.Data])
			if addresses[i], err = d.Alloc(int64(len(data))); err == nil {
				err = d.CopyIn(addresses[i], data, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer d.Free(addresses[i])
			value = binary.LittleEndian.AppendUint64(nil, uint64(addresses[i]))
		}
		args = append(args, make([]byte, params[i].Offset-len(args))...)
		args = append(args, value...)
	}
	r, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(c.Grid[:]...), CTA: dim(c.Block[:]...), Shared: c.Shared, Args: args, Wait: true, Count: true,
		Cooperative: strings.HasPrefix(c.Name, "grid_sync")})
	switch {
	case c.Error != "" && err == nil:
		return "no error, want " + c.Error, false
	case c.Error != "" && strings.Contains(err.Error(), c.Error):
		return "", false
	case err != nil:
		return err.Error(), false
	}
	if c.Print != nil && r.Printed != *c.Print {
		return fmt.Sprintf("printed %q, want %q", r.Printed, *c.Print), false
	}
	for i, a := range c.Args {
		if want := all.Blobs[a.Expect]; a.Expect != "" {
			have := make([]byte, len(want))
			if err := d.CopyOut(have, addresses[i], nil); err != nil {
				t.Fatal(err)
			}
			if wrong := a.differ(have, want); wrong != "" {
				return fmt.Sprintf("argument %d: %s", i, wrong), false
			}
		}
	}
	return "", false
}

// refusals are what a module may be refused for.
var refusals = []string{"not yet: "}

// Kernels as Triton, Numba, NVRTC and clang emit them compute what numpy computes. One that needs a family which the
// virtual GPU names as not yet there is refused at load.
func TestCorpus(t *testing.T) {
	d := openTest(t, testProfile())
	for _, producer := range []string{"triton", "nvrtc", "numba", "clang", "programs"} {
		all := readCorpus(t, producer)
		waiting := 0
		for i := range all.Cases {
			c := &all.Cases[i]
			wrong, refused := c.run(t, d, all)
			if refused && slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(wrong, r) }) {
				waiting++
				t.Logf("%s/%s is refused: %s", producer, c.Name, wrong)
			} else if wrong != "" {
				t.Errorf("%s/%s: %s", producer, c.Name, wrong)
			}
		}
		if 4*waiting > len(all.Cases) {
			t.Errorf("%s: %d of %d cases are refused", producer, waiting, len(all.Cases))
		}
	}
}

var loadTest = driver.LoadOptions{Name: "test.ptx"}
