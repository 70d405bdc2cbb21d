package asmgen

import "strings"

// findWay is a plain function, no op: searchWay (cache_sets.go) of a set whose 16 tags lie at its start and whose ages
// follow. It gives the way, and 16 more where the tag was not found.
func findWay() string {
	b := &block{}
	b.i("MOVQ s+0(FP), DI")
	b.i("MOVL tag+8(FP), AX")
	b.i("VMOVD AX, X0")
	b.i("VPBROADCASTD X0, Y0")
	b.i("VPCMPEQD (DI), Y0, Y1")
	b.i("VPCMPEQD 32(DI), Y0, Y2")
	b.i("VMOVMSKPS Y1, AX")
	b.i("VMOVMSKPS Y2, BX")
	b.i("SHLL $8, BX")
	b.i("ORL BX, AX")
	b.i("JNE found")
	b.i("VMOVDQU 64(DI), Y1")
	b.i("VMOVDQU 96(DI), Y2")
	b.i("VPMINUD Y1, Y2, Y3")
	b.i("VEXTRACTI128 $1, Y3, X4")
	b.i("VPMINUD X4, X3, X3")
	b.i("VPSHUFD $0x4E, X3, X4")
	b.i("VPMINUD X4, X3, X3")
	b.i("VPSHUFD $0xB1, X3, X4")
	b.i("VPMINUD X4, X3, X3")
	b.i("VPBROADCASTD X3, Y3")
	b.i("VPCMPEQD Y1, Y3, Y1")
	b.i("VPCMPEQD Y2, Y3, Y2")
	b.i("VMOVMSKPS Y1, AX")
	b.i("VMOVMSKPS Y2, BX")
	b.i("SHLL $8, BX")
	b.i("ORL BX, AX")
	b.i("BSFL AX, AX")
	b.i("ORL $16, AX")
	b.i("VZEROUPPER")
	b.i("MOVL AX, ret+16(FP)")
	b.i("RET")
	b.label("found")
	b.i("BSFL AX, AX")
	b.i("VZEROUPPER")
	b.i("MOVL AX, ret+16(FP)")
	b.i("RET")
	return "// func vectorFindWay(s *l2Set, tag uint32) uint32\nTEXT ·vectorFindWay(SB), NOSPLIT, $0-20\n" + strings.Join(b.lines, "\n") + "\n\n"
}
