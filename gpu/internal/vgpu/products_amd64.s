#include "textflag.h"

// func addProductsAVX2(c *float32, n int, a *float32, k int, b *float32)
// For each j below n, a multiple of 8: c[j] += a[p]*b[p*n+j], p from 0 to k−1, product and sum rounded one after the other.
TEXT ·addProductsAVX2(SB), NOSPLIT, $0-40
	MOVQ c+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ a+16(FP), SI
	MOVQ k+24(FP), R8
	MOVQ b+32(FP), BX
	MOVQ CX, R9
	SHLQ $2, R9 // bytes of a row of b

columns32:
	CMPQ CX, $32
	JLT columns8
	VMOVUPS 0(DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3
	MOVQ SI, AX
	MOVQ BX, DX
	MOVQ R8, R10

row32:
	VBROADCASTSS (AX), Y8
	VMULPS 0(DX), Y8, Y4
	VMULPS 32(DX), Y8, Y5
	VMULPS 64(DX), Y8, Y6
	VMULPS 96(DX), Y8, Y7
	VADDPS Y4, Y0, Y0
	VADDPS Y5, Y1, Y1
	VADDPS Y6, Y2, Y2
	VADDPS Y7, Y3, Y3
	ADDQ $4, AX
	ADDQ R9, DX
	DECQ R10
	JNZ row32
	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $128, BX
	SUBQ $32, CX
	JMP columns32

columns8:
	CMPQ CX, $8
	JLT done
	VMOVUPS 0(DI), Y0
	MOVQ SI, AX
	MOVQ BX, DX
	MOVQ R8, R10

row8:
	VBROADCASTSS (AX), Y8
	VMULPS 0(DX), Y8, Y4
	VADDPS Y4, Y0, Y0
	ADDQ $4, AX
	ADDQ R9, DX
	DECQ R10
	JNZ row8
	VMOVUPS Y0, 0(DI)
	ADDQ $32, DI
	ADDQ $32, BX
	SUBQ $8, CX
	JMP columns8

done:
	VZEROUPPER
	RET
