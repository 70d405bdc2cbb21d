#include "textflag.h"

// What is added to the tag in lane k: 16 times k ^ flip.
DATA flips<>+0(SB)/8, $0
DATA flips<>+8(SB)/8, $16
DATA flips<>+16(SB)/8, $32
DATA flips<>+24(SB)/8, $48
DATA flips<>+32(SB)/8, $16
DATA flips<>+40(SB)/8, $0
DATA flips<>+48(SB)/8, $48
DATA flips<>+56(SB)/8, $32
DATA flips<>+64(SB)/8, $32
DATA flips<>+72(SB)/8, $48
DATA flips<>+80(SB)/8, $0
DATA flips<>+88(SB)/8, $16
DATA flips<>+96(SB)/8, $48
DATA flips<>+104(SB)/8, $32
DATA flips<>+112(SB)/8, $16
DATA flips<>+120(SB)/8, $0
GLOBL flips<>(SB), RODATA|NOPTR, $128

// func vectorLook(quad *group, tag, flip, lines, sectors uint64, lack *[4]uint64) (found int)
//
// It equals the Go loop in lookUp (group.go), for four lanes at once.
TEXT ·vectorLook(SB), NOSPLIT, $0-56
	MOVQ         quad+0(FP), DI
	MOVQ         flip+16(FP), CX
	SHLQ         $5, CX
	LEAQ         flips<>(SB), SI
	VMOVDQU      (SI)(CX*1), Y8 // 16 times k ^ flip
	VPBROADCASTQ tag+8(FP), Y0
	VPADDQ       Y8, Y0, Y0                  // tags
	VPBROADCASTQ sectors+32(FP), Y1
	VPSRLQ       $4, Y8, Y8                  // the line of each lane
	VPBROADCASTQ lines+24(FP), Y2
	VPSRLVQ      Y8, Y2, Y2
	VPSLLQ       $63, Y2, Y2                 // in the sign: lanes that look
	VPXOR        Y3, Y3, Y3
	VPCMPGTQ     Y2, Y3, Y2
	VPCMPEQD     Y3, Y3, Y3
	VPSLLQ       $4, Y3, Y3                  // tagMask
	VMOVDQU      (DI), Y4
	VMOVDQU      32(DI), Y5
	VMOVDQU      64(DI), Y6
	VMOVDQU      96(DI), Y7
	VPAND        Y3, Y4, Y8
	VPAND        Y3, Y5, Y9
	VPAND        Y3, Y6, Y10
	VPAND        Y3, Y7, Y11
	VPCMPEQQ     Y0, Y8, Y8                  // found in way 0, 1, 2, 3
	VPCMPEQQ     Y0, Y9, Y9
	VPCMPEQQ     Y0, Y10, Y10
	VPCMPEQQ     Y0, Y11, Y11
	VPAND        Y4, Y8, Y12
	VPAND        Y5, Y9, Y13
	VPAND        Y6, Y10, Y14
	VPAND        Y7, Y11, Y11
	VPOR         Y13, Y12, Y12
	VPOR         Y11, Y14, Y14
	VPOR         Y14, Y12, Y12               // the word that was found, or 0
	VPOR         Y12, Y0, Y0
	VPOR         Y1, Y0, Y0                  // the new first word
	VPAND        Y2, Y1, Y1                  // sectors that are asked for
	VPANDN       Y1, Y12, Y12                // and lacking
	VPCMPEQD     Y3, Y3, Y3
	VPXOR        Y3, Y2, Y3
	VPOR         Y3, Y8, Y8                  // lanes that do not look keep what they have
	VPOR         Y8, Y9, Y9
	VPOR         Y9, Y10, Y10
	VBLENDVPD    Y2, Y0, Y4, Y0
	VBLENDVPD    Y8, Y5, Y4, Y4
	VBLENDVPD    Y9, Y6, Y5, Y5
	VBLENDVPD    Y10, Y7, Y6, Y6
	VMOVDQU      Y0, (DI)
	VMOVDQU      Y4, 32(DI)
	VMOVDQU      Y5, 64(DI)
	VMOVDQU      Y6, 96(DI)
	MOVQ         lack+40(FP), SI
	VMOVDQU      Y12, (SI)
	XORL         AX, AX
	VPTEST       Y12, Y12
	JEQ          done
	VPCMPEQQ     Y1, Y12, Y1
	VMOVMSKPD    Y1, CX
	MOVL         $1, AX
	MOVL         $2, DX
	CMPL         CX, $15
	CMOVLNE      DX, AX

done:
	VZEROUPPER
	MOVQ AX, found+48(FP)
	RET
