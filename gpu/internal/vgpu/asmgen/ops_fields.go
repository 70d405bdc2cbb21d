package asmgen

// fields are the operations on bits within a word.
func (s *set) fields() {
	s.funnelShifts()
	nibbles := func(f func(n byte) byte) []uint32 {
		var list []byte
		for range 2 {
			for n := range byte(16) {
				list = append(list, f(n))
			}
		}
		return bytesOf(list...)
	}
	counts := s.table("nibbleCounts", nibbles(func(n byte) byte { return n&1 + n>>1&1 + n>>2&1 + n>>3 }))
	reverse := func(n byte) byte { return n&1<<3 | n&2<<1 | n&4>>1 | n>>3 }
	low := s.table("reversedLow", nibbles(func(n byte) byte { return reverse(n) << 4 }))
	high := s.table("reversedHigh", nibbles(reverse))
	swap := s.table("swapBytes", bytesOf(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12))

	// count counts the ones of the words of Y0…3; it uses Y4…9.
	count := func(b *block) {
		b.i("VMOVDQU %s(SB), Y4", counts)
		b.fill(5, 0x0f0f0f0f)
		b.fill(6, 0x01010101)
		b.fill(7, 0x00010001)
		for k := range 4 {
			b.i("VPAND Y%d, Y5, Y8", k)
			b.i("VPSRLW $4, Y%d, Y9", k)
			b.i("VPAND Y9, Y5, Y9")
			b.i("VPSHUFB Y8, Y4, Y8")
			b.i("VPSHUFB Y9, Y4, Y9")
			b.i("VPADDB Y9, Y8, Y8")
			b.i("VPMADDUBSW Y6, Y8, Y8")
			b.i("VPMADDWD Y7, Y8, Y%d", k)
		}
	}
	s.lanes32("lanePopcB32", 1, count)
	s.lanes32("laneClzB32", 1, func(b *block) { // ones below the highest one, counted
		for _, shift := range []int{1, 2, 4, 8, 16} {
			for k := range 4 {
				b.i("VPSRLD $%d, Y%d, Y4", shift, k)
				b.i("VPOR Y4, Y%d, Y%d", k, k)
			}
		}
		count(b)
		b.fill(4, 32)
		b.each(4, "VPSUBD Y%d, Y4, Y%d", 0, 0)
	})
	s.lanes32("laneBrevB32", 1, func(b *block) {
		b.i("VMOVDQU %s(SB), Y4", low)
		b.i("VMOVDQU %s(SB), Y5", high)
		b.i("VMOVDQU %s(SB), Y6", swap)
		b.fill(7, 0x0f0f0f0f)
		for k := range 4 {
			b.i("VPSHUFB Y6, Y%d, Y8", k)
			b.i("VPAND Y7, Y8, Y9")
			b.i("VPSRLW $4, Y8, Y8")
			b.i("VPAND Y7, Y8, Y8")
			b.i("VPSHUFB Y9, Y4, Y9")
			b.i("VPSHUFB Y8, Y5, Y8")
			b.i("VPOR Y8, Y9, Y%d", k)
		}
	})
	s.bitFields()
	s.permutes()
}

// funnelShifts are shf: x is the lower word, y the upper one.
func (s *set) funnelShifts() {
	for _, o := range []struct {
		twin string
		left bool
		wrap bool
	}{{"laneShfLWrapB32", true, true}, {"laneShfRWrapB32", false, true}, {"laneShfLClampB32", true, false}, {"laneShfRClampB32", false, false}} {
		s.lanes32(o.twin, 3, func(b *block) {
			b.fill(14, 32)
			b.fill(15, 31)
			for k := range 4 {
				if o.wrap {
					b.i("VPAND Y15, Y%d, Y12", 8+k)
				} else {
					b.i("VPMINUD Y14, Y%d, Y12", 8+k)
				}
				b.i("VPSUBD Y12, Y14, Y13")
				if o.left {
					b.i("VPSLLVD Y12, Y%d, Y12", 4+k)
					b.i("VPSRLVD Y13, Y%d, Y13", k)
				} else {
					b.i("VPSRLVD Y12, Y%d, Y12", k)
					b.i("VPSLLVD Y13, Y%d, Y13", 4+k)
				}
				b.i("VPOR Y13, Y12, Y%d", k)
			}
		})
	}
}

