package vgpu

import (
	"encoding/binary"
	"math"

	"memwall/gpu/internal/driver"
)

// boxRun is a part of a row of a tensor map's box: neighbours that lie in the tensor, or outside of it.
type boxRun struct {
	at      uint64 // in the packed box, bytes
	address uint64 // of its first byte, where it lies inside
	bytes   uint64
	inside  bool
}

// boxBytes is the size of the packed box that one copy moves, outside parts included. With an element stride s a
// dimension of b elements yields ⌈b/s⌉; that of dimension 0 does not count.
func boxBytes(m *driver.TensorMap) uint64 {
	if m.Im2col {
		return uint64(m.Type.Bytes()) * uint64(m.Channels) * uint64(m.Pixels)
	}
	n := uint64(m.Type.Bytes()) * uint64(m.Box[0])
	for i := 1; i < m.Rank; i++ {
		n *= uint64((m.Box[i] + m.ElementStrides[i] - 1) / m.ElementStrides[i])
	}
	return n
}

// rowRuns gives the runs of a row of n elements from coordinate c0 on, whose other coordinates are where `inside` says.
func rowRuns(m *driver.TensorMap, runs []boxRun, at uint64, c0 int64, n uint64, row uint64, inside bool) []boxRun {
	size := uint64(m.Type.Bytes())
	low, high := max(c0, 0), min(c0+int64(n), int64(m.Dims[0]))
	if !inside || low >= high {
		return append(runs, boxRun{at: at, bytes: n * size})
	}
	if before := uint64(low-c0) * size; before > 0 {
		runs = append(runs, boxRun{at: at, bytes: before})
	}
	middle := uint64(high-low) * size
	from := at + uint64(low-c0)*size
	runs = append(runs, boxRun{at: from, address: row + uint64(low)*size, bytes: middle, inside: true})
	if behind := n*size - uint64(high-c0)*size; behind > 0 {
		runs = append(runs, boxRun{at: from + middle, bytes: behind})
	}
	return runs
}

// tiledRuns gives the runs of the box at coordinates c (PTX ISA 5.5.3).
func tiledRuns(m *driver.TensorMap, c *[5]int64) []boxRun {
	var runs []boxRun
	var j [5]int64 // steps within the box
	rowBytes := uint64(m.Type.Bytes()) * uint64(m.Box[0])
	for at := uint64(0); ; at += rowBytes {
		address, inside := uint64(m.Address), true
		for i := 1; i < m.Rank; i++ {
			x := c[i] + j[i]*int64(m.ElementStrides[i])
			inside = inside && x >= 0 && x < int64(m.Dims[i])
			address += uint64(x) * m.Strides[i-1]
		}
		runs = rowRuns(m, runs, at, c[0], uint64(m.Box[0]), address, inside)
		i := 1
		for ; i < m.Rank; i++ {
			if j[i]++; j[i]*int64(m.ElementStrides[i]) < int64(m.Box[i]) {
				break
			}
			j[i] = 0
		}
		if i >= m.Rank {
			return runs
		}
	}
}

// im2colRuns gives the runs of an im2col copy (5.5.4): from the pixel at coordinates c (channel, W, H, D, image) on,
// `Pixels` pixels of the box between the corners, W fastest, each moved by the offsets (of the filter's element).
func im2colRuns(m *driver.TensorMap, c *[5]int64, offsets *[3]int64) []boxRun {
	var runs []boxRun
	spatial := m.Rank - 2
	var p [3]int64
	for i := range spatial {
		p[i] = c[1+i]
	}
	image := c[m.Rank-1]
	rowBytes := uint64(m.Type.Bytes()) * uint64(m.Channels)
	for pixel := range uint64(m.Pixels) {
		address := uint64(m.Address) + uint64(image)*m.Strides[m.Rank-2]
		inside := image >= 0 && image < int64(m.Dims[m.Rank-1])
		for i := range spatial {
			x := p[i] + offsets[i]
			inside = inside && x >= 0 && x < int64(m.Dims[1+i])
			address += uint64(x) * m.Strides[i]
		}
		runs = rowRuns(m, runs, pixel*rowBytes, c[0], uint64(m.Channels), address, inside)
		i := 0
		for ; i < spatial; i++ {
			if p[i] += int64(m.ElementStrides[1+i]); p[i] <= int64(m.Dims[1+i])-1+int64(m.UpperCorner[i]) {
				break
			}
			p[i] = int64(m.LowerCorner[i])
		}
		if i == spatial {
			image++
		}
	}
	return runs
}

// swizzleMask is what bits 7–9 of an address are cut to before they change its bits 4–6 (PTX ISA 5.5.6).
func swizzleMask(s driver.TensorMapSwizzle) uint64 { return 1<<s - 1 }

// chunks calls f for each part of a run of n bytes that stays together in shared memory: from `from` bytes on in the run,
// at offset `to` of shared memory.
func chunks(start, n uint64, s driver.TensorMapSwizzle, f func(from, to, n uint64)) {
	mask := swizzleMask(s)
	if mask == 0 {
		f(0, start, n)
		return
	}
	for from := uint64(0); from < n; {
		at := start + from
		part := min(n-from, 16-at&15)
		f(from, at^at>>7&mask<<4, part)
		from += part
	}
}

// nanPattern is what fills elements outside of a tensor of a floating-point type with FillNaN, the last of its bytes first
// to be cut from.
func fillElements(b []byte, m *driver.TensorMap) {
	if !m.FillNaN {
		clear(b)
		return
	}
	size := m.Type.Bytes()
	for i := 0; i+size <= len(b); i += size {
		switch m.Type {
		case driver.TensorF16:
			binary.LittleEndian.PutUint16(b[i:], 0x7fff)
		case driver.TensorBF16:
			binary.LittleEndian.PutUint16(b[i:], 0x7fff)
		case driver.TensorF64:
			binary.LittleEndian.PutUint64(b[i:], 0x7fffffffffffffff)
		default:
			binary.LittleEndian.PutUint32(b[i:], 0x7fffffff)
		}
	}
}

// convertElements does what loading some types does to their elements: .ftz makes denormals zero, tf32 is rounded to its
// ten bits of fraction (to the nearest even).
func convertElements(b []byte, t driver.TensorMapType) {
	if t < driver.TensorF32FTZ || t > driver.TensorTF32FTZ {
		return
	}
	for i := 0; i+4 <= len(b); i += 4 {
		v := binary.LittleEndian.Uint32(b[i:])
		if t != driver.TensorTF32 && v&0x7f800000 == 0 {
			v &= 0x80000000
		}
		if t != driver.TensorF32FTZ && v&0x7f800000 != 0x7f800000 {
			v = (v + 0xfff + v>>13&1) &^ 0x1fff
		} else if t != driver.TensorF32FTZ && math.IsNaN(float64(math.Float32frombits(v))) {
			v = 0x7fffffff &^ 0x1fff
		}
		binary.LittleEndian.PutUint32(b[i:], v)
	}
}
