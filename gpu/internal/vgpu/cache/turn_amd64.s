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

// Offsets in vectorTurn.
#define turnTrace     0
#define turnAt        8
#define turnEnd       16
#define turnGroups    24
#define turnInverse   32
#define turnSets      40
#define turnOut       48
#define turnAfter     56
#define turnLeft      64
#define turnRequested 72
#define turnTook      80
#define turnLookups   88
#define turnHits      96
#define turnLines     104
#define turnSectors   112
#define turnTaken     120
#define turnRest      128
#define turnLack      136

// LOOK looks for the lines with the tags in Y0 in the group at DX, asking for the sectors in Y1: the found words into Y12, and the ways
// as they are afterwards into Y0, Y4, Y5, Y6, but for lanes that do not look.
#define LOOK \
	VMOVDQU   (DX), Y4       \
	VMOVDQU   32(DX), Y5     \
	VMOVDQU   64(DX), Y6     \
	VMOVDQU   96(DX), Y7     \
	VPAND     Y13, Y4, Y8    \
	VPAND     Y13, Y5, Y9    \
	VPAND     Y13, Y6, Y14   \
	VPAND     Y13, Y7, Y15   \
	VPCMPEQQ  Y0, Y8, Y8     \
	VPCMPEQQ  Y0, Y9, Y9     \
	VPCMPEQQ  Y0, Y14, Y14   \
	VPCMPEQQ  Y0, Y15, Y15   \
	VPAND     Y7, Y15, Y15   \
	VPAND     Y4, Y8, Y12    \
	VPOR      Y15, Y12, Y12  \
	VPAND     Y5, Y9, Y15    \
	VPOR      Y15, Y12, Y12  \
	VPAND     Y6, Y14, Y15   \
	VPOR      Y15, Y12, Y12  \
	VPOR      Y12, Y0, Y0    \
	VPOR      Y1, Y0, Y0

// KEEP writes the ways back, shifted down as far as the lane's line was found: Y8, Y9, Y14 say in which of the first three ways.
#define KEEP \
	VPOR      Y8, Y9, Y9     \
	VPOR      Y9, Y14, Y14   \
	VBLENDVPD Y14, Y7, Y6, Y7 \
	VBLENDVPD Y9, Y6, Y5, Y6 \
	VBLENDVPD Y8, Y5, Y4, Y5 \
	VMOVDQU   Y0, (DX)       \
	VMOVDQU   Y5, 32(DX)     \
	VMOVDQU   Y6, 64(DX)     \
	VMOVDQU   Y7, 96(DX)

// NOTE puts down which of the sectors in Y15 the lanes lack.
#define NOTE \
	VPANDN    Y15, Y12, Y12  \
	VMOVDQU   Y12, (R13)     \
	VPOR      Y12, Y10, Y10  \
	VPCMPEQQ  Y15, Y12, Y12  \
	VPAND     Y12, Y11, Y11  \
	ADDQ      $32, R13

// func vectorLoads(t *vectorTurn) (mixed bool)
TEXT ·vectorLoads(SB), NOSPLIT, $0-9
	MOVQ     t+0(FP), DI
	MOVQ     turnTrace(DI), SI
	MOVQ     turnAt(DI), R8
	MOVQ     turnGroups(DI), R9
	LEAQ     flips<>(SB), R10
	MOVQ     turnTook(DI), R11
	VPCMPEQD Y13, Y13, Y13
	VPSLLQ   $4, Y13, Y13            // tagMask

entry:
	CMPQ R8, turnEnd(DI)
	JGE  done
	CMPQ R11, $32
	JGE  done
	MOVQ (SI)(R8*8), R12
	TESTQ $0x40, R12                 // Bypass
	JNE  done
	MOVQ R12, CX                     // lines: 1, or of a run
	SHRQ $60, CX
	MOVQ R12, BX
	SHRQ $4, BX
	ANDQ $1, BX
	NEGQ BX
	ANDQ BX, CX
	INCQ CX
	MOVQ turnTaken(DI), AX
	SUBQ AX, CX
	MOVQ R12, BX
	SHRQ $8, BX
	MOVL BX, BX                      // the line
	ADDQ AX, BX
	MOVQ CX, turnRest(DI)
	MOVQ $32, AX
	SUBQ R11, AX
	CMPQ CX, AX                      // of a run that is too long, what fits into the turn
	CMOVQGT AX, CX
	MOVQ CX, turnLines(DI)
	MOVQ R12, AX
	ANDQ $15, AX
	VMOVQ AX, X1
	VPBROADCASTQ X1, Y1              // sectors
	POPCNTQ AX, AX
	IMULQ CX, AX
	MOVQ AX, turnSectors(DI)
	ADDQ AX, turnLookups(DI)
	MOVQ R12, DX
	SHRQ $40, DX
	ANDQ $0xfffff, DX
	MOVQ turnRequested(DI), R13
	ADDQ AX, (R13)(DX*8)
	VPXOR Y10, Y10, Y10              // what any line lacks
	VPCMPEQD Y11, Y11, Y11           // whether all lack all
	LEAQ turnLack(DI), R13

