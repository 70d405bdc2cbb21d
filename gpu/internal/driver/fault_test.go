package driver

import "testing"

func TestFaultText(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault Fault
		want  string
	}{
		{"as documented", Fault{Device: "virtual GPU", Kind: OutOfBounds, Module: "gemm/3_smem_tile.ptx", Function: "gemm", PTXLine: 214,
			Instruction: "ld.shared.f32", File: "3_smem_tile.cu", SourceLine: 41, CTA: [3]uint32{3, 0, 0}, Warp: 2, Lane: 17,
			Address: 0x1004, Space: "shared", Bytes: 4, Allocation: "CTA has 4096 B"},
			"virtual GPU: gemm/3_smem_tile.ptx:214: ld.shared.f32 out of bounds\n" +
				"CTA (3,0,0) warp 2 lane 17: address 0x1004, CTA has 4096 B\n" +
				"from 3_smem_tile.cu:41"},
		{"no source", Fault{Device: "virtual GPU", Kind: Misaligned, Module: "cell 7", PTXLine: 9, Instruction: "ld.global.v4.f32", Address: 0x10},
			"virtual GPU: cell 7:9: ld.global.v4.f32 misaligned address\nCTA (0,0,0) warp 0 lane 0: address 0x10"},
		{"whole launch", Fault{Device: "virtual GPU", Kind: Interrupted, Function: "spin", Detail: "after 12 of 64 CTAs"},
			"virtual GPU: spin: interrupted\nafter 12 of 64 CTAs"},
		{"source text", Fault{Device: "virtual GPU", Kind: OutOfBounds, Module: "m", PTXLine: 3, Instruction: "ld.global.f32", File: "/a/b/k.cu", SourceLine: 7, SourceText: "  y[i] = x[i];"},
			"virtual GPU: m:3: ld.global.f32 out of bounds\nCTA (0,0,0) warp 0 lane 0: address 0x0\nfrom k.cu:7: y[i] = x[i];"},
		{"trap", Fault{Device: "cuda:0", Kind: Trap, Module: "m", PTXLine: 3, Instruction: "trap", Lane: 5},
			"cuda:0: m:3: trap stopped the launch\nCTA (0,0,0) warp 0 lane 5"},
		{"assertion", Fault{Device: "virtual GPU", Kind: Assert, Module: "m", PTXLine: 3, Instruction: "call.uni", Lane: 5, Detail: "k.cu:7: void f(int): block: [0,0,0], thread: [5,0,0] Assertion `n < 5` failed."},
			"virtual GPU: m:3: assertion failed\nCTA (0,0,0) warp 0 lane 5\nk.cu:7: void f(int): block: [0,0,0], thread: [5,0,0] Assertion `n < 5` failed."},
	} {
		if got := c.fault.Error(); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}
