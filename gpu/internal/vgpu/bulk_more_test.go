package vgpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// clusterCopies is a kernel of clusters of two CTAs: each fills 256 bytes with its rank's words and copies them, or adds
// them, into the other's shared memory, whose mbarrier counts the bytes; then it stores what it got.
func clusterCopies(d *Device, op string) string {
	return bulkTarget(d) + `.visible .entry k(.param .u64 out) .reqnctapercluster 2, 1, 1 {
.reg .pred %p, %e; .reg .b32 %r<9>, %s, %bar, %t, %there, %barthere, %other; .reg .b64 %out, %q;
.shared .align 128 .b8 s[512]; .shared .align 8 .b64 bar;
mov.u32 %t, %tid.x; mov.u32 %s, s; mov.u32 %bar, bar; setp.eq.u32 %e, %t, 0; ld.param.u64 %out, [out];
mov.u32 %r0, %cluster_ctarank; xor.b32 %other, %r0, 1; mul.lo.u32 %r1, %r0, 1000; add.u32 %r1, %r1, %t;
mad.lo.u32 %r2, %t, 4, %s; st.shared.u32 [%r2], %r1; st.shared.u32 [%r2+128], %r1; st.shared.u32 [%r2+256], 7; st.shared.u32 [%r2+384], 7;
@%e mbarrier.init.shared.b64 [%bar], 1; @%e mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256; fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
add.u32 %r3, %s, 256; mapa.shared::cluster.u32 %there, %r3, %other; mapa.shared::cluster.u32 %barthere, %bar, %other; fence.proxy.async;
@%e ` + op + ` [%there], [%s], 256, [%barthere];
WAIT: mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0; @!%p bra WAIT;
ld.shared.u32 %r4, [%r2+256]; ld.shared.u32 %r5, [%r2+384]; mad.lo.u32 %r6, %r0, 64, %t; mul.wide.u32 %q, %r6, 4; add.s64 %q, %out, %q; st.global.u32 [%q], %r4; st.global.u32 [%q+128], %r5;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
ret;
}
`
}

func bulkTarget(d *Device) string {
	return fmt.Sprintf(".version 8.8\n.target sm_%d%da\n.address_size 64\n", d.profile.Major, d.profile.Minor)
}

// Copies and reductions into the shared memory of another CTA of the cluster.
func TestClusterBulkCopy(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		op   string
		want func(other, i uint32) uint32
	}{
		{"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", func(other, i uint32) uint32 { return 1000*other + i%32 }},
		{"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32", func(other, i uint32) uint32 { return 1000*other + i%32 + 7 }},
		{"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32", func(other, i uint32) uint32 { return max(1000*other+i%32, 7) }},
		{"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor.b32", func(other, i uint32) uint32 { return (1000*other + i%32) ^ 7 }},
	} {
		out := upload(t, d, make([]uint32, 128))
		f := fn(t, loadModule(t, d, clusterCopies(d, c.op)), "k")
		if _, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(2), CTA: dim(32), Cluster: dim(2), Args: pack(t, f, out), Wait: true, Count: true}); err != nil {
			t.Fatalf("%s: %v", c.op, err)
		}
		for i, got := range download[uint32](t, d, out, 128) {
			if want := c.want(uint32(1-i/64), uint32(i)); got != want {
				t.Fatalf("%s: word %d is %d, want %d", c.op, i, got, want)
			}
		}
	}
}

