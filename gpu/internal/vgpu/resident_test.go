package vgpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// residentBytes is the host memory of this process, 0 where the system does not say.
func residentBytes() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	var size, resident int64
	if err != nil {
		return 0
	}
	fmt.Sscan(string(b), &size, &resident)
	return resident * int64(os.Getpagesize())
}

// gathers reads, for lane i of CTA c, n words at (c·threads+i)·a + k·b for k = 0 … n−1 and adds them up; where the flag
// is set it goes through shared memory by cp.async.
const gathers = header + `.visible .entry gather(.param .u64 p, .param .u64 out, .param .u64 a, .param .u64 b, .param .u32 n, .param .u32 async) {
	.reg .pred %p, %q; .reg .b32 %r<12>; .reg .b64 %rd<12>; .shared .align 16 .b8 tile[4096];
	ld.param.u64 %rd0, [p]; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b]; ld.param.u32 %r0, [n]; ld.param.u32 %r7, [async];
	mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
	cvt.u64.u32 %rd4, %r4; mad.lo.u64 %rd5, %rd4, %rd2, %rd0; mul.wide.u32 %rd6, %r4, 4; add.u64 %rd6, %rd6, %rd1;
	mov.u32 %r5, 0; setp.ne.u32 %q, %r7, 0; mov.u32 %r8, tile; shl.b32 %r9, %r1, 2; add.u32 %r8, %r8, %r9;
LOOP:
	@%q bra COPY;
	ld.global.u32 %r6, [%rd5];
	bra ADD;
COPY:
	cp.async.ca.shared.global [%r8], [%rd5], 4;
	cp.async.commit_group;
	cp.async.wait_group 0;
	ld.shared.u32 %r6, [%r8];
ADD:
	add.u32 %r5, %r5, %r6; add.u64 %rd5, %rd5, %rd3; sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra LOOP;
	st.global.u32 [%rd6], %r5;
	ret;
}
.visible .entry spoil(.param .u64 p) { .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd0, [p]; mov.u32 %r0, 1; red.global.add.u32 [%rd0], %r0; ret; }
`

func word(i int64) uint32 { return uint32(uint64(i) * 2654435761 >> 7) }

// wordsFrom fills bytes with word, from the byte offset on.
func wordsFrom(offset int64, dst []byte) {
	for i := 0; i+4 <= len(dst); i += 4 {
		binary.LittleEndian.PutUint32(dst[i:], word(offset/4+int64(i)/4))
	}
}

