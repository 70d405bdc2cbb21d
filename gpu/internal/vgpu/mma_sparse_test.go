package vgpu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// sparseCase is a shape of mma.sp: its chunk, how many of it are kept (in units of `unit` elements), and for each row and
// chunk where the four bits of metadata stand: in which lane of the group, at which bit. The places are those of the
// figures of PTX ISA 9.7.14.6.2, from the selector's lane on.
type sparseCase struct {
	shape, types string
	unit, keep   int // of the four units of a chunk (two of tf32's)
	chunk        int // elements
	threads      int
	b            func(g, t, i int) (int, int)
	a            func(g, t, i int) (int, int) // in the kept elements
	na, nb       int
	place        func(g int, upper bool, chunk int) (thread, bit int)
}

// Sixteen bits of row g and above them sixteen of row g+8, four chunks a thread.
func sixteen(g int, upper bool, chunk int) (int, int) { return chunk / 4, chunk%4*4 + 16*b2i(upper) }

// Thirty-two bits of row g, in the next thread those of row g+8, eight chunks a thread.
func thirtyTwo(g int, upper bool, chunk int) (int, int) { return chunk/8*2 + b2i(upper), chunk % 8 * 4 }

var sparseTable = []sparseCase{
	{"m16n8k16", "f32.f16.f16.f32", 1, 2, 4, 1, pairsB, pairs, 4, 4, sixteen},
	{"m16n8k32", "f32.f16.f16.f32", 1, 2, 4, 2, pairsB, pairs, 8, 8, sixteen},
	{"m16n8k32", "f16.f16.f16.f16", 1, 2, 4, 2, pairsB, pairs, 8, 8, sixteen},
	{"m16n8k16", "f32.bf16.bf16.f32", 1, 2, 4, 1, pairsB, pairs, 4, 4, sixteen},
	{"m16n8k32", "f32.bf16.bf16.f32", 1, 2, 4, 2, pairsB, pairs, 8, 8, sixteen},
	{"m16n8k8", "f32.tf32.tf32.f32", 1, 1, 2, 1, doublesB, doublesA, 2, 2, sixteen},
	{"m16n8k16", "f32.tf32.tf32.f32", 1, 1, 2, 2, doublesB, doublesA, 4, 4, sixteen},
	{"m16n8k32", "s32.s8.u8.s32", 1, 2, 4, 2, bytesB, bytesA, 8, 8, thirtyTwo},
	{"m16n8k64", "s32.u8.s8.s32", 1, 2, 4, 4, bytesB, bytesA, 16, 16, thirtyTwo},
	{"m16n8k64", "f32.e4m3.e5m2.f32", 1, 2, 4, 4, bytesB, bytesA, 16, 16, thirtyTwo},
	{"m16n8k64", "s32.s4.u4.s32", 2, 2, 8, 2, nibblesB, nibblesA, 16, 16, thirtyTwo},
	{"m16n8k128", "s32.u4.s4.s32", 2, 2, 8, 4, nibblesB, nibblesA, 32, 32, thirtyTwo},
}

