package vgpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// bulkHeader begins a kernel of one warp with 16 KiB of shared memory at s and an mbarrier at bar that one arrival completes.
const bulkHead = `.visible .entry k(.param .align 64 .b8 map[128], .param .u64 in, .param .u64 out) {
.reg .pred %p, %e; .reg .b32 %r<16>, %s, %bar, %t, %v; .reg .b16 %h<4>; .reg .b64 %in, %out, %q, %map, %w;
.shared .align 1024 .b8 s[16384]; .shared .align 8 .b64 bar;
mov.u32 %s, s; mov.u32 %bar, bar; mov.u32 %t, %tid.x; setp.eq.u32 %e, %t, 0;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.b64 %map, map; cvta.param.u64 %map, %map;
mov.u32 %v, 0; FILL: mad.lo.u32 %r0, %t, 4, %v; add.u32 %r1, %s, %r0; mov.u32 %r2, 0xa5a5a5a5; st.shared.u32 [%r1], %r2; add.u32 %v, %v, 128; setp.lt.u32 %p, %v, 16384; @%p bra FILL;
@%e mbarrier.init.shared.b64 [%bar], 1; fence.proxy.async; bar.sync 0;
`

// bulkWait waits for the barrier's first phase; bulkDump copies shared memory to out.
const bulkWait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0; @!%p bra WAIT;\n"
const bulkDump = `mov.u32 %v, 0; DUMP: mad.lo.u32 %r0, %t, 4, %v; add.u32 %r1, %s, %r0; ld.shared.u32 %r2, [%r1]; cvt.u64.u32 %q, %r0; add.s64 %q, %out, %q; st.global.u32 [%q], %r2; add.u32 %v, %v, 128; setp.lt.u32 %p, %v, 16384; @%p bra DUMP;
ret;
}
`

func bulkText(d *Device, body string) string {
	return fmt.Sprintf(".version 8.8\n.target sm_%d%da\n.address_size 64\n", d.profile.Major, d.profile.Minor) + bulkHead + body
}

// runBulk launches a kernel of one warp and gives what it left in out.
func runBulk(t *testing.T, d *Device, body string, m *driver.TensorMap, in driver.Address) ([]byte, *driver.Result, error) {
	t.Helper()
	out := upload(t, d, make([]byte, 16384))
	f := fn(t, loadModule(t, d, bulkText(d, body)), "k")
	args := make([]byte, 144)
	if m != nil {
		b := m.Bytes()
		copy(args, b[:])
	}
	binary.LittleEndian.PutUint64(args[128:], uint64(in))
	binary.LittleEndian.PutUint64(args[136:], uint64(out))
	r, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(1), CTA: dim(32), Args: args, Wait: true, Count: true})
	if err != nil {
		return nil, nil, err
	}
	return download[byte](t, d, out, 16384), r, nil
}

// ramp is n bytes that no two places near each other share.
func ramp(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(41, 42))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// A plain copy lands when its mbarrier is waited for: whole, at its place, counted once.
func TestBulkCopy(t *testing.T) {
	d := openTest(t, testProfile())
	data := ramp(8192)
	in := upload(t, d, data)
	issue := "@%e mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 4096; add.u32 %r3, %s, 256; add.s64 %q, %in, 1040;\n" +
		"@%e cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%q], 4096, [%bar];\n"
	got, r, err := runBulk(t, d, issue+bulkWait+bulkDump, nil, in)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		want := byte(0xa5)
		if i >= 256 && i < 256+4096 {
			want = data[1040+i-256]
		}
		if v != want {
			t.Fatalf("byte %d is %#x, want %#x", i, v, want)
		}
	}
	// 4096 bytes from byte 16 of a sector on touch 129 sectors of 33 lines.
	if g := r.Counts.GlobalLoad; g.Requests != 1 || g.Bytes != 4096 || g.Sectors != 129 || g.Lines != 33 || g.IdealSectors != 128 {
		t.Errorf("%+v", g)
	}
	if s := r.Counts.SharedStore; s.Bytes != 4096+16384 || s.Wavefronts != 32+128 {
		t.Errorf("%+v", s)
	}
	// Without the wait nothing has arrived yet.
	if got, _, err = runBulk(t, d, issue+bulkDump, nil, in); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != 0xa5 {
			t.Fatalf("not waited for, byte %d is %#x already", i, v)
		}
	}
}