group:
	MOVQ BX, AX
	SHRQ $7, AX
	MOVQ AX, DX
	ANDQ $3, DX
	SHLQ $5, DX
	VMOVDQU (R10)(DX*1), Y2
	XORQ BX, AX
	ANDQ $~3, AX
	IMULQ turnInverse(DI), AX        // the set, as divisor.of
	MULQ turnSets(DI)
	SHLQ $5, DX
	ADDQ R9, DX
	MOVQ BX, AX
	ANDQ $3, AX
	JNE  some
	CMPQ CX, $4
	JLT  some
	LEAQ 1(BX), AX
	SHLQ $4, AX
	VMOVQ AX, X0
	VPBROADCASTQ X0, Y0
	VPADDQ Y2, Y0, Y0                // tags
	LOOK
	KEEP
	VMOVDQA Y1, Y15
	NOTE
	ADDQ $4, BX
	SUBQ $4, CX
	JNE  group
	JMP  counted

some: // R15 lines of the group, from the AX-th
	MOVQ $4, R15
	SUBQ AX, R15
	CMPQ R15, CX
	CMOVQGT CX, R15
	SUBQ AX, BX
	LEAQ 1(BX), BX
	SHLQ $4, BX
	VMOVQ BX, X0
	SHRQ $4, BX
	DECQ BX
	VPBROADCASTQ X0, Y0
	VPADDQ Y2, Y0, Y0                // tags
	ADDQ AX, BX
	VPSRLQ $4, Y2, Y2                // which line of the group a lane has
	VMOVQ AX, X3
	VPBROADCASTQ X3, Y3
	ADDQ R15, AX
	VMOVQ AX, X8
	VPBROADCASTQ X8, Y8
	VPCMPGTQ Y2, Y3, Y3              // it lies before them
	VPCMPGTQ Y2, Y8, Y2              // it does not lie behind them
	VPANDN Y2, Y3, Y2                // lanes that look
	LOOK
	VBLENDVPD Y2, Y0, Y4, Y0
	VPCMPEQD Y15, Y15, Y15
	VPXOR Y2, Y15, Y15
	VPOR Y15, Y8, Y8                 // the others keep what they have
	KEEP
	VPAND Y1, Y2, Y15
	NOTE
	ADDQ R15, BX
	SUBQ R15, CX
	JNE  group

counted:
	VPTEST Y10, Y10
	JNE  lacking
	MOVQ turnSectors(DI), AX
	ADDQ AX, turnHits(DI)

next:
	MOVQ turnLines(DI), AX
	ADDQ AX, R11
	CMPQ AX, turnRest(DI)
	JNE  part
	MOVQ $0, turnTaken(DI)
	INCQ R8
	JMP  entry

part:
	ADDQ AX, turnTaken(DI)
	JMP  done

lacking:
	VMOVMSKPD Y11, AX
	CMPL AX, $15
	JNE  mixed
	MOVQ turnTaken(DI), AX           // a part of a run is not put down as it is
	ADDQ turnRest(DI), AX
	CMPQ AX, turnLines(DI)
	JNE  mixed
	MOVQ turnLeft(DI), AX
	MOVQ turnOut(DI), DX
	MOVQ R12, (DX)(AX*8)
	MOVQ turnAfter(DI), DX
	MOVB R11, (DX)(AX*1)
	INCQ turnLeft(DI)
	JMP  next

mixed:
	MOVQ R8, turnAt(DI)
	MOVQ R11, turnTook(DI)
	VZEROUPPER
	MOVB $1, mixed+8(FP)
	RET

done:
	MOVQ R8, turnAt(DI)
	MOVQ R11, turnTook(DI)
	VZEROUPPER
	MOVB $0, mixed+8(FP)
	RET
