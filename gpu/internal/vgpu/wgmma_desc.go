package vgpu

// A matrix descriptor says where an operand of wgmma lies in shared memory (PTX ISA 9.7.15.5.1.2), from the low end:
//
//	bits 0–13   address of the matrix / 16
//	bits 16–29  leading dimension byte offset / 16
//	bits 32–45  stride dimension byte offset / 16
//	bits 49–51  base offset: row of the swizzle pattern at which the matrix begins
//	bits 62–63  swizzle: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32
//
// A matrix is made of core matrices of eight lines of 16 bytes. A line is 16·w bytes of memory, w being 8, 4, 2 or 1 with
// a swizzle of 128, 64, 32 bytes or none. Where the line runs along K (the usual case), line r of a core matrix is row r
// of A (column of B), the next eight lie the stride offset further, and without a swizzle the next 16 bytes of K the
// leading offset further. Where it runs along M or N (transposed), line r is element r of K; with a swizzle the next
// 8·w elements lie the leading offset further and the next eight of K the stride offset, without one the other way round.
type descriptor struct {
	start, leading, stride uint64
	base                   uint64
	lines                  uint64 // 16-byte units in a line
	mask                   uint64 // of the line's number that the swizzle takes
	half                   int    // of a sparse wgmma's B, which has twice the K: 1 for the second 32 bytes
}

func newDescriptor(bits uint64) descriptor {
	d := descriptor{start: bits & 0x3fff << 4, leading: bits >> 16 & 0x3fff << 4, stride: bits >> 32 & 0x3fff << 4, base: bits >> 49 & 7}
	switch bits >> 62 {
	case 0:
		d.lines = 1
	case 1:
		d.lines, d.mask = 8, 7
	case 2:
		d.lines, d.mask = 4, 3
	case 3:
		d.lines, d.mask = 2, 1
	}
	return d
}

// swizzled gives where a byte lies: address bits 4–6 are combined with bits 7–9.
func (d *descriptor) swizzled(address uint64) uint64 {
	return address ^ (address>>7-d.base)&d.mask<<4
}

// alongK gives the address of 16 bytes of a row: unit 0 or 1 of its 32 bytes of K.
func (d *descriptor) alongK(row, unit int) uint64 {
	at := d.start + uint64(row>>3)*d.stride + uint64(row&7)*16*d.lines
	unit += 2 * d.half
	if d.lines == 1 {
		return at + uint64(unit)*d.leading
	}
	return d.swizzled(at + 16*uint64(unit))
}

// across gives the address of eight 16-bit elements of K's line k, from element 8·unit of M or N on.
func (d *descriptor) across(unit, k int) uint64 {
	k += 16 * d.half
	at := d.start + uint64(k&7)*16*d.lines
	if d.lines == 1 {
		return at + uint64(unit)*d.stride + uint64(k>>3)*d.leading
	}
	w := int(d.lines)
	return d.swizzled(at + uint64(unit%w)*16 + uint64(unit/w)*d.leading + uint64(k>>3)*d.stride)
}
