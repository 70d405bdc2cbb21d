package quant

import (
	"encoding/binary"
	"strings"
	"testing"

	"memwall/gpu/quant/quanttest"
)

type packedCase struct {
	Zeros  string
	Bits   int
	Group  int `json:"group_size"`
	K, N   int
	Words  string  `json:"qweight_hex"`
	ZeroQ  string  `json:"qzeros_hex"`
	Scales string  `json:"scales_f16_hex"`
	Index  []int32 `json:"g_idx"`
	Values string  `json:"dequant_f16_hex"`
}

func (c *packedCase) packed(t *testing.T) *Packed {
	p := &Packed{K: c.K, N: c.N, Bits: c.Bits, Group: c.Group, Groups: c.Index, ZerosLessOne: strings.HasPrefix(c.Zeros, "stored minus 1")}
	var err error
	if p.Words, err = Words(quanttest.Hex(t, c.Words)); err != nil {
		t.Fatal(err)
	}
	if p.Zeros, err = Words(quanttest.Hex(t, c.ZeroQ)); err != nil {
		t.Fatal(err)
	}
	p.Scales = halvesFromHex(t, c.Scales)
	return p
}

func halvesFromHex(t *testing.T, s string) []uint16 {
	b := quanttest.Hex(t, s)
	out := make([]uint16, len(b)/2)
	for i := range out {
		out[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return out
}

// GPTQ and AWQ against what auto-gptq and autoawq packed and unpack: 2, 3, 4 and 8 bits, act-order, both zero formats.
func TestPacked(t *testing.T) {
	for _, format := range []struct {
		file   string
		decode func(*Packed) ([]float32, error)
	}{{"gptq.jsonl", (*Packed).DecodeGPTQ}, {"awq.jsonl", (*Packed).DecodeAWQ}} {
		for i, c := range quanttest.Cases[packedCase](t, format.file) {
			got, err := format.decode(c.packed(t))
			if err != nil {
				t.Errorf("%s %d: %v", format.file, i, err)
				continue
			}
			want := halvesFromHex(t, c.Values)
			if len(got) != len(want) {
				t.Fatalf("%s %d: %d values, want %d", format.file, i, len(got), len(want))
			}
			for k := range want {
				if w := F16ToFloat32(want[k]); !sameBits(got[k], w) && !(got[k] == 0 && w == 0) {
					t.Fatalf("%s %d: value [%d, %d] is %g, want %g", format.file, i, k/c.N, k%c.N, got[k], w)
				}
			}
		}
	}
}