// A procedural allocation of 120 GB is read all over, with room for 64 pages; the values are those of the function, by
// every way of reading, and the process does not grow.
func TestProceduralPages(t *testing.T) {
	p := testProfile()
	p.MemoryBytes = 141e9
	d := openTest(t, p)
	d.memory.back.keep = 64
	const bytes = int64(120e9)
	a, err := d.AllocProcedural(bytes, wordsFrom)
	if err != nil {
		t.Fatal(err)
	}
	f := fn(t, loadModule(t, d, gathers), "gather")
	before := residentBytes()
	const ctas, threads = 16, 64
	out := upload(t, d, make([]uint32, ctas*threads))
	for _, c := range []struct {
		stride, step int64
		n, async     uint32
	}{
		{4, 4 * ctas * threads, 2000, 0},           // all lanes in a row
		{4, 4 * ctas * threads, 300, 1},            // the same by cp.async
		{16 << 10, 4, 1000, 0},                     // four lanes a page
		{16 << 10, 65540, 40, 1},                   //
		{bytes / (ctas * threads) &^ 3, 4, 200, 0}, // lanes all over the allocation: more pages than are kept
		{bytes / (ctas * threads) &^ 3, 4, 30, 1},
		{0, bytes / 500 &^ 3, 500, 0}, // all lanes at one place, all over the allocation
	} {
		launch(t, d, f, dim(ctas), dim(threads), a, out, uint64(c.stride), uint64(c.step), c.n, c.async)
		for i, got := range download[uint32](t, d, out, ctas*threads) {
			want := uint32(0)
			for k := range int64(c.n) {
				want += word((int64(i)*c.stride + k*c.step) / 4)
			}
			if got != want {
				t.Fatalf("%+v: thread %d has %d, want %d", c, i, got, want)
			}
		}
		if n := d.memory.back.resident; n > 64 {
			t.Errorf("%+v: %d pages are kept, want 64 at most", c, n)
		}
		for page := range a64(bytes) {
			if n := d.memory.find(uint64(a)).contents.state[page].Load(); n != pageAbsent && n != pagePresent {
				t.Fatalf("%+v: page %d is in state %d after the launch", c, page, n)
			}
		}
	}
	tail := make([]byte, 70_000)
	if err := d.CopyOut(tail, a+driver.Address(bytes)-70_000, nil); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 70_000)
	wordsFrom(bytes-70_000, want)
	if string(tail) != string(want) {
		t.Error("the last bytes, copied out, differ")
	}
	inside := upload(t, d, make([]byte, 70_000))
	if err := d.Copy(inside, a+400, 70_000, nil); err != nil {
		t.Fatal(err)
	}
	wordsFrom(400, want)
	if string(download[byte](t, d, inside, 70_000)) != string(want) {
		t.Error("bytes copied inside the device differ")
	}
	if grown := residentBytes() - before; grown > 100<<20 {
		t.Errorf("the process grew by %d MiB", grown>>20)
	} else {
		t.Logf("the process grew by %d MiB", grown>>20)
	}
	if err := d.CopyIn(a, []byte{1}, nil); err == nil || err.Error() != fmt.Sprintf("virtual GPU: copy to 0x%x: the contents of allocation 0x%x of 120,000,000,000 B are procedural, so nothing can be written there", a, a) {
		t.Errorf("%v", err)
	}
	spoil := fn(t, loadModule(t, d, gathers), "spoil")
	_, err = d.Launch(context.Background(), &driver.Launch{Function: spoil, Grid: dim(1), CTA: dim(1), Args: pack(t, spoil, a), Wait: true, Count: true})
	if want := fmt.Sprintf("virtual GPU: test.ptx:24: red.global.add.u32 write to read-only memory\nCTA (0,0,0) warp 0 lane 0: address 0x%x, in the procedural allocation 0x%x of 120,000,000,000 B", a, a); err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	if err := d.Free(a); err != nil || d.memory.back.resident != 0 || len(d.memory.back.queue) != 0 {
		t.Errorf("after Free: %v, %d pages", err, d.memory.back.resident)
	}
}

// a64 is how many pages n bytes take.
func a64(n int64) int64 { return (n + pageBytes - 1) / pageBytes }

// 130 GB of ordinary memory take no more of the host than what is touched.
func TestLazyMemory(t *testing.T) {
	p := testProfile()
	p.MemoryBytes = 141e9
	d := openTest(t, p)
	before := residentBytes()
	const bytes = int64(130e9)
	a, err := d.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	m := loadModule(t, d, gathers)
	for _, at := range []int64{0, bytes/2 + 4, bytes - 4} {
		launch(t, d, fn(t, m, "spoil"), dim(1), dim(64), a+driver.Address(at))
		if v := download[uint32](t, d, a+driver.Address(at), 1)[0]; v != 64 {
			t.Errorf("at %d: %d, want 64", at, v)
		}
	}
	if v := download[uint32](t, d, a+driver.Address(bytes/3&^3), 4); v[0]|v[1]|v[2]|v[3] != 0 {
		t.Errorf("untouched memory holds %v", v)
	}
	if grown := residentBytes() - before; grown > 64<<20 {
		t.Errorf("the process grew by %d MiB", grown>>20)
	}
	al := d.memory.find(uint64(a))
	if n := al.touchedBytes(); n != 2*chunkBytes+130e9-123977*chunkBytes {
		t.Errorf("%d B are touched, want two chunks and the last, shorter one", n)
	}
	if _, err := d.Alloc(20e9); err == nil || !strings.HasPrefix(err.Error(), "virtual GPU: out of memory: 20,000,000,000 B asked for, 11,000,000,000 B of 141,000,000,000 B free; the host has ") {
		t.Errorf("%v", err)
	}
	if err := d.Free(a); err != nil {
		t.Fatal(err)
	}
	if taken := d.memory.back.taken; taken != 0 {
		t.Errorf("after Free %d B are counted as taken", taken)
	}
}

