package vgpu

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

// matrixSeeds are small kernels of matrix instructions and bulk copies, to be mutated.
func matrixSeeds(d *Device) []string {
	warpgroup := mmaHeader(d, "wgmma") + `.visible .entry k(.param .align 64 .b8 map[128], .param .u64 p) {
	.reg .pred %p<3>; .reg .b32 %r<9>, %d<4>, %e<4>; .reg .b64 %rd<5>; .shared .align 1024 .b8 s[8192]; .shared .align 8 .b64 bar;
	ld.param.u64 %rd0, [p]; mov.u32 %r0, s; mov.u32 %r1, bar; mov.u32 %r2, %tid.x; setp.eq.u32 %p0, %r2, 0; setp.ne.u32 %p1, %r2, -1;
	mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0; mov.b64 %rd1, 0x4000004000010000; mov.b64 %rd2, 0x4000004000010100;
	@%p0 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0; mov.b64 %rd3, map; cvta.param.u64 %rd3, %rd3;
	@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 1024;
	@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd3, {0, 1}], [%r1];
	@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0+1024], [%rd0], 512, [%r1];
	WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0; @%p2 bra DONE; nanosleep.u32 20; bra WAIT; DONE:
	wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd1, %rd2, %p1, 1, -1, 0, 1;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%r0, %r1, %r2, %r3}, %rd2, 1, 1, 1, 0;
	mov.b32 %e0, %d0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; add.u32 %e0, %e0, %d1;
	stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r0], {%e0, %d2}; movmatrix.sync.aligned.m8n8.trans.b16 %r4, %d3;
	@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r0], 256; @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd0], [%r0], 64;
	@%p0 cp.reduce.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.add [%rd3, {4, 5}], [%r0]; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
	@%p0 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r0], 1, %r4; @%p0 tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd2;
	ret;
}
`
	warps := mmaHeader(d, "") + `.visible .entry k(.param .align 64 .b8 map[128], .param .u64 p) {
	.reg .b32 %a<8>, %b<8>, %c<8>, %m; .reg .f64 %f<8>; .reg .b64 %rd<4>; .shared .align 128 .b8 s[4096];
	ld.param.u64 %rd0, [p]; mov.b32 %m, 0x44444444; mov.b32 %a0, 0; mov.b32 %a1, 1; mov.b32 %a2, 2; mov.b32 %a3, 3; mov.u32 %a4, s;
	wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%b0, %b1}, [%rd0], 32; wmma.load.b.sync.aligned.col.m16n16k16.shared.s8 {%b2, %b3}, [%a4], 16;
	wmma.load.c.sync.aligned.col.m16n16k16.shared.s32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, [%a4+512], 16;
	wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, {%b0, %b1}, {%b2, %b3}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};
	wmma.store.d.sync.aligned.row.m16n16k16.s32 [%rd0], {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, 16;
	mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %m, 1;
	mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%f0, %f1, %f2, %f3}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%f0, %f1, %f2, %f3}, {%f4, %f5, %f6, %f7};
	mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, {%a0, %a1}, {%a2, %a3}, {%b0, %b1, %b2, %b3};
	mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
	ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%a0, %a1, %a2, %a3}, [%a4];
	ret;
}
`
	return []string{warpgroup, warps}
}

// runMatrices loads a text and launches its kernel with a tensor map and an address; there must be a result or an error.
func runMatrices(t *testing.T, d *Device, text string, buffer driver.Address) error {
	m, err := d.LoadPTX(text, driver.LoadOptions{Name: "f"})
	if err != nil {
		return err
	}
	defer m.Unload()
	f, err := m.Function("k")
	if err != nil {
		return err
	}
	bytes := matrixMap(buffer, driver.TensorF16, 32, 64, 16, 32, driver.Swizzle64).Bytes()
	args := append([]byte(nil), bytes[:]...)
	for k := range 8 {
		args = append(args, byte(uint64(buffer)>>(8*k)))
	}
	args = args[:min(len(args), f.(*function).program.paramBytes)]
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(1), CTA: dim(128), Args: args, Wait: true, Count: true})
	return err
}

// Mutated matrix kernels load or fail, run or fault: nothing panics and nothing hangs.
func TestMutatedMatrices(t *testing.T) {
	d := openTest(t, testProfile())
	r := rand.New(rand.NewPCG(61, 62))
	seeds := matrixSeeds(d)
	words := strings.Fields(strings.Join(seeds, " "))
	buffer := upload(t, d, make([]byte, 8192))
	for i, s := range seeds {
		if err := runMatrices(t, d, s, buffer); err != nil && i > 0 {
			t.Errorf("seed %d: %v", i, err)
		}
	}
	for range 1500 {
		runMatrices(t, d, mutate(r, seeds[r.IntN(len(seeds))], words), buffer)
	}
}