// Copies out of shared memory read it when their group is waited for.
func TestBulkStore(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		wait, change bool
		want         byte
	}{{true, true, 0xa5}, {false, true, 0x11}, {false, false, 0xa5}} {
		body := "@%e cp.async.bulk.global.shared::cta.bulk_group [%in], [%s], 512;\n@%e cp.async.bulk.commit_group;\n"
		if c.wait {
			body += "@%e cp.async.bulk.wait_group.read 0;\nbar.sync 0;\n"
		}
		if c.change {
			body += "mad.lo.u32 %r0, %t, 4, %s; mov.u32 %r1, 0x11111111; st.shared.u32 [%r0], %r1;\n"
		}
		in := upload(t, d, make([]byte, 512))
		_, r, err := runBulk(t, d, body+"ret;\n}\n", nil, in)
		if err != nil {
			t.Fatal(err)
		}
		if got := download[byte](t, d, in, 128); got[0] != c.want || got[127] != c.want {
			t.Errorf("%+v: %#x … %#x", c, got[0], got[127])
		}
		if g := r.Counts.GlobalStore; g.Requests != 1 || g.Bytes != 512 || g.Sectors != 16 {
			t.Errorf("%+v", g)
		}
	}
}

// Reductions into global memory, every operation and type, against arithmetic on single values.
func TestBulkReduce(t *testing.T) {
	d := openTest(t, testProfile())
	random := rand.New(rand.NewPCG(43, 44))
	for op, types := range bulkReductions {
		for _, typ := range strings.Fields(types[1]) {
			size := typeBytes(typ)
			n := 512 / size
			old, added := make([]float64, n), make([]float64, n)
			a, b := make([]byte, 512), make([]byte, 512)
			for i := range n {
				old[i], added[i] = float64(random.IntN(100)), float64(random.IntN(100))
				if typ[0] == 's' || isFloatType(typ) {
					old[i] -= 50
					added[i] -= 50
				}
				put := func(buffer []byte, v float64) {
					code := encodeElement(typ, v)
					if !isFloatType(typ) {
						code = uint64(int64(v))
					}
					for k := range size {
						buffer[i*size+k] = byte(code >> (8 * k))
					}
				}
				put(a, old[i])
				put(b, added[i])
			}
			global, source := upload(t, d, a), upload(t, d, b)
			noftz := ""
			if op == "add" && (typ == "f16" || typ == "bf16") {
				noftz = ".noftz"
			}
			// The summands come in by a copy; the source's address is the second parameter.
			body := "@%e mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 512;\n@%e cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 512, [%bar];\n" + bulkWait +
				fmt.Sprintf("mov.u64 %%q, %d;\n@%%e cp.reduce.async.bulk.global.shared::cta.bulk_group.%s%s.%s [%%q], [%%s], 512;\n@%%e cp.async.bulk.commit_group;\n@%%e cp.async.bulk.wait_group 0;\nret;\n}\n", global, op, noftz, typ)
			if _, _, err := runBulk(t, d, body, nil, source); err != nil {
				t.Fatalf("%s.%s: %v", op, typ, err)
			}
			got := download[byte](t, d, global, 512)
			for i := range n {
				var code uint64
				for k := range size {
					code |= uint64(got[i*size+k]) << (8 * k)
				}
				value := decodeElement(typ, code)
				if !isFloatType(typ) {
					value = float64(int64(code << (64 - 8*size) >> (64 - 8*size)))
					if typ[0] == 's' {
						value = float64(int64(code<<(64-8*size)) >> (64 - 8*size))
					}
				}
				x, y := old[i], added[i]
				var want float64
				switch op {
				case "add":
					want = x + y
				case "min":
					want = math.Min(x, y)
				case "max":
					want = math.Max(x, y)
				case "inc":
					if want = x + 1; x >= y {
						want = 0
					}
				case "dec":
					if want = x - 1; x == 0 || x > y {
						want = y
					}
				case "and":
					want = float64(int(x) & int(y))
				case "or":
					want = float64(int(x) | int(y))
				case "xor":
					want = float64(int(x) ^ int(y))
				}
				if !(value == want) {
					t.Fatalf("%s.%s of %v and %v is %v, want %v", op, typ, x, y, value, want)
				}
			}
		}
	}
}

// boxCase is a tensor map with coordinates.
type boxCase struct {
	m       driver.TensorMap
	at      [5]int64
	offsets [3]int64
}

