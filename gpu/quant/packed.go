package quant

import (
	"encoding/binary"
	"fmt"
)

// Packed is a linear layer's weight [K, N] as GPTQ or AWQ stores it in safetensors: codes of Bits bits packed in 32-bit
// words, a scale and a zero for each group of K and each column.
type Packed struct {
	K, N  int
	Bits  int
	Group int // values of K that share scale and zero
	// Words are the codes: GPTQ [K·Bits/32, N], packed along K; AWQ [K, N/8], packed along N in the order 0 2 4 6 1 3 5 7.
	Words []uint32
	// Zeros are [K/Group, N·Bits/32], packed along N as Words of AWQ are, in GPTQ in order.
	Zeros []uint32
	// Scales are [K/Group, N], the bits of f16.
	Scales []uint16
	// Groups gives the group of each of the K rows where GPTQ reordered them (g_idx, act-order); nil: row / Group.
	Groups []int32
	// ZerosLessOne: the first GPTQ format stores zero − 1; checkpoint_format gptq_v2 and AWQ store it as it is.
	ZerosLessOne bool
}

// awqOrder is where AWQ puts column j of eight in a word, in steps of four bits.
var awqOrder = [8]int{0, 4, 1, 5, 2, 6, 3, 7}

// check compares the tensors' sizes with what K, N, Bits and Group ask for.
func (p *Packed) check(awq bool) error {
	name := "GPTQ"
	words := p.K * p.Bits / 32 * p.N
	if awq {
		name, words = "AWQ", p.K*p.N/8
		if p.Bits != 4 {
			return fmt.Errorf("quant: AWQ with %d bits: only 4 are defined", p.Bits)
		}
	}
	switch {
	case p.Bits != 2 && p.Bits != 3 && p.Bits != 4 && p.Bits != 8:
		return fmt.Errorf("quant: %s with %d bits: only 2, 3, 4 and 8 are defined", name, p.Bits)
	case p.K <= 0 || p.N <= 0 || p.K%32 != 0 || p.N%32 != 0:
		return fmt.Errorf("quant: %s of [%d, %d]: K and N are multiples of 32", name, p.K, p.N)
	case p.Group <= 0 || p.K%p.Group != 0:
		return fmt.Errorf("quant: %s with groups of %d: they do not divide K = %d", name, p.Group, p.K)
	}
	groups := p.K / p.Group
	for _, c := range []struct {
		what       string
		have, want int
	}{{"Words", len(p.Words), words}, {"Zeros", len(p.Zeros), groups * p.N * p.Bits / 32}, {"Scales", len(p.Scales), groups * p.N}} {
		if c.have != c.want {
			return fmt.Errorf("quant: %s of [%d, %d], %d bits, groups of %d: %s has %d elements, expected %d", name, p.K, p.N, p.Bits, p.Group, c.what, c.have, c.want)
		}
	}
	if p.Groups == nil {
		return nil
	}
	if len(p.Groups) != p.K {
		return fmt.Errorf("quant: %s: Groups (g_idx) has %d elements, expected K = %d", name, len(p.Groups), p.K)
	}
	for k, g := range p.Groups {
		if g < 0 || int(g) >= groups {
			return fmt.Errorf("quant: %s: Groups (g_idx) sends row %d to group %d of %d", name, k, g, groups)
		}
	}
	return nil
}

// field reads bits [at, at+n) of a column of words, of which a code of 3 bits may take two.
func field(word func(int) uint32, at, n int) int {
	v := uint64(word(at / 32))
	if at%32+n > 32 {
		v |= uint64(word(at/32+1)) << 32
	}
	return int(v >> (at % 32) & (1<<n - 1))
}

// DecodeGPTQ gives the weight, [K, N] row-major: (code − zero)·scale, rounded to f16 as GPTQ's own code does.
func (p *Packed) DecodeGPTQ() ([]float32, error) {
	if err := p.check(false); err != nil {
		return nil, err
	}
	zeroWords := p.N * p.Bits / 32
	return p.decode(func(k, n int) int {
		return field(func(i int) uint32 { return p.Words[i*p.N+n] }, k*p.Bits, p.Bits)
	}, func(g, n int) int {
		return field(func(i int) uint32 { return p.Zeros[g*zeroWords+i] }, n*p.Bits, p.Bits)
	}), nil
}

// DecodeAWQ gives the weight, [K, N] row-major: (code − zero)·scale, rounded to f16 as AWQ's own code does.
func (p *Packed) DecodeAWQ() ([]float32, error) {
	if err := p.check(true); err != nil {
		return nil, err
	}
	at := func(words []uint32, row, n int) int { return int(words[row*p.N/8+n/8] >> (4 * awqOrder[n%8]) & 15) }
	return p.decode(func(k, n int) int { return at(p.Words, k, n) }, func(g, n int) int { return at(p.Zeros, g, n) }), nil
}

func (p *Packed) decode(code, zero func(row, n int) int) []float32 {
	out := make([]float32, p.K*p.N)
	for k := range p.K {
		g := k / p.Group
		if p.Groups != nil {
			g = int(p.Groups[k])
		}
		for n := range p.N {
			z := zero(g, n)
			if p.ZerosLessOne {
				z = (z + 1) & (1<<p.Bits - 1)
			}
			v := float32(code(k, n)-z) * F16ToFloat32(p.Scales[g*p.N+n])
			out[k*p.N+n] = F16ToFloat32(F16FromFloat32(v))
		}
	}
	return out
}

// Words reads little-endian 32-bit words, as safetensors holds them.
func Words(b []byte) ([]uint32, error) {
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("quant: %d bytes are no whole number of 32-bit words", len(b))
	}
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out, nil
}