// A reduction by a tensor copy takes its type from the map, and leaves out what lies outside.
func TestTensorReduce(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		typ  driver.TensorMapType
		name string
		op   string
		old  float64
		want float64 // with summands of 3
	}{{driver.TensorF32, "f32", "add", 1.5, 4.5}, {driver.TensorF16, "f16", "add", 1.5, 4.5}, {driver.TensorBF16, "bf16", "max", 1.5, 3}, {driver.TensorF64, "f64", "add", -1, 2},
		{driver.TensorS32, "s32", "min", -5, -5}, {driver.TensorU32, "b32", "or", 4, 7}, {driver.TensorU64, "b64", "and", 6, 2}, {driver.TensorU32, "u32", "inc", 3, 0}} {
		size := c.typ.Bytes()
		element := func(v float64) []byte {
			code := encodeElement(c.name, v)
			if !isFloatType(c.name) {
				code = uint64(int64(v))
			}
			b := make([]byte, 8)
			binary.LittleEndian.PutUint64(b, code)
			return b[:size]
		}
		n := 64 / size // elements of a row
		tensor := []byte(strings.Repeat(string(element(c.old)), 10*n))
		address := upload(t, d, tensor)
		m := matrixMap(address, c.typ, 10, n, 4, n, driver.SwizzleNone)
		source := upload(t, d, []byte(strings.Repeat(string(element(3)), 4*n)))
		body := "@%e mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;\n@%e cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 256, [%bar];\n" + bulkWait +
			"@%e cp.reduce.async.bulk.tensor.2d.global.shared::cta." + c.op + ".tile.bulk_group [%map, {0, 8}], [%s];\n@%e cp.async.bulk.commit_group;\n@%e cp.async.bulk.wait_group 0;\nret;\n}\n"
		if _, r, err := runBulk(t, d, body, m, source); err != nil {
			t.Fatalf("%s.%s: %v", c.op, c.name, err)
		} else if g := r.Counts.GlobalAtomic; g.Requests != 1 || g.Bytes != 128 {
			t.Errorf("%s.%s: %+v", c.op, c.name, g)
		}
		got := download[byte](t, d, address, len(tensor))
		for row := range 10 {
			want := element(c.old)
			if row >= 8 { // rows 10 and 11 of the box lie outside
				want = element(c.want)
			}
			for i := range n {
				at := (row*n + i) * size
				if string(got[at:at+size]) != string(want) {
					t.Fatalf("%s.%s: row %d: % x, want % x", c.op, c.name, row, got[at:at+size], want)
				}
			}
		}
	}
	m := matrixMap(upload(t, d, make([]byte, 640)), driver.TensorU8, 10, 64, 4, 64, driver.SwizzleNone)
	_, _, err := runBulk(t, d, "@%e cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%map, {0, 8}], [%s];\nret;\n}\n", m, 0)
	if want := "a reduction by .add of a tensor of u8: it takes u32, s32, u64, f32, f64, f16, bf16"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// Loading some types changes their elements: denormals become zero, tf32 has ten bits of fraction.
func TestTensorElementTypes(t *testing.T) {
	d := openTest(t, testProfile())
	values := []uint32{0x00000001, 0x80000001, 0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f803000, 0x7f800000, 0xff800000, 0x7fc00001, 0x7f7fffff, 0x00800000, 0xbf801001, 0, 0x80000000, 0x12345678}
	for typ, want := range map[driver.TensorMapType][]uint32{
		driver.TensorF32:     values,
		driver.TensorF32FTZ:  {0, 0x80000000, 0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f803000, 0x7f800000, 0xff800000, 0x7fc00001, 0x7f7fffff, 0x00800000, 0xbf801001, 0, 0x80000000, 0x12345678},
		driver.TensorTF32:    {0, 0x80000000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f802000, 0x3f804000, 0x7f800000, 0xff800000, 0x7fffe000, 0x7f800000, 0x00800000, 0xbf802000, 0, 0x80000000, 0x12346000},
		driver.TensorTF32FTZ: {0, 0x80000000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f802000, 0x3f804000, 0x7f800000, 0xff800000, 0x7fffe000, 0x7f800000, 0x00800000, 0xbf802000, 0, 0x80000000, 0x12346000},
	} {
		m := matrixMap(upload(t, d, values), typ, 1, 16, 1, 16, driver.SwizzleNone)
		got, _, err := runBulk(t, d, "@%e mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 64;\n@%e cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s], [%map, {0, 0}], [%bar];\n"+bulkWait+bulkDump, m, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if v := binary.LittleEndian.Uint32(got[4*i:]); v != w {
				t.Errorf("type %d: %#08x becomes %#08x, want %#08x", typ, values[i], v, w)
			}
		}
	}
}

