package asmgen

// warp are shuffles and votes of all 32 lanes; with fewer active ones they are left to Go.
func (s *set) warp() {
	var turns []uint32
	for x := range uint32(8) {
		for lane := range uint32(8) {
			turns = append(turns, lane^x)
		}
	}
	s.table("butterfly", turns)
	lanes := make([]uint32, 32)
	for i := range lanes {
		lanes[i] = uint32(i)
	}
	s.table("laneNumbers", lanes)

	// The distance's upper two bits pick a register, the lower three a lane in it.
	s.define("opButterfly", func(b *block) {
		b.slots(1)
		b.i("MOVL %d(R9), AX", instImm)
		b.i("LEAQ butterfly<>(SB), DI")
		b.i("MOVL AX, CX")
		b.i("ANDL $7, CX")
		b.i("SHLL $5, CX")
		b.i("VMOVDQU (DI)(CX*1), Y4")
		b.i("SHRL $3, AX")
		b.i("SHLL $5, AX")
		b.i("ADDQ R8, BX")
		for k := range 4 {
			b.i("MOVL $%d, CX", 32*k)
			b.i("XORL AX, CX")
			b.i("VPERMD (BX)(CX*1), Y4, Y%d", k)
		}
		b.store(0, 4)
	})
	s.shuffles()
	s.votes()
}

// member leaves for Go where a lane is not in its own member mask, whose index is in DI.
func (b *block) member() {
	b.i("VMOVDQU %s, Y15", at("DI", 0))
	b.i("VPSLLVD laneToSign<>(SB), Y15, Y14")
	for k := 1; k < 4; k++ {
		b.i("VMOVDQU %s, Y15", at("DI", k))
		b.i("VPSLLVD laneToSign<>+%d(SB), Y15, Y15", 32*k)
		b.i("VPAND Y15, Y14, Y14")
	}
	b.i("VMOVMSKPS Y14, AX")
	b.i("CMPL AX, $255")
	b.i("JNE bail")
}

// everyLane leaves the op to Go unless all lanes name all lanes as members: groups vote apart.
func (b *block) everyLane() {
	b.i("VMOVDQU %s, Y14", at("DI", 0))
	for k := 1; k < 4; k++ {
		b.i("VPAND %s, Y14, Y14", at("DI", k))
	}
	b.i("VPCMPEQD Y15, Y15, Y15")
	b.i("VPCMPEQD Y15, Y14, Y14")
	b.i("VMOVMSKPS Y14, AX")
	b.i("CMPL AX, $255")
	b.i("JNE bail")
}

// shuffles are shfl.sync of any distance and clamp: up, down, bfly, idx. Y0…3 become the lanes to read from, Y4…7 tell
// which are in range.
func (s *set) shuffles() {
	for mode := range 4 {
		for _, second := range []bool{false, true} {
			variant := mode
			if second {
				variant += 4
			}
			s.variant("opShuffle", variant, func(b *block) {
				b.slots(4)
				b.member()
				b.fill(15, 31)
				for k := range 4 {
					b.i("VMOVDQU laneNumbers<>+%d(SB), Y8", 32*k)
					b.i("VPAND %s, Y15, Y9", at("CX", k)) // distance
					b.i("VMOVDQU %s, Y10", at("SI", k))
					b.i("VPSRLD $8, Y10, Y11")
					b.i("VPAND Y15, Y10, Y10") // clamp
					b.i("VPAND Y15, Y11, Y11") // segment
					b.i("VPANDN Y10, Y11, Y10")
					b.i("VPAND Y11, Y8, Y12")
					b.i("VPOR Y12, Y10, Y10") // the last lane, or for up the first
					switch mode {
					case 0:
						b.i("VPSUBD Y9, Y8, Y9")
						b.i("VPCMPGTD Y9, Y10, Y%d", 4+k)
					case 1:
						b.i("VPADDD Y9, Y8, Y9")
					case 2:
						b.i("VPXOR Y9, Y8, Y9")
					case 3:
						b.i("VPANDN Y9, Y11, Y9")
						b.i("VPOR Y12, Y9, Y9")
					}
					if mode != 0 {
						b.i("VPCMPGTD Y10, Y9, Y%d", 4+k)
					}
					b.i("VBLENDVPS Y%d, Y8, Y9, Y%d", 4+k, k) // out of range: the lane itself
				}
				b.i("ADDQ R8, BX")
				for k := range 4 {
					b.i("VPCMPEQD Y8, Y8, Y8")
					b.i("VPGATHERDD Y8, (BX)(Y%d*4), Y%d", k, 9+k)
				}
				b.store(9, 4)
				if second {
					b.maskOf(4)
					b.i("NOTL AX")
					b.i("MOVQ %d(R9), DI", instExt)
					b.i("MOVL %d(DI), DX", extraSecond)
					b.i("MOVL AX, (R10)(DX*4)")
				}
				b.next()
				b.label("bail")
				b.leave()
			})
		}
	}
}

// votes are vote.sync of the whole warp: all, any, uni, ballot.
func (s *set) votes() {
	for kind := range 4 {
		s.variant("opVote", kind, func(b *block) {
			b.i("MOVL %d(R9), DX", instD)
			b.i("MOVL %d(R9), BX", instA)
			b.i("MOVL %d(R9), DI", instE)
			b.everyLane()
			b.i("MOVL $-1, CX")
			b.i("MOVL (R10)(BX*4), AX")
			b.i("XORL %d(R9), AX", instImm)
			b.i("ANDL CX, AX")
			if kind == 3 {
				b.i("VMOVD AX, X0")
				b.i("VPBROADCASTD X0, Y0")
				for k := range 4 {
					b.i("VMOVDQU Y0, %s", at("DX", k))
				}
			} else {
				b.i("XORL SI, SI")
				b.i("MOVL $-1, DI")
				if kind != 0 { // any, uni
					b.i("TESTL AX, AX")
					if kind == 1 {
						b.i("CMOVLNE DI, SI")
					} else {
						b.i("CMOVLEQ DI, SI")
					}
				}
				if kind != 1 {
					b.i("CMPL AX, CX")
					b.i("CMOVLEQ DI, SI")
				}
				b.i("MOVL SI, AX")
				b.setPredicate()
			}
			b.next()
			b.label("bail")
			b.leave()
		})
	}
	s.define("opActive", func(b *block) {
		b.slots(0)
		b.i("VPBROADCASTD %s, Y0", contextMaskText)
		for k := range 4 {
			b.i("VMOVDQU Y0, %s", at("DX", k))
		}
	})
}