// A launch, a copy and an allocation say what the host lacks, before the system runs out of memory.
func TestOutOfHostMemory(t *testing.T) {
	d := openTest(t, testProfile())
	free := int64(1 << 40)
	d.memory.back.system = func() hostMemory {
		return hostMemory{free: free, total: 16e9, known: true, limit: "cgroup /sys/fs/cgroup/x"}
	}
	a, err := d.Alloc(4 << 30)
	if err != nil {
		t.Fatal(err)
	}
	free = 600 << 20
	f := fn(t, loadModule(t, d, gathers), "gather")
	out := upload(t, d, make([]uint32, 64))
	run := func() error {
		_, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(1), CTA: dim(64), Args: pack(t, f, a, out, uint64(4), uint64(1<<20), uint32(4000), uint32(0)), Wait: true, Count: true})
		return err
	}
	free = 500 << 20
	want := "virtual GPU: test.ptx:12: ld.global.u32 out of host memory\n66,060,544 B of device memory are touched, and the host has 524,288,000 B of 16,000,000,000 B free (limit: cgroup /sys/fs/cgroup/x)"
	if err := run(); err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	if err := d.Fill(a, []byte{1}, 1<<30, nil); err == nil || err.Error() != fmt.Sprintf("virtual GPU: fill of 0x%x: 1,073,741,824 B asked for: 66,060,544 B of device memory are touched, and the host has 524,288,000 B of 16,000,000,000 B free (limit: cgroup /sys/fs/cgroup/x)", a) {
		t.Errorf("%v", err)
	}
	if _, err := d.Alloc(8 << 30); err == nil || err.Error() != "virtual GPU: out of memory: 8,589,934,592 B asked for, 4,294,967,040 B of 8,589,934,592 B free; the host has 524,288,000 B of 16,000,000,000 B free (limit: cgroup /sys/fs/cgroup/x)" {
		t.Errorf("%v", err)
	}
	free = 1 << 40
	if err := run(); err != nil {
		t.Errorf("with memory again: %v", err)
	}
}