// A map made on the device from nothing, field by field in shared memory, copied out, then used: as Triton does.
func TestTensorMapReplace(t *testing.T) {
	d := openTest(t, testProfile())
	data := ramp(4096)
	in := upload(t, d, data)
	body := `mad.lo.u32 %r0, %t, 4, %s; mov.u32 %r1, 0; st.shared.u32 [%r0], %r1; bar.warp.sync -1;
@%e tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s], %in;
@%e tensormap.replace.tile.rank.shared::cta.b1024.b32 [%s], 1;
@%e tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s], 0, 32;
@%e tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s], 1, 8;
@%e tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s], 0, 64;
@%e tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s], 1, 16;
mov.u64 %w, 128; @%e tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%s], 0, %w;
@%e tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%s], 0, 1;
@%e tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%s], 1, 1;
@%e tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%s], 0x6;
@%e tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%s], 0;
@%e tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%s], 2;
@%e tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%s], 0;
bar.warp.sync -1; add.s64 %q, %in, 2048;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%q], [%s], 128;
fence.proxy.tensormap::generic.acquire.gpu [%q], 128;
@%e mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 512; add.u32 %r3, %s, 1024;
@%e cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%q, {16, 12}], [%bar];
`
	got, _, err := runBulk(t, d, body+bulkWait+bulkDump, nil, in)
	if err != nil {
		t.Fatal(err)
	}
	c := boxCase{m: *matrixMap(0, driver.TensorF16, 16, 64, 8, 32, driver.Swizzle64), at: [5]int64{16, 12}}
	want := c.reference(data, 1024, nil)
	for i := 1024; i < 1024+512; i++ {
		if got[i] != want[i] {
			t.Fatalf("byte %d is %#x, want %#x", i, got[i], want[i])
		}
	}
}

// What is wrong with a bulk copy is said, at load or where it happens.
func TestBulkRefusals(t *testing.T) {
	d := openTest(t, testProfile())
	fine := matrixMap(upload(t, d, make([]byte, 4096)), driver.TensorF16, 32, 64, 8, 32, driver.SwizzleNone)
	wide := *fine
	wide.Dims[1] = 64 // more rows than the allocation has
	for _, c := range []struct {
		m          *driver.TensorMap
		body, want string
	}{
		{nil, "cp.async.bulk.shared::cluster.global.bulk_group [%s], [%in], 16, [%bar];", "a copy .shared::cluster.global completes by .mbarrier::complete_tx::bytes"},
		{nil, "cp.async.bulk.global.global.bulk_group [%in], [%in], 16;", "there is no copy .global.global"},
		{nil, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 16;", "3 operands: the mbarrier is missing"},
		{nil, "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%in], [%s], 16;", "types of .inc here: .u32"},
		{nil, "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%s], [%map, {0, 0}], [%bar];", ".tile::gather4 is of sm_100a and not executed; .tile and .im2col are"},
		{nil, "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%map, {0, 0}], [%bar];", "2 coordinates for 3 dimensions"},
		{nil, "cp.async.bulk.global.shared::cta.bulk_group [%in], [%s], 24;", "a bulk copy of 24 bytes: they must be a multiple of 16"},
		{nil, "add.u32 %r0, %s, 8; cp.async.bulk.global.shared::cta.bulk_group [%in], [%r0], 16;", "misaligned"},
		{nil, "add.u32 %r0, %s, 4096; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 16, [%r0];", "there is no mbarrier at offset 4096 of shared memory"},
		{nil, "add.s64 %q, %in, 4080; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%q], 32, [%bar];", "its last 16 B lie past the end of allocation"},
		{nil, "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%map, {0, 0}], [%bar];", "tensor map: element stride 0 of dimension 0: 1 to 8"},
		{fine, "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%map, {0}], [%bar];", "a copy of 1 dimensions, tiled, with a map of 2, tiled"},
		{&wide, "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%map, {0, 40}], [%bar];", "out of bounds"},
		{fine, "add.u32 %r0, %s, 64; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%map, {0, 0}], [%bar];", "misaligned"},
	} {
		in := upload(t, d, make([]byte, 4096))
		err := func() (err error) {
			out := upload(t, d, make([]byte, 16384))
			m, err := d.LoadPTX(bulkText(d, "@!%e bra END;\n"+c.body+"\nEND: ret;\n}\n"), driver.LoadOptions{Name: "b.ptx"})
			if err != nil {
				return err
			}
			args := make([]byte, 144)
			if c.m != nil {
				b := c.m.Bytes()
				copy(args, b[:])
			}
			binary.LittleEndian.PutUint64(args[128:], uint64(in))
			binary.LittleEndian.PutUint64(args[136:], uint64(out))
			_, err = d.Launch(context.Background(), &driver.Launch{Function: fn(t, m, "k"), Grid: dim(1), CTA: dim(32), Args: args, Wait: true, Count: true})
			return err
		}()
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s\n%v\nwant %q", c.body, err, c.want)
		}
	}
	old := openSM(t, 80)
	_, err := old.LoadPTX(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\ncp.async.bulk.commit_group;\nret;\n}\n", driver.LoadOptions{Name: "b.ptx"})
	if want := "b.ptx:5:1: cp.async.bulk.commit_group: needs .target sm_90 or higher, the module has .target sm_80\n    cp.async.bulk.commit_group;\n    ^"; fmt.Sprint(err) != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}
