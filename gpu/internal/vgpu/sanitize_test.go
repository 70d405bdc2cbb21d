package vgpu

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

// watchTests is given to the devices that tests open.
var watchTests func(function string, found []driver.Finding)

// racy are the functions of the corpora that do race, by what a compiler makes of their source.
var racy = map[string]string{
	"welford":    "every lane of a warp stores its own sum to one place; the sums differ in their last bits, because lanes combine in different orders",
	"double_dot": "the same, in double precision",
	"6counts":    "every thread stores the count that all of them got, in device memory",
	"scoped":     "two CTAs exchange a value in device memory by accesses of the scope of a CTA",
	"fences":     "four CTAs count in one word by atomics of the scope of a CTA",
	"spin_sum":   "all lanes load the sum under the lock, and lane 0 stores it before the others need to have loaded",
}

// stops are the functions of the corpora that are meant to stop their launch.
var stops = map[string]driver.FindingKind{"asserts": driver.FoundStopped, "traps": driver.FoundStopped}

// Programs of other tests that synchronise by locks, flags, fences and look-back, and those that compilers emit, have no
// findings but those that are there.
func TestSanitizeOthers(t *testing.T) {
	launches := 0
	defer func() { watchTests = nil }()
	watchTests = func(function string, found []driver.Finding) {
		launches++
		for i := range found {
			known := false
			for name := range racy {
				known = known || strings.Contains(function, name)
			}
			if meant := stops[function]; meant != "" && found[i].Kind == meant {
				continue
			}
			if !known || found[i].Kind != driver.FoundRace {
				t.Errorf("%s: %s", function, &found[i])
			}
		}
	}
	t.Run("corpus", TestCorpus)
	t.Run("clang", TestClangKernels)
	t.Run("clusters", TestClusters)
	t.Run("mbarriers", TestMbarriers)
	t.Run("grid sync", TestGridSync)
	t.Run("products", TestCompiledMatrixProducts)
	t.Run("Hopper products", TestHopperProducts)
	t.Run("locks", func(t *testing.T) {
		d := openTest(t, testProfile())
		m := testPTX(t, d, "locks")
		for _, name := range []string{"spin_lock", "spin_sleep"} {
			mustRun(t, d, fn(t, m, name), 4, 33, zeros(t, d, 1), zeros(t, d, 1))
		}
		mustRun(t, d, fn(t, m, "ticket"), 4, 33, zeros(t, d, 1), zeros(t, d, 1), zeros(t, d, 1), zeros(t, d, 4*33))
		mustRun(t, d, fn(t, m, "shared_lock"), 4, 96, zeros(t, d, 4))
		mustRun(t, d, fn(t, m, "philosophers"), 2, 32, zeros(t, d, 50), zeros(t, d, 50), int32(50), int32(3))
		mustRun(t, d, fn(t, m, "lanes"), 1, 32, zeros(t, d, 1), zeros(t, d, 64))
		mustRun(t, d, fn(t, m, "ring"), 1, 256, zeros(t, d, 256), zeros(t, d, 256))
		mustRun(t, d, fn(t, m, "both_sides"), 1, 32, zeros(t, d, 32))
		mustRun(t, d, fn(t, m, "pipe"), 1, 64, zeros(t, d, 1), int32(50))
		mustRun(t, d, fn(t, m, "backwards_flag"), 100, 32, zeros(t, d, 100), zeros(t, d, 100))
		const n = 5003
		in := upload(t, d, make([]int32, n))
		mustRun(t, d, fn(t, m, "lookback"), (n+255)/256, 256, in, zeros(t, d, n), int32(n), zeros(t, d, 1), zeros(t, d, 2*(n+255)/256+2))
		mustRun(t, d, fn(t, m, "last_cta"), 39, 128, in, zeros(t, d, 39), zeros(t, d, 1), zeros(t, d, 1))
		items := upload(t, d, append([]int32{1}, make([]int32, 63)...))
		mustRun(t, d, fn(t, m, "queue"), 8, 32, items, zeros(t, d, 1), upload(t, d, []int32{1}), upload(t, d, []int32{1}), zeros(t, d, 64), int32(63))
	})
	if launches < 50 {
		t.Errorf("only %d launches were watched", launches)
	}
}

// A watched launch that finds something with every access ends when it is cancelled, too.
func TestSanitizedLaunchEnds(t *testing.T) {
	d := openTest(t, testProfile())
	f := fn(t, loadModule(t, d, header+`.visible .entry k(.param .u64 p) {
	.reg .b32 %r<2>; .reg .b64 %a;
	mov.u32 %r0, %tid.x; cvt.u64.u32 %a, %r0; shl.b64 %a, %a, 20;
L:	ld.global.u32 %r1, [%a+65536]; add.u64 %a, %a, 4096;
	bra L;
}
`), "k")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	before := cpuTime()
	_, err := d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(2), CTA: dim(64), Args: pack(t, f, driver.Address(0)), Wait: true, Sanitize: true})
	var fault *driver.Fault
	if took := cpuTime() - before; !errors.As(err, &fault) || fault.Kind != driver.Timeout || took > time.Second {
		t.Errorf("%v after %v of processor time", err, took)
	}
}