// bitFields are bfe and bfi: a shift by 32 and more gives zeros, which is what fields past the top need.
func (s *set) bitFields() {
	s.lanes32("laneBfeU32", 3, func(b *block) {
		b.fill(12, 255)
		b.fill(13, 1)
		for k := range 4 {
			b.i("VPAND Y12, Y%d, Y14", 4+k)
			b.i("VPAND Y12, Y%d, Y15", 8+k)
			b.i("VPSRLVD Y14, Y%d, Y%d", k, k)
			b.i("VPSLLVD Y15, Y13, Y15")
			b.i("VPSUBD Y13, Y15, Y15")
			b.i("VPAND Y15, Y%d, Y%d", k, k)
		}
	})
	// The field's top goes to the word's top, and down again with its sign.
	s.lanes32("laneBfeS32", 3, func(b *block) {
		b.fill(12, 255)
		b.fill(13, 32)
		for k := range 4 {
			b.i("VPAND Y12, Y%d, Y14", 4+k)
			b.i("VPAND Y12, Y%d, Y15", 8+k)
			b.i("VPXOR Y%d, Y%d, Y%d", 4+k, 4+k, 4+k)
			b.i("VPCMPEQD Y15, Y%d, Y%d", 4+k, 4+k) // an empty field is 0
			b.i("VPADDD Y14, Y15, Y15")
			b.i("VPMINUD Y13, Y15, Y15")
			b.i("VPSUBD Y15, Y13, Y15")
			b.i("VPSLLVD Y15, Y%d, Y%d", k, k)
			b.i("VPADDD Y14, Y15, Y15")
			b.i("VPSRAVD Y15, Y%d, Y%d", k, k)
			b.i("VPANDN Y%d, Y%d, Y%d", k, 4+k, k)
		}
	})
	s.define("laneBfiB32", func(b *block) {
		b.slots(4)
		b.fill(12, 255)
		b.fill(13, 1)
		for k := range 4 {
			b.i("VPAND %s, Y12, Y0", at("SI", k))
			b.i("VPAND %s, Y12, Y1", at("DI", k))
			b.i("VPSLLVD Y1, Y13, Y1")
			b.i("VPSUBD Y13, Y1, Y1")
			b.i("VPSLLVD Y0, Y1, Y1")
			b.i("VMOVDQU %s, Y2", at("BX", k))
			b.i("VPSLLVD Y0, Y2, Y2")
			b.i("VPAND Y1, Y2, Y2")
			b.i("VPANDN %s, Y1, Y1", at("CX", k))
			b.i("VPOR Y1, Y2, Y2")
			b.i("VMOVDQU Y2, %s", at("DX", k))
		}
	})
}

// permutes is prmt: the nibbles of the selector become bytes that pick from {x, y} of two lanes at a time.
func (s *set) permutes() {
	second := s.table("secondLane", bytesOf(0, 0, 0, 0, 8, 8, 8, 8, 0, 0, 0, 0, 8, 8, 8, 8, 0, 0, 0, 0, 8, 8, 8, 8, 0, 0, 0, 0, 8, 8, 8, 8))
	s.lanes32("lanePrmtB32", 3, func(b *block) {
		b.fill(12, 0x0f0f0f0f)
		b.fill(13, 0x07070707)
		for k := range 4 {
			// Bytes of the selector: s | s<<4 spreads bytes to halves, then nibbles to bytes.
			b.i("VPSLLD $16, Y%d, Y14", 8+k)
			b.i("VPSRLD $16, Y14, Y14")
			b.i("VPSLLD $8, Y14, Y15")
			b.i("VPOR Y15, Y14, Y14")
			b.fill(15, 0x00ff00ff)
			b.i("VPAND Y15, Y14, Y14")
			b.i("VPSLLD $4, Y14, Y15")
			b.i("VPOR Y15, Y14, Y14")
			b.i("VPAND Y12, Y14, Y14") // a nibble a byte
			b.i("VPUNPCKLDQ Y%d, Y%d, Y15", 4+k, k)
			b.i("VPUNPCKHDQ Y%d, Y%d, Y%d", 4+k, k, k)
			// Selectors of lanes 0, 1 and of lanes 2, 3 beside their words.
			b.i("VPAND Y13, Y14, Y%d", 4+k)
			b.i("VPADDB %s(SB), Y%d, Y%d", second, 4+k, 4+k)
			b.i("VPSHUFD $0x44, Y%d, Y%d", 4+k, 8+k)
			b.i("VPSHUFB Y%d, Y15, Y15", 8+k)
			b.i("VPSHUFD $0xEE, Y%d, Y%d", 4+k, 8+k)
			b.i("VPSHUFB Y%d, Y%d, Y%d", 8+k, k, k)
			b.i("VPBLENDD $0xCC, Y%d, Y15, Y%d", k, k)
			// With the selector's top bit set, the byte's sign.
			b.i("VPXOR Y15, Y15, Y15")
			b.i("VPCMPGTB Y%d, Y15, Y15", k)
			b.i("VPSLLD $4, Y14, Y14")
			b.i("VPBLENDVB Y14, Y15, Y%d, Y%d", k, k)
		}
	})
}
