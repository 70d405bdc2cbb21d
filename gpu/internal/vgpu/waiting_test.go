package vgpu

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// testPTX loads testdata/name.ptx, which NVRTC made from name.cu (-arch=compute_80, or 90 for cluster.cu).
func testPTX(t testing.TB, d *Device, name string) driver.Module {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".ptx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.LoadPTX(string(text), driver.LoadOptions{Name: name + ".ptx"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// everyOrder runs a test with one, two and eight workers, each with the CTAs in the grid's order and the other way round.
func everyOrder(t *testing.T, run func(t *testing.T, d *Device)) {
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	for _, n := range []int{1, 2, 8} {
		for _, backwards := range []bool{false, true} {
			runtime.GOMAXPROCS(n)
			t.Run(fmt.Sprintf("%d workers, backwards %v", n, backwards), func(t *testing.T) {
				d := openTest(t, testProfile())
				d.backwards = backwards
				run(t, d)
			})
		}
	}
}

// within is a launch that must end within a time.
func within(t *testing.T, d *Device, limit time.Duration, l driver.Launch, args ...any) (*driver.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	l.Args, l.Wait, l.Count = pack(t, l.Function, args...), true, true
	return d.Launch(ctx, &l)
}

func mustRun(t *testing.T, d *Device, f driver.Function, grid, cta uint32, args ...any) *driver.Result {
	t.Helper()
	r, err := within(t, d, 20*time.Second, driver.Launch{Function: f, Grid: dim(grid), CTA: dim(cta)}, args...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func zeros(t *testing.T, d *Device, n int) driver.Address { return upload(t, d, make([]int32, n)) }

func TestLocks(t *testing.T) {
	everyOrder(t, func(t *testing.T, d *Device) {
		m := testPTX(t, d, "locks")
		for _, c := range []struct{ grid, cta uint32 }{{1, 32}, {1, 128}, {4, 96}, {20, 33}} {
			n := int32(c.grid * c.cta)
			for _, name := range []string{"spin_lock", "spin_sleep"} {
				total, lock := zeros(t, d, 1), zeros(t, d, 1)
				mustRun(t, d, fn(t, m, name), c.grid, c.cta, total, lock)
				if got := download[int32](t, d, total, 1)[0]; got != n {
					t.Errorf("%s %v: %d, want %d", name, c, got, n)
				}
			}
			total, next, serving, order := zeros(t, d, 1), zeros(t, d, 1), zeros(t, d, 1), zeros(t, d, int(n))
			mustRun(t, d, fn(t, m, "ticket"), c.grid, c.cta, total, next, serving, order)
			for i, v := range download[int32](t, d, order, int(n)) {
				if v != int32(i) {
					t.Fatalf("ticket %v: turn %d went to ticket %d", c, i, v)
				}
			}
			out := zeros(t, d, int(c.grid))
			mustRun(t, d, fn(t, m, "shared_lock"), c.grid, c.cta, out)
			for _, v := range download[int32](t, d, out, int(c.grid)) {
				if v != int32(c.cta) {
					t.Errorf("shared_lock %v: %d", c, v)
				}
			}
		}
		const n, rounds = 70, 3
		forks, meals := zeros(t, d, n), zeros(t, d, n)
		mustRun(t, d, fn(t, m, "philosophers"), 3, 32, forks, meals, int32(n), int32(rounds))
		for i, v := range download[int32](t, d, meals, n) {
			if v != rounds {
				t.Errorf("philosopher %d had %d meals", i, v)
			}
		}
	})
}

func TestFlags(t *testing.T) {
	everyOrder(t, func(t *testing.T, d *Device) {
		m := testPTX(t, d, "locks")
		out := zeros(t, d, 64)
		mustRun(t, d, fn(t, m, "lanes"), 1, 32, zeros(t, d, 1), out)
		got := download[int32](t, d, out, 64)
		for lane := range 32 {
			want := []int32{42, 7}
			if lane > 1 {
				want = append(make([]int32, lane), int32(lane))
			}
			if got[lane] != want[lane] || got[32+lane] != got[(lane+1)%32] {
				t.Errorf("lanes: %v", got)
				break
			}
		}
		out = zeros(t, d, 256)
		mustRun(t, d, fn(t, m, "ring"), 1, 256, zeros(t, d, 256), out)
		for i, v := range download[int32](t, d, out, 256) {
			if v != int32(i+1) {
				t.Fatalf("ring: thread %d has %d", i, v)
			}
		}
		out = zeros(t, d, 32)
		mustRun(t, d, fn(t, m, "both_sides"), 1, 32, out)
		for i, v := range download[int32](t, d, out, 32) {
			from := int32(31 - i)
			want := from * 5
			if from < 11 {
				want = from * 3
			}
			if v != want {
				t.Errorf("both_sides: lane %d has %d, want %d", i, v, want)
			}
		}
		out = zeros(t, d, 1)
		mustRun(t, d, fn(t, m, "pipe"), 1, 64, out, int32(50))
		if v := download[int32](t, d, out, 1)[0]; v != 49*50*99/6 {
			t.Errorf("pipe: %d", v)
		}
		const chain = 300
		flag, steps := zeros(t, d, chain), zeros(t, d, chain)
		mustRun(t, d, fn(t, m, "backwards_flag"), chain, 32, flag, steps)
		for i, v := range download[int32](t, d, steps, chain) {
			if v != int32(chain-i) {
				t.Fatalf("backwards_flag: CTA %d has %d", i, v)
			}
		}
	})
}

func TestCTAsTogether(t *testing.T) {
	everyOrder(t, func(t *testing.T, d *Device) {
		m := testPTX(t, d, "locks")
		const n = 100_003
		x := make([]int32, n)
		for i := range x {
			x[i] = int32(i*7919%1000 - 500)
		}
		tiles := (n + 255) / 256
		in, out, ticket, state := upload(t, d, x), zeros(t, d, n), zeros(t, d, 1), zeros(t, d, 2*tiles)
		mustRun(t, d, fn(t, m, "lookback"), uint32(tiles), 256, in, out, int32(n), ticket, state)
		sum := int32(0)
		for i, v := range download[int32](t, d, out, n) {
			if sum += x[i]; v != sum {
				t.Fatalf("lookback: element %d is %d, want %d", i, v, sum)
			}
		}
		const ctas = 200
		part, done, total := zeros(t, d, ctas), zeros(t, d, 1), zeros(t, d, 1)
		mustRun(t, d, fn(t, m, "last_cta"), ctas, 128, in, part, done, total)
		sum = 0
		for _, v := range x[:ctas*128] {
			sum += v
		}
		if got := download[int32](t, d, total, 1)[0]; got != sum {
			t.Errorf("last_cta: %d, want %d", got, sum)
		}
		const limit = 255
		items := upload(t, d, append([]int32{1}, make([]int32, limit)...))
		head, tail, left, seen := zeros(t, d, 1), upload(t, d, []int32{1}), upload(t, d, []int32{1}), zeros(t, d, limit+1)
		mustRun(t, d, fn(t, m, "queue"), 24, 32, items, head, tail, left, seen, int32(limit))
		for i, v := range download[int32](t, d, seen, limit+1) {
			if v != int32(b2i(i > 0)) {
				t.Errorf("queue: item %d was done %d times", i, v)
			}
		}
	})
}

// What CTAs count that do not wait for each other is the same at any number of workers and in any order.
func TestCountersOfWaitingWarps(t *testing.T) {
	var first *perf.Counts
	everyOrder(t, func(t *testing.T, d *Device) {
		m := testPTX(t, d, "locks")
		r := mustRun(t, d, fn(t, m, "shared_lock"), 12, 96, zeros(t, d, 12))
		if first == nil {
			first = &r.Counts
		} else if !reflect.DeepEqual(*first, r.Counts) {
			t.Errorf("%+v\nwant\n%+v", r.Counts, *first)
		}
	})
}
