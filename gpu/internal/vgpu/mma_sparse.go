package vgpu

import (
	"fmt"

	"memwall/gpu/internal/driver"
)

// In a sparse mma half of each chunk of a row of A is zero and left out; metadata say where the others belong (PTX ISA
// 9.7.14.6.1). Of f16, bf16, the 8-bit types and s8/u8 a chunk is of four elements, two kept, two bits of metadata for
// each: its place in the chunk. Of s4 and u4 a chunk is of four pairs. Of tf32 a chunk is of two elements, one kept, four
// bits: 0b0100 for the first, 0b1110 for the second. The bits of a row stand in one or more of the four lanes of its
// group: of 16- and 32-bit types the selected lane holds 16 bits of row l/4 and above them 16 of row l/4+8; of smaller
// types one lane holds 32 bits of row l/4, the next those of row l/4+8.

// metadataThreads gives how many lanes of a group of four hold metadata.
func (s *mmaShape) metadataThreads() int { return s.m * s.rowBits() / 8 / 32 }

// rowBits gives the bits of metadata of one row.
func (s *mmaShape) rowBits() int {
	switch {
	case s.a.name == "tf32":
		return 2 * s.k
	case s.a.bits == 4:
		return s.k / 2
	}
	return s.k
}

// metadata gives for each stored element of A its column, rows one after another; nil for a dense mma.
func (w *warp) metadata(in *inst) []uint8 {
	s := in.ext.mma
	if !s.sparse() {
		return nil
	}
	words := w.u32(in.ext.sources[len(in.ext.sources)-1])
	return w.places(in, s, words, int(in.imm)*s.metadataThreads())
}

// places reads metadata, of which the lanes from `first` on of each group hold the first.
func (w *warp) places(in *inst, s *mmaShape, words *[32]uint32, first int) []uint8 {
	list := make([]uint8, 16*s.kept)
	for row := range 16 {
		bits := func(at, n int) int {
			lane, shift := 4*(row&7)+first, at
			if s.a.bits >= 16 {
				lane, shift = lane+at>>4, at&15+16*(row>>3)
			} else {
				lane, shift = lane+at>>5*2+row>>3, at&31
			}
			return int(words[lane&31]>>shift) & (1<<n - 1)
		}
		where := list[row*s.kept : (row+1)*s.kept]
		if s.a.name == "tf32" {
			for p := range where {
				switch code := bits(4*p, 4); code {
				case 0b0100:
					where[p] = uint8(2 * p)
				case 0b1110:
					where[p] = uint8(2*p + 1)
				default:
					w.badMetadata(in, s, row, code)
				}
			}
			continue
		}
		pair := 1 // elements that are kept together
		if s.a.bits == 4 {
			pair = 2
		}
		for chunk := range s.kept / 2 / pair {
			code := bits(4*chunk, 4)
			low, high := code&3, code>>2
			if low == high || s.ordered && low > high {
				w.badMetadata(in, s, row, code)
			}
			for i := range pair {
				where[2*pair*chunk+i] = uint8(pair*(4*chunk+low) + i)
				where[2*pair*chunk+pair+i] = uint8(pair*(4*chunk+high) + i)
			}
		}
	}
	return list
}

// badMetadata stops at metadata that name no two different elements; on a GPU the result would be undefined.
func (w *warp) badMetadata(in *inst, s *mmaShape, row, code int) {
	detail := "each four bits name two different places"
	switch {
	case s.a.name == "tf32":
		detail = "each four bits are 0b0100 or 0b1110"
	case s.ordered:
		detail = "each four bits name two different places, the lower first"
	}
	w.fault(in, 4*(row&7), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("sparse metadata 0b%04b in row %d of A: %s", code, row, detail), Mend: "give each group of four two different positions, the smaller first"})
}
