package vgpu

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

// seedTexts are small modules of every kind of instruction, to be mutated.
func seedTexts() []string {
	return []string{divergent, transposeF64, accessKernelGrid, accessKernel("v4.f32", "shared"), accessKernel("f64", "global"),
		header + `.global .b8 text[4] = {1, 2, 3}; .extern .shared .b8 pool[];
.visible .entry k(.param .u64 p, .param .u32 n) {
	.reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>; .local .align 4 .b8 frame[16];
	ld.param.u64 %rd0, [p]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mov.u64 %rd1, text; ld.global.u8 %r2, [%rd1+1];
	setp.lt.and.u32 %p0|%p1, %r1, 7, !%p2; selp.b32 %r3, %r1, %r2, %p0; mov.b32 {%h0, %h1}, %r3; cvt.f32.f16 %f0, %h1;
	ex2.approx.ftz.f32 %f1, %f0; fma.rn.f32 %f2, %f1, %f0, 0f3F800000; mov.u64 %rd2, frame; st.local.f32 [%rd2+4], %f2;
	shfl.sync.bfly.b32 %r4|%p2, %r3, 1, 31, -1; vote.sync.ballot.b32 %r5, %p2, -1; atom.global.add.u32 %r6, [%rd0], %r5;
	bar.sync 0; @%p1 st.global.u32 [%rd0+4], %r6; cvt.rni.s32.f32 %r7, %f2; div.s32 %r8, %r7, %r1;
	red.shared.add.u32 [pool], %r8; cp.async.ca.shared.global [pool], [%rd0], 4; cp.async.commit_group; cp.async.wait_group 0;
	mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r3}, {%f0, %f1, %f2, %f3};
	ret;
}
`}
}

// mutate changes a text a little: words swapped with others of the seeds, cut, doubled, digits changed.
func mutate(r *rand.Rand, text string, words []string) string {
	parts := strings.Fields(text)
	for range 1 + r.IntN(4) {
		i := r.IntN(len(parts))
		switch r.IntN(5) {
		case 0:
			parts[i] = words[r.IntN(len(words))]
		case 1:
			j := r.IntN(len(parts))
			parts[i], parts[j] = parts[j], parts[i]
		case 2:
			parts = append(parts[:i], parts[i+1:]...)
		case 3:
			parts[i] += " " + parts[r.IntN(len(parts))]
		default:
			b := []byte(parts[i])
			b[r.IntN(len(b))] = "0123456789%.,;[]{}_xrfp-+"[r.IntN(25)]
			parts[i] = string(b)
		}
	}
	return strings.Join(parts, "\n")
}

// runAnything loads a text and launches what it holds; whatever it is, there must be a result or an error.
func runAnything(t *testing.T, d *Device, text string) {
	m, err := d.LoadPTX(text, driver.LoadOptions{Name: "f"})
	if err != nil {
		return
	}
	defer m.Unload()
	buffer, err := d.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(buffer)
	for _, name := range m.Functions() {
		f, err := m.Function(name)
		if err != nil {
			t.Fatal(err)
		}
		n := f.(*function).program.paramBytes
		if n > 4096 {
			continue
		}
		args := make([]byte, n)
		for i := 0; i+8 <= len(args); i += 8 {
			for k := range 8 {
				args[i+k] = byte(uint64(buffer) >> (8 * k))
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		_, err = d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(2), CTA: dim(48), Shared: 64, Args: args, Wait: true, Count: true})
		cancel()
		_ = err
	}
}

// Mutated modules load or fail, run or fault: nothing panics and nothing hangs.
func TestMutatedPTX(t *testing.T) {
	d := openTest(t, testProfile())
	r := rand.New(rand.NewPCG(7, 8))
	seeds := seedTexts()
	words := strings.Fields(strings.Join(seeds, " "))
	for i, s := range seeds {
		if _, err := d.LoadPTX(s, driver.LoadOptions{}); err != nil {
			t.Errorf("seed %d: %v", i, err)
		}
		runAnything(t, d, s)
	}
	for range 6000 {
		runAnything(t, d, mutate(r, seeds[r.IntN(len(seeds))], words))
	}
}

func FuzzLaunch(f *testing.F) {
	for _, s := range seedTexts() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := openTest(t, testProfile())
		runAnything(t, d, text)
	})
}
