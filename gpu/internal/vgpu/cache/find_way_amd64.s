#include "textflag.h"

// func vectorFindWay(s *set, tag uint32) uint32
//
// It equals the Go loop in searchWay (sets.go): the tags are the first 64 bytes of a set, the ages the next 64.
TEXT ·vectorFindWay(SB), NOSPLIT, $0-20
	MOVQ         s+0(FP), DI
	MOVL         tag+8(FP), AX
	VMOVD        AX, X0
	VPBROADCASTD X0, Y0
	VPCMPEQD     (DI), Y0, Y1
	VPCMPEQD     32(DI), Y0, Y2
	VMOVMSKPS    Y1, AX
	VMOVMSKPS    Y2, BX
	SHLL         $8, BX
	ORL          BX, AX
	JNE          found

	// The least age in every lane, and the first way that has it.
	VMOVDQU      64(DI), Y1
	VMOVDQU      96(DI), Y2
	VPMINUD      Y1, Y2, Y3
	VEXTRACTI128 $1, Y3, X4
	VPMINUD      X4, X3, X3
	VPSHUFD      $0x4E, X3, X4
	VPMINUD      X4, X3, X3
	VPSHUFD      $0xB1, X3, X4
	VPMINUD      X4, X3, X3
	VPBROADCASTD X3, Y3
	VPCMPEQD     Y1, Y3, Y1
	VPCMPEQD     Y2, Y3, Y2
	VMOVMSKPS    Y1, AX
	VMOVMSKPS    Y2, BX
	SHLL         $8, BX
	ORL          BX, AX
	BSFL         AX, AX
	ORL          $16, AX
	VZEROUPPER
	MOVL         AX, ret+16(FP)
	RET

found:
	BSFL AX, AX
	VZEROUPPER
	MOVL AX, ret+16(FP)
	RET
