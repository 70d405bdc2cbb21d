package vgpu

import (
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

func TestClusters(t *testing.T) {
	everyOrder(t, func(t *testing.T, d *Device) {
		m := testPTX(t, d, "cluster")
		const n, perCTA, ctas = 5000, 24, 8
		x := make([]int32, n)
		want := make([]int32, perCTA*4)
		for i := range x {
			x[i] = int32(i * 37 % len(want))
			want[x[i]]++
		}
		bins := zeros(t, d, len(want))
		_, err := within(t, d, 10*time.Second, driver.Launch{Function: fn(t, m, "histogram"), Grid: dim(ctas), CTA: dim(64), Cluster: dim(4), Shared: 4 * perCTA},
			upload(t, d, x), int32(n), bins, int32(perCTA))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range download[int32](t, d, bins, len(want)) {
			if v != want[i] {
				t.Fatalf("histogram: bin %d has %d, want %d", i, v, want[i])
			}
		}
		const width, height = 4, 6
		out := zeros(t, d, 8*width*height)
		if _, err := within(t, d, 10*time.Second, driver.Launch{Function: fn(t, m, "ranks"), Grid: dim(width, height), CTA: dim(32)}, out); err != nil {
			t.Fatal(err)
		}
		got := download[int32](t, d, out, 8*width*height)
		for y := range int32(height) {
			for x := range int32(width) {
				rank := x%2 + 2*(y%2)
				next := (rank + 1) % 4
				nx, ny := x/2*2+next%2, y/2*2+next/2
				o := 8 * (x + width*y)
				for k, want := range []int32{1000 + nx + width*ny, rank, 4, x % 2, y % 2, 2, x / 2, y / 2} {
					if got[o+int32(k)] != want {
						t.Fatalf("ranks: CTA (%d,%d), value %d is %d, want %d", x, y, k, got[o+int32(k)], want)
					}
				}
			}
		}
		out = zeros(t, d, 8*32)
		mustRun(t, d, fn(t, m, "send"), 8, 32, out)
		for i, v := range download[int32](t, d, out, 8*32) {
			if want := int32((i/32+3)%4*100 + i%32); v != want {
				t.Fatalf("send: element %d is %d, want %d", i, v, want)
			}
		}
	})
}

func TestMbarriers(t *testing.T) {
	everyOrder(t, func(t *testing.T, d *Device) {
		m := testPTX(t, d, "cluster")
		const n = 37
		x := make([]int32, 32*n)
		for i := range x {
			x[i] = int32(i*i%101 - 50)
		}
		out := zeros(t, d, 32)
		mustRun(t, d, fn(t, m, "ring_pipeline"), 1, 64, upload(t, d, x), out, int32(n))
		for lane, v := range download[int32](t, d, out, 32) {
			sum := int32(0)
			for i := range n {
				sum += x[32*i+31-lane] * int32(i+1)
			}
			if v != sum {
				t.Errorf("ring_pipeline: lane %d has %d, want %d", lane, v, sum)
			}
		}
		out = zeros(t, d, 128)
		mustRun(t, d, fn(t, m, "copy_arrive"), 1, 128, upload(t, d, x[:128]), out)
		for i, v := range download[int32](t, d, out, 128) {
			if v != x[127-i] {
				t.Errorf("copy_arrive: element %d is %d, want %d", i, v, x[127-i])
			}
		}
		out = zeros(t, d, 6)
		mustRun(t, d, fn(t, m, "states"), 1, 32, out)
		// Of three arrivals two are made, then the third is dropped: that phase is over; the next one expects two.
		for i, want := range []int32{3, 0, 1, 1, 1, 0} {
			if v := download[int32](t, d, out, 6)[i]; v != want {
				t.Errorf("states: value %d is %d, want %d", i, v, want)
			}
		}
	})
}

func TestGridSync(t *testing.T) {
	everyOrder(t, func(t *testing.T, d *Device) {
		m := testPTX(t, d, "cluster")
		const n, steps = 3000, 7
		a := make([]int32, n)
		for i := range a {
			a[i] = int32(i % 7)
		}
		x, y := upload(t, d, a), zeros(t, d, n)
		if _, err := within(t, d, 10*time.Second, driver.Launch{Function: fn(t, m, "stencil"), Grid: dim(20), CTA: dim(64), Cooperative: true}, x, y, int32(n), int32(steps)); err != nil {
			t.Fatal(err)
		}
		for range steps {
			b := make([]int32, n)
			for i := range b {
				var l, r int32
				if i > 0 {
					l = a[i-1]
				}
				if i+1 < n {
					r = a[i+1]
				}
				b[i] = l + r - a[i]
			}
			a = b
		}
		for i, v := range download[int32](t, d, y, n) {
			if v != a[i] {
				t.Fatalf("element %d is %d, want %d", i, v, a[i])
			}
		}
	})
}

// Misuse of mbarriers and clusters is named, with the whole text.
func TestMbarrierFaults(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct{ body, want string }{
		{"mbarrier.arrive.shared.b64 %rd0, [bar];", "virtual GPU: test.ptx:7: mbarrier.arrive.shared.b64 illegal instruction\nCTA (0,0,0) warp 0 lane 0\nthere is no mbarrier at offset 0 of shared memory: mbarrier.init comes first, and a barrier before others use it"},
		{"mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.shared.b64 %rd0, [bar], 2;", "virtual GPU: test.ptx:7: mbarrier.arrive.shared.b64 illegal instruction\nCTA (0,0,0) warp 0 lane 0\n2 arrivals at an mbarrier that waits for 1 more of 1: the phase has too many"},
		{"mbarrier.init.shared.b64 [bar], 0;", "virtual GPU: test.ptx:7: mbarrier.init.shared.b64 illegal instruction\nCTA (0,0,0) warp 0 lane 0\nan mbarrier of 0 arrivals: the count is 1 to 1048575"},
		{"mov.u64 %rd1, 4096; mbarrier.init.b64 [%rd1], 1;", "virtual GPU: test.ptx:7: mbarrier.init.b64 illegal instruction\nCTA (0,0,0) warp 0 lane 0\nthe mbarrier's address 0x1000 does not lie in shared memory"},
		{"barrier.cluster.wait;", "virtual GPU: test.ptx:7: barrier.cluster.wait illegal instruction\nCTA (0,0,0) warp 0 lane 0\nthe thread waits and has not arrived: barrier.cluster.arrive is missing"},
		{"barrier.cluster.arrive; barrier.cluster.arrive;", "virtual GPU: test.ptx:7: barrier.cluster.arrive illegal instruction\nCTA (0,0,0) warp 0 lane 0\nthe thread arrives again before it has waited: barrier.cluster.wait is missing"},
		{"mapa.shared::cluster.u32 %r0, %r1, 3;", "virtual GPU: test.ptx:7: mapa.shared::cluster.u32 illegal instruction\nCTA (0,0,0) warp 0 lane 0\nrank 3: the cluster has 1 CTAs"},
		{"mov.u32 %r0, 0x03000000; ld.shared::cluster.u32 %r1, [%r0];", "virtual GPU: test.ptx:7: ld.shared::cluster.u32 out of bounds\nCTA (0,0,0) warp 0 lane 0: address 0x3000000, the cluster has no CTA 2: it has 1"},
	} {
		m := loadModule(t, d, header90+".visible .entry k() {\n.shared .align 8 .b64 bar; .reg .b32 %r<3>; .reg .b64 %rd<3>;\nmov.u32 %r1, 0;\n"+c.body+"\nret;\n}\n")
		_, err := within(t, d, 5*time.Second, driver.Launch{Function: fn(t, m, "k"), Grid: dim(1), CTA: dim(1)})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n%v\nwant\n%s", c.body, err, c.want)
		}
	}
}

const header90 = ".version 8.0\n.target sm_90\n.address_size 64\n"