// Sparse products against dense ones in float64: every shape and type, every selector, both variants.
func TestSparseMatrixMultiply(t *testing.T) {
	d := openTest(t, testProfile())
	random := rand.New(rand.NewPCG(11, 12))
	for _, c := range sparseTable {
		types := strings.Split(c.types, ".")
		m, k := shapeSizes(c.shape)
		for selector := range 4 / c.threads {
			for _, variant := range []string{"sp", "sp::ordered_metadata"} {
				dense := newMatrices(random, m, 8, k, types)
				stored := &matrices{a: make([][]float64, m), b: dense.b, c: dense.c}
				metadata := make([]uint64, 32)
				for lane := range metadata { // lanes that are not selected hold anything
					metadata[lane] = uint64(random.Uint32())
				}
				for row := range m {
					for chunk := range k / c.chunk {
						code := c.thin(random, dense.a[row][chunk*c.chunk:(chunk+1)*c.chunk], &stored.a[row], variant != "sp")
						thread, bit := c.place(row%8, row >= 8, chunk)
						w := &metadata[4*(row%8)+selector*c.threads+thread]
						*w = *w&^(15<<bit) | code<<bit
					}
				}
				f := &fragments{c.shape, c.types, c.a, c.b, pairs, c.na, c.nb, 4}
				spelling := "mma." + variant + ".sync.aligned." + c.shape + ".row.col." + c.types
				got := runMatrix(t, d, f, types, spelling, stored, metadata, fmt.Sprintf(", %%meta, %d", selector))
				for lane := range 32 {
					for i := range f.nc {
						row, column := f.c(lane/4, lane%4, i)
						want := decodeElement(types[0], encodeElement(types[0], dense.product(row, column, types)))
						if got := got[lane][i]; !(got == want) {
							t.Fatalf("%s selector %d: (%d, %d) is %v, want %v", spelling, selector, row, column, got, want)
						}
					}
				}
			}
		}
	}
}

// thin clears all but the kept units of a chunk, appends those to the stored row, and gives the chunk's metadata.
func (c *sparseCase) thin(r *rand.Rand, chunk []float64, stored *[]float64, ordered bool) uint64 {
	units := len(chunk) / c.unit
	order := r.Perm(units)[:c.keep]
	if ordered && c.keep == 2 && order[0] > order[1] {
		order[0], order[1] = order[1], order[0]
	}
	kept := make([]bool, units)
	for _, u := range order {
		kept[u] = true
		*stored = append(*stored, chunk[u*c.unit:(u+1)*c.unit]...)
	}
	for i := range chunk {
		if !kept[i/c.unit] {
			chunk[i] = 0
		}
	}
	if c.keep == 1 {
		return []uint64{0b0100, 0b1110}[order[0]]
	}
	return uint64(order[0] | order[1]<<2)
}

// Metadata that name one place twice, or of the ordered variant the higher place first, stop the launch.
func TestBadSparseMetadata(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		op, types, want string
		word            uint64
	}{
		{"mma.sp", "f16", "sparse metadata 0b0101 in row 0 of A: each four bits name two different places", 0x44445},
		{"mma.sp::ordered_metadata", "f16", "sparse metadata 0b0001 in row 0 of A: each four bits name two different places, the lower first", 0x4441},
		{"mma.sp", "tf32", "sparse metadata 0b0001 in row 0 of A: each four bits are 0b0100 or 0b1110", 0x4441},
	} {
		shape, more := "m16n8k16", "%r0, %r0"
		if c.types == "tf32" {
			shape, more = "m16n8k8", "%r0, %r0"
		}
		b := more
		text := fmt.Sprintf("%s.visible .entry k() {\n.reg .b32 %%r<3>; .reg .f32 %%f<4>;\nmov.b32 %%r0, 0; mov.b32 %%r1, %d; mov.f32 %%f0, 0f00000000; mov.f32 %%f1, %%f0; mov.f32 %%f2, %%f0; mov.f32 %%f3, %%f0;\n"+
			"%s.sync.aligned.%s.row.col.f32.%s.%s.f32 {%%f0,%%f1,%%f2,%%f3}, {%s}, {%s}, {%%f0,%%f1,%%f2,%%f3}, %%r1, 0;\nret;\n}\n",
			mmaHeader(d, ""), c.word, c.op, shape, c.types, c.types, more, b)
		err := launchError(t, d, text)
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s %s: %v, want %q", c.op, c.types, err, c.want)
		}
	}
}

// launchError runs entry k of a module, without arguments, on one warp and gives its error.
func launchError(t *testing.T, d *Device, text string) error {
	t.Helper()
	_, err := d.Launch(t.Context(), &driver.Launch{Function: fn(t, loadModule(t, d, text), "k"), Grid: dim(1), CTA: dim(32), Wait: true, Count: true})
	return err
}