// Many workers pin, drop and make the same pages; freeing in between forgets them.
func TestPagesTogether(t *testing.T) {
	p := testProfile()
	d := openTest(t, p)
	d.memory.back.keep = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	m := loadModule(t, d, gathers)
	f := fn(t, m, "gather")
	out := upload(t, d, make([]uint32, 64*64))
	for round := range 3 {
		a, err := d.AllocProcedural(9*pageBytes+100, wordsFrom)
		if err != nil {
			t.Fatal(err)
		}
		launch(t, d, f, dim(64), dim(64), a, out, uint64(128), uint64(4), uint32(1000), uint32(0))
		for i, got := range download[uint32](t, d, out, 64*64) {
			want := uint32(0)
			for k := range int64(1000) {
				want += word((int64(i)*128 + k*4) / 4)
			}
			if got != want {
				t.Fatalf("round %d: thread %d has %d, want %d", round, i, got, want)
			}
		}
		if err := d.Free(a); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHostMemoryOfThisSystem(t *testing.T) {
	h := systemMemory()
	if h.total < 256<<20 || h.free <= 0 || h.free > h.total {
		t.Errorf("the host has %d of %d B free", h.free, h.total)
	}
	start := time.Now()
	for range 100 {
		systemMemory()
	}
	t.Logf("%s; asking takes %v", h, time.Since(start)/100)
}

// Validity by byte, against a map of bytes.
func TestValidity(t *testing.T) {
	d := openTest(t, testProfile())
	const size = 3*validChunk + 100
	r := rand.New(rand.NewPCG(1, 2))
	address, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	a := d.memory.find(uint64(address))
	known := make([]bool, size)
	for range 2000 {
		low := r.IntN(size)
		high := min(low+1+r.IntN(200), size)
		if r.IntN(40) == 0 {
			high = min(low+validChunk, size)
		}
		if r.IntN(2) == 0 {
			a.markWritten(a.low+uint64(low), a.low+uint64(high))
			for i := low; i < high; i++ {
				known[i] = true
			}
			continue
		}
		want := uint64(0)
		for i := low; i < high && want == 0; i++ {
			if !known[i] {
				want = a.low + uint64(i)
			}
		}
		if got, ok := a.firstUnwritten(a.low+uint64(low), a.low+uint64(high)); ok != (want != 0) || ok && got != want {
			t.Fatalf("[%d, %d): %x, %v, want %x", low, high, got, ok, want)
		}
	}
	// The host's copies count by byte, a launch without a sanitizer by allocation, and what is freed is unwritten again.
	b, err := d.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	al := d.memory.find(uint64(b))
	if err := errors.Join(d.CopyIn(b+8, make([]byte, 8), nil), d.Fill(b+100, []byte{1, 2}, 50, nil), d.Copy(b+300, b+400, 10, nil)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ low, high, want uint64 }{{0, 8, 0}, {8, 16, none}, {8, 17, 16}, {100, 200, none}, {99, 200, 99}, {300, 310, none}, {300, 311, 310}, {1<<20 - 1, 1 << 20, 1<<20 - 1}} {
		if got, ok := al.firstUnwritten(al.low+c.low, al.low+c.high); ok != (c.want != none) || ok && got != al.low+c.want {
			t.Errorf("[%d, %d): %d, %v, want %d", c.low, c.high, got-al.low, ok, c.want)
		}
	}
	launch(t, d, fn(t, loadModule(t, d, gathers), "spoil"), dim(1), dim(1), b)
	if got, ok := al.firstUnwritten(al.low, al.high); ok {
		t.Errorf("after a launch that wrote: %d is unwritten", got-al.low)
	}
}

const none = ^uint64(0)

// TestProceduralOnEveryPath: what is read of procedural contents, and what is counted, is as of ordinary memory on every lane path,
// also while pages go and come back under the sites' windows.
func TestProceduralOnEveryPath(t *testing.T) {
	const n, k = 256, 4096 // 32 pages
	text, err := os.ReadFile("../../../kernels/gemv/2_warp.sm_80.ptx")
	if err != nil {
		t.Fatal(err)
	}
	naive, err := os.ReadFile("../../../kernels/gemv/1_naive.sm_80.ptx")
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]byte, 2*n*k)
	for i := range weights {
		weights[i] = byte(i*7+i>>9) & 0x3b
	}
	for _, c := range []struct {
		ptx  string
		rows uint32
	}{{string(text), 4}, {string(naive), 128}} {
		var want []uint16
		var counts driver.Result
		for path := PortableLanes; path <= BestLanes(); path++ {
			for _, lazy := range []bool{false, true} {
				d := openTest(t, testProfile())
				d.SetLanes(path)
				d.memory.back.keep = 3
				m := loadModule(t, d, c.ptx)
				f := fn(t, m, m.Functions()[0])
				x, y := upload(t, d, halves(k)), upload(t, d, make([]uint16, n))
				w := upload(t, d, weights)
				if lazy {
					if w, err = d.AllocProcedural(int64(len(weights)), func(offset int64, dst []byte) { copy(dst, weights[offset:]) }); err != nil {
						t.Fatal(err)
					}
				}
				r := launch(t, d, f, dim(n/c.rows), dim(128), y, w, x, int32(n), int32(k))
				got := download[uint16](t, d, y, n)
				r.Counts.Cache = perf.CacheCounts{} // by address, and the addresses differ
				if want == nil {
					want, counts = got, *r
				}
				if !slices.Equal(got, want) || r.Counts != counts.Counts {
					t.Errorf("%s lanes, procedural %t: results or counters differ\n%+v\n%+v", path, lazy, r.Counts, counts.Counts)
				}
			}
		}
		if !slices.ContainsFunc(want, func(v uint16) bool { return v != 0 }) {
			t.Error("all results are zero")
		}
	}
}