// reference gives shared memory after a load of the box: every element by its coordinates, every 16-byte chunk where the
// swizzle's figure (PTX ISA 5.5.6) puts it. inside tells of each element of the packed box whether it lies in the tensor.
func (c *boxCase) reference(data []byte, start int, visit func(global, shared int)) []byte {
	m := &c.m
	size := m.Type.Bytes()
	image := make([]byte, 16384)
	for i := range image {
		image[i] = 0xa5
	}
	place := func(packed int) int {
		at := start + packed
		line, chunk := at/128, at%128/16
		switch m.Swizzle {
		case driver.Swizzle128:
			chunk ^= line % 8
		case driver.Swizzle64:
			chunk ^= line % 4
		case driver.Swizzle32:
			chunk ^= line % 2
		}
		return line*128 + chunk*16 + at%16
	}
	element := func(packed int, coords []int64) {
		global, inside := 0, true
		for i, x := range coords {
			inside = inside && x >= 0 && uint64(x) < m.Dims[i]
			stride := uint64(size)
			if i > 0 {
				stride = m.Strides[i-1]
			}
			global += int(x) * int(stride)
		}
		to := place(packed)
		for k := range size {
			switch {
			case inside:
				image[to+k] = data[global+k]
			case !m.FillNaN:
				image[to+k] = 0
			default:
				image[to+k] = 0xff
				if k == size-1 {
					image[to+k] = 0x7f
				}
			}
		}
		if inside && visit != nil {
			visit(global, to)
		}
	}
	packed := 0
	if m.Im2col {
		p := append([]int64(nil), c.at[1:m.Rank]...)
		for range m.Pixels {
			for ch := range int64(m.Channels) {
				coords := []int64{c.at[0] + ch}
				for i := range m.Rank - 2 {
					coords = append(coords, p[i]+c.offsets[i])
				}
				element(packed, append(coords, p[m.Rank-2]))
				packed += size
			}
			carry := true
			for i := 0; i < m.Rank-2 && carry; i++ {
				p[i] += int64(m.ElementStrides[1+i])
				if carry = p[i] > int64(m.Dims[1+i])-1+int64(m.UpperCorner[i]); carry {
					p[i] = int64(m.LowerCorner[i])
				}
			}
			if carry {
				p[m.Rank-2]++
			}
		}
		return image
	}
	var walk func(i int, coords [5]int64)
	walk = func(i int, coords [5]int64) {
		step := int64(1)
		if i > 0 {
			step = int64(m.ElementStrides[i])
		}
		for j := int64(0); j < int64(m.Box[i]); j += step {
			coords[i] = c.at[i] + j
			if i > 0 {
				walk(i-1, coords)
				continue
			}
			element(packed, coords[:m.Rank])
			packed += size
		}
	}
	walk(m.Rank-1, [5]int64{})
	return image
}

// coordinates writes a copy's coordinates and im2col offsets.
func (c *boxCase) coordinates() (text, offsets string) {
	var list, more []string
	for _, x := range c.at[:c.m.Rank] {
		list = append(list, fmt.Sprint(x))
	}
	if c.m.Im2col {
		for _, x := range c.offsets[:c.m.Rank-2] {
			more = append(more, fmt.Sprint(x))
		}
		offsets = ", {" + strings.Join(more, ", ") + "}"
	}
	return "{" + strings.Join(list, ", ") + "}", offsets
}

func boxCases() []boxCase {
	ones := [5]uint32{1, 1, 1, 1, 1}
	var list []boxCase
	tiled := func(typ driver.TensorMapType, swizzle driver.TensorMapSwizzle, dims, box []uint64, at ...int64) *boxCase {
		m := driver.TensorMap{Type: typ, Rank: len(dims), Swizzle: swizzle, ElementStrides: ones}
		stride := uint64(typ.Bytes())
		for i := range 5 {
			m.Dims[i] = 1
		}
		for i, n := range dims {
			m.Dims[i], m.Box[i] = n, uint32(box[i])
			stride = (stride*n + 15) / 16 * 16
			if i < 4 {
				m.Strides[i] = stride
			}
		}
		c := boxCase{m: m}
		copy(c.at[:], at)
		list = append(list, c)
		return &list[len(list)-1]
	}
	for s := range driver.Swizzle128 + 1 {
		tiled(driver.TensorF16, s, []uint64{128, 40}, []uint64{uint64(s.Span()) / 2, 32}, 32, 3)
		tiled(driver.TensorU8, s, []uint64{200, 40}, []uint64{uint64(s.Span()), 16}, -5, 30)
		tiled(driver.TensorF32, s, []uint64{40, 9, 7}, []uint64{uint64(s.Span()) / 4, 4, 3}, 34, -2, 5).m.FillNaN = true
	}
	tiled(driver.TensorU16, 0, []uint64{300}, []uint64{256}, 100)
	tiled(driver.TensorF64, 0, []uint64{20, 5}, []uint64{16, 8}, -3, -2).m.FillNaN = true
	tiled(driver.TensorS64, driver.Swizzle64, []uint64{20, 5, 3, 2}, []uint64{8, 2, 2, 2}, 15, 4, 2, 1)
	tiled(driver.TensorBF16, driver.Swizzle32, []uint64{32, 3, 3, 2, 4}, []uint64{16, 2, 2, 2, 2}, 24, 1, 2, 0, -1).m.FillNaN = true
	tiled(driver.TensorU64, 0, []uint64{8, 4, 3, 2, 2}, []uint64{4, 3, 2, 2, 2}, 2, 1, 0, 0, 0)
	strided := tiled(driver.TensorF16, driver.Swizzle128, []uint64{64, 30, 6}, []uint64{64, 15, 4}, 0, 4, 1)
	strided.m.ElementStrides = [5]uint32{3, 2, 3, 1, 1}
	conv := func(rank int, dims []uint64, stride uint32, swizzle driver.TensorMapSwizzle, offsets [3]int64, at ...int64) {
		c := tiled(driver.TensorF16, swizzle, dims, []uint64{1, 1, 1, 1, 1}[:rank], at...)
		c.m.Im2col, c.offsets = true, offsets
		c.m.Channels, c.m.Pixels = 32, 24
		c.m.Box = [5]uint32{}
		for i := range rank - 2 { // a filter of three with a border of one
			c.m.LowerCorner[i], c.m.UpperCorner[i] = -1, -1
			c.m.ElementStrides[1+i] = stride
		}
	}
	conv(4, []uint64{64, 9, 6, 3}, 1, driver.Swizzle64, [3]int64{0, 2}, 32, -1, -1, 0)
	conv(4, []uint64{64, 9, 6, 3}, 1, driver.SwizzleNone, [3]int64{1, 1}, 0, 5, 4, 1)
	conv(4, []uint64{40, 9, 6, 3}, 2, driver.Swizzle64, [3]int64{2, 0}, 16, 3, 1, 2)
	conv(3, []uint64{32, 20, 4}, 1, driver.Swizzle64, [3]int64{2}, 0, 10, 2)
	conv(5, []uint64{32, 4, 3, 5, 2}, 1, driver.Swizzle64, [3]int64{1, 2, 0}, 0, 2, 0, 3, 0)
	return list
}

