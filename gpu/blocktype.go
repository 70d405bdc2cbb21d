package gpu

import (
	"fmt"
	"math"
	"strings"

	"memwall/gpu/quant"
)

// blockTypes is where the element types begin whose values share a block: the i-th is the i-th row of gpu/quant's table.
const blockTypes DType = 64

// The block formats of GGUF and OCP MX, by the rows of gpu/quant's table. The values of a row lie in blocks that carry their
// own scale, so the last extent of a tensor is a multiple of the block.
const (
	Q8_0 DType = blockTypes + iota
	Q4_0
	Q4_1
	Q5_0
	Q5_1
	Q2_K
	Q3_K
	Q4_K
	Q5_K
	Q6_K
	MXFP4
	Q8_1
)

// TypeNamed is the element type of a name: "f16", "e4m3", "q4_k"; case does not matter. A format that has a row in gpu/quant
// but no constant here is reached by its name.
func TypeNamed(name string) (DType, error) {
	var all []string
	for t := DType(1); t.valid() || t < blockTypes; t++ {
		if !t.valid() {
			continue
		}
		if strings.EqualFold(t.String(), name) {
			return t, nil
		}
		all = append(all, t.String())
	}
	return 0, fail("there are "+strings.Join(all, ", "), "no element type %q", name)
}

// format is the block format of the type, nil for a plain type.
func (t DType) format() *quant.Format {
	if t < blockTypes {
		return nil
	}
	return quant.At(int(t - blockTypes))
}

// Block is how many values share a block; 1 for plain types.
func (t DType) Block() int {
	if f := t.format(); f != nil {
		return f.Block
	}
	return 1
}

// Size is the bytes of n elements in a row; of a block format's blocks, begun ones counted whole.
func (t DType) Size(n int) int64 {
	if f := t.format(); f != nil {
		return int64((n+f.Block-1)/f.Block) * int64(f.Bytes)
	}
	return int64(n) * int64(t.Bytes())
}

// Bits is how many bits an element takes, its share of scales included.
func (t DType) Bits() float64 {
	if f := t.format(); f != nil {
		return f.Bits()
	}
	return 8 * float64(t.Bytes())
}

// checkBlocks refuses rows that are no whole number of blocks.
func (t DType) checkBlocks(operation string, shape []int) error {
	f := t.format()
	if f == nil {
		return nil
	}
	how := fmt.Sprintf("make the last extent a multiple of %d", f.Block)
	if len(shape) == 0 {
		return fail(how, "%s: a single number is no block of %d values, which %s has", operation, f.Block, t)
	}
	if last := shape[len(shape)-1]; last%f.Block != 0 {
		return fail(how, "%s: rows of %d values, shape %s, do not divide into blocks of %d, which %s has", operation, last, shapeText(shape), f.Block, t)
	}
	return nil
}

// write puts n elements into dst, rounded to the type; value gives the i-th. An error names the element by first + i.
func (t DType) write(dst []byte, n, first int, value func(i int) float64) error {
	f := t.format()
	if f == nil {
		size := t.Bytes()
		for i := range n {
			if err := t.put(dst[i*size:], value(i)); err != nil {
				return during(fmt.Sprintf("element %d", first+i), err)
			}
		}
		return nil
	}
	x := make([]float32, n)
	for i := range x {
		v := float32(value(i))
		if v-v != 0 {
			return fail(whatTypesHold, "element %d: %s has no code for %v", first+i, t, v)
		}
		x[i] = v
	}
	packed, err := f.Encode(x)
	if err != nil {
		return fail("", "%s", strings.TrimPrefix(err.Error(), "quant: "))
	}
	copy(dst, packed)
	return nil
}

// read gives the elements in src to take, one by one. A zero of a block has no sign: codes of formats around zero (Q4_0) would
// give it that of the scale.
func (t DType) read(src []byte, take func(i int, v float64)) {
	f := t.format()
	if f == nil {
		size := t.Bytes()
		for i := range len(src) / size {
			take(i, t.get(src[i*size:]))
		}
		return
	}
	values, err := f.Decode(src)
	if err != nil {
		panic(fail("", "read %s: %v", t, err)) // src are whole blocks
	}
	for i, v := range values {
		take(i, float64(v)+0) // −0 + 0 is 0
	}
}

// smallFloats are the element types of one byte that gpu/quant rounds to.
var smallFloats = map[DType]*quant.SmallFloat{E4M3: small("e4m3"), E5M2: small("e5m2")}

func small(name string) *quant.SmallFloat {
	s, err := quant.Small(name)
	if err != nil {
		panic(err) // a name of the table
	}
	return s
}

// smallFromFloat64 rounds to nearest even; what lies beyond the largest value becomes the largest, as PTX's cvt.satfinite.
func smallFromFloat64(s *quant.SmallFloat, v float64) byte {
	if math.IsNaN(v) {
		return s.EncodeSaturating(float32(math.NaN()))
	}
	return s.EncodeSaturating(roundToOdd(v))
}