// Tensor copies of 1 to 5 dimensions, tiled and im2col, with every swizzle, parts outside and element strides: loads element
// by element, then stores of the same box into another tensor.
func TestTensorCopy(t *testing.T) {
	d := openTest(t, testProfile())
	for k, c := range boxCases() {
		data := ramp(65536)
		in := upload(t, d, data)
		c.m.Address = in
		if err := c.m.Check(); err != nil {
			t.Fatalf("%d: %v", k, err)
		}
		const start = 2048
		want := c.reference(data, start, nil)
		mode, at, offsets := "tile", "", ""
		at, offsets = c.coordinates()
		if c.m.Im2col {
			mode = "im2col"
		}
		body := fmt.Sprintf("@%%e mbarrier.arrive.expect_tx.shared.b64 _, [%%bar], %d; add.u32 %%r3, %%s, %d;\n"+
			"@%%e cp.async.bulk.tensor.%dd.shared::cluster.global.%s.mbarrier::complete_tx::bytes [%%r3], [%%map, %s], [%%bar]%s;\n", boxBytes(&c.m), start, c.m.Rank, mode, at, offsets) + bulkWait
		got, r, err := runBulk(t, d, body+bulkDump, &c.m, 0)
		if err != nil {
			t.Fatalf("%d %v: %v", k, &c.m, err)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%d %v at %s%s: byte %d of shared memory is %#x, want %#x", k, &c.m, at, offsets, i, got[i], want[i])
			}
		}
		if g := r.Counts.GlobalLoad; g.Requests != 1 {
			t.Errorf("%d: %+v", k, g)
		}
		if c.m.Im2col {
			continue
		}
		// Store the box of shared memory as it is into a cleared tensor: elements inside arrive, others stay away.
		stored := make([]byte, 65536)
		c.m.Address = upload(t, d, stored)
		c.reference(stored, start, func(global, shared int) {
			for b := range c.m.Type.Bytes() {
				stored[global+b] = byte(shared + b)
			}
		})
		body = "mov.u32 %v, 0; NUMBER: mad.lo.u32 %r0, %t, 4, %v; and.b32 %r2, %r0, 0xff; mul.lo.u32 %r2, %r2, 0x01010101; add.u32 %r2, %r2, 0x03020100; add.u32 %r1, %s, %r0; st.shared.u32 [%r1], %r2; add.u32 %v, %v, 128; setp.lt.u32 %p, %v, 16384; @%p bra NUMBER;\n" +
			fmt.Sprintf("bar.sync 0; add.u32 %%r3, %%s, %d;\n@%%e cp.async.bulk.tensor.%dd.global.shared::cta.tile.bulk_group [%%map, %s], [%%r3];\n@%%e cp.async.bulk.commit_group;\n@%%e cp.async.bulk.wait_group 0;\nret;\n}\n", start, c.m.Rank, at)
		if _, _, err := runBulk(t, d, body, &c.m, 0); err != nil {
			t.Fatalf("%d %v: store: %v", k, &c.m, err)
		}
		for i, v := range download[byte](t, d, c.m.Address, 65536) {
			if v != stored[i] {
				t.Fatalf("%d %v: stored byte %d is %#x, want %#x", k, &c.m, i, v, stored[i])
			}
		}
	}
}
