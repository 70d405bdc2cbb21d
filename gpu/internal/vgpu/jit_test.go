package vgpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// randomProgram writes straight-line PTX in a loop that makes it hot: arithmetic on registers with special values, shared
// loads by several patterns, and a barrier. Each thread stores every register at its end.
type randomProgram struct {
	rnd  *rand.Rand
	body strings.Builder
}

const (
	randomRegisters = 24 // of each kind: %f and %r
	randomLoops     = 48
)

func (g *randomProgram) line(format string, args ...any) {
	fmt.Fprintf(&g.body, "\t"+format+"\n", args...)
}

func (g *randomProgram) r() string { return fmt.Sprintf("%%r%d", g.rnd.IntN(randomRegisters)) }
func (g *randomProgram) f() string { return fmt.Sprintf("%%f%d", g.rnd.IntN(randomRegisters)) }

// b is a word as bits: a register of either kind, or a number.
func (g *randomProgram) b() string {
	if g.rnd.IntN(5) == 0 {
		return fmt.Sprint(int32(g.rnd.Uint32() >> g.rnd.IntN(32)))
	}
	return g.r()
}

func (g *randomProgram) instruction() {
	switch n := g.rnd.IntN(30); n {
	case 0, 1, 2, 3, 4, 5:
		g.line("fma.rn.f32 %s, %s, %s, %s;", g.f(), g.f(), g.f(), g.f())
	case 6, 7, 8:
		g.line("%s.f32 %s, %s, %s;", []string{"add", "sub", "mul"}[n-6], g.f(), g.f(), g.f())
	case 9:
		g.line("%s.f32 %s, %s, %s;", []string{"min", "max"}[g.rnd.IntN(2)], g.f(), g.f(), g.f())
	case 10:
		g.line("%s.f32 %s, %s;", []string{"neg", "abs"}[g.rnd.IntN(2)], g.f(), g.f())
	case 11, 12:
		g.line("%s.s32 %s, %s, %s;", []string{"add", "sub", "mul.lo", "min", "max"}[g.rnd.IntN(5)], g.r(), g.r(), g.b())
	case 13:
		g.line("%s.u32 %s, %s, %s;", []string{"min", "max"}[g.rnd.IntN(2)], g.r(), g.r(), g.b())
	case 14:
		g.line("mad.lo.s32 %s, %s, %s, %s;", g.r(), g.r(), g.b(), g.b())
	case 15, 16:
		g.line("%s.b32 %s, %s, %s;", []string{"and", "or", "xor"}[g.rnd.IntN(3)], g.r(), g.r(), g.b())
	case 17:
		g.line("%s %s, %s;", []string{"not.b32", "neg.s32", "abs.s32", "mov.b32"}[g.rnd.IntN(4)], g.r(), g.r())
	case 18:
		g.line("%s %s, %s, %d;", []string{"shl.b32", "shr.u32", "shr.s32"}[g.rnd.IntN(3)], g.r(), g.r(), g.rnd.IntN(36))
	case 19:
		g.line("%s %s, %s, %s;", []string{"shl.b32", "shr.u32", "shr.s32"}[g.rnd.IntN(3)], g.r(), g.r(), g.r())
	case 20:
		g.line("lop3.b32 %s, %s, %s, %s, %d;", g.r(), g.r(), g.b(), g.b(), g.rnd.IntN(256))
	case 21:
		g.line("bfe.u32 %s, %s, %d, %d;", g.r(), g.r(), g.rnd.IntN(24), g.rnd.IntN(9))
	case 22:
		g.line("cvt.rn.f32.%s %s, %s;", []string{"s32", "u32"}[g.rnd.IntN(2)], g.f(), g.r())
	case 23:
		g.line("mov.b32 {%%h0, %%h1}, %s;", g.r())
		g.line("cvt.f32.f16 %s, %%h%d;", g.f(), g.rnd.IntN(2))
	case 24:
		g.line("mov.b32 {%%h2, %%h3}, %s;", g.r())
		g.line("cvt.f32.f16 %s, %%h2;", g.f())
		g.line("cvt.f32.f16 %s, %%h3;", g.f())
	case 25:
		g.line("mov.b32 %s, %s;", g.r(), g.f())
	case 26:
		g.line("mov.b32 %s, %s;", g.f(), g.r())
	default:
		address, kind := []string{"%a1", "%a2", "%a3", "%w0", "%a0"}[g.rnd.IntN(5)], g.rnd.IntN(4)
		if address == "%a0" { // words
			kind = 2
		}
		switch kind {
		case 0:
			g.line("ld.shared.v4.f32 {%s, %s, %s, %s}, [%s+%d];", "%f0", "%f1", "%f2", "%f3", address, 16*g.rnd.IntN(8))
		case 1:
			g.line("ld.shared.v2.u32 {%s, %s}, [%s+%d];", "%r1", "%r2", address, 8*g.rnd.IntN(8))
		case 2:
			g.line("ld.shared.f32 %s, [%s+%d];", g.f(), address, 4*g.rnd.IntN(32))
		default:
			g.line("ld.shared.u32 %s, [%s+%d];", g.r(), address, 4*g.rnd.IntN(32))
		}
	}
}

// text is a kernel k(out, in, apart): in has a value for each register of each thread; lanes of `apart` leave the loop's body
// at every second step.
func (g *randomProgram) text(instructions int) string {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 apart)\n{\n" +
		"\t.reg .pred %p<4>;\n\t.reg .b32 %r<40>;\n\t.reg .f32 %f<40>;\n\t.reg .b32 %a<8>;\n\t.reg .b64 %w<4>;\n\t.reg .b64 %rd<8>;\n\t.reg .b16 %h<4>;\n" +
		"\t.shared .align 16 .b8 s[8192];\n")
	line := func(format string, args ...any) { fmt.Fprintf(&b, "\t"+format+"\n", args...) }
	line("ld.param.u64 %%rd0, [out];")
	line("ld.param.u64 %%rd1, [in];")
	line("mov.u32 %%r30, %%tid.x;")
	line("mad.lo.s32 %%r31, %%ctaid.x, 64, %%r30;")
	line("mul.wide.u32 %%rd2, %%r31, %d;", 8*randomRegisters)
	line("add.s64 %%rd0, %%rd0, %%rd2;")
	line("add.s64 %%rd1, %%rd1, %%rd2;")
	for i := range randomRegisters {
		line("ld.global.u32 %%r%d, [%%rd1+%d];", i, 8*i)
		line("ld.global.f32 %%f%d, [%%rd1+%d];", i, 8*i+4)
	}
	// Shared memory: 2048 words.
	line("mov.u32 %%a4, s;")
	line("shl.b32 %%r32, %%r30, 2;")
	line("add.s32 %%a0, %%a4, %%r32;") // words in a row
	for i := range 32 {
		line("st.shared.u32 [%%a0+%d], %%r%d;", 256*i, i%randomRegisters)
	}
	line("bar.sync 0;")
	line("shl.b32 %%r33, %%r30, 4;")
	line("add.s32 %%a1, %%a4, %%r33;") // 16 bytes apart: rows of quads
	line("shr.u32 %%r34, %%r30, 3;")
	line("shl.b32 %%r34, %%r34, 8;")
	line("add.s32 %%a2, %%a4, %%r34;") // eight lanes alike
	line("mul.lo.s32 %%r35, %%r30, 13;")
	line("and.b32 %%r35, %%r35, 63;")
	line("shl.b32 %%r35, %%r35, 4;")
	line("add.s32 %%a3, %%a4, %%r35;") // anyhow
	line("cvt.u64.u32 %%w0, %%a1;")
	line("ld.param.u32 %%r37, [apart];")
	line("mov.u32 %%r38, 0;")
	b.WriteString("LOOP:\n")
	line("and.b32 %%r39, %%r38, 1;")
	line("and.b32 %%r36, %%r30, 31;")
	line("shr.u32 %%r36, %%r37, %%r36;")
	line("and.b32 %%r36, %%r36, %%r39;")
	line("setp.ne.u32 %%p1, %%r36, 0;")
	line("@%%p1 bra SKIP;")
	for range instructions {
		g.instruction()
	}
	b.WriteString(g.body.String())
	b.WriteString("SKIP:\n")
	line("add.s32 %%r38, %%r38, 1;")
	line("setp.lt.u32 %%p0, %%r38, %d;", randomLoops)
	line("@%%p0 bra LOOP;")
	for i := range randomRegisters {
		line("st.global.u32 [%%rd0+%d], %%r%d;", 8*i, i)
		line("st.global.f32 [%%rd0+%d], %%f%d;", 8*i+4, i)
	}
	line("ret;")
	b.WriteString("}\n")
	return b.String()
}

// specialWords are bits that arithmetic may get wrong.
var specialWords = []uint32{0, 1 << 31, 1, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x7fffffff, 0x00000001, 0x807fffff, 0x7f7fffff, 0x3f800000, 0xbf800000,
	0x7c007c00, 0xfc01fe00, 0x03ff8001, 0x80000000, 0xffffffff, 0x0000ffff}

func randomInputs(rnd *rand.Rand, n int) []uint32 {
	v := make([]uint32, n)
	for i := range v {
		switch rnd.IntN(4) {
		case 0:
			v[i] = specialWords[rnd.IntN(len(specialWords))]
		case 1:
			v[i] = math.Float32bits(float32(rnd.NormFloat64()))
		default:
			v[i] = rnd.Uint32()
		}
	}
	return v
}

// runOnPath runs the kernel k of a module on one path and gives its output and counts.
func runOnPath(t *testing.T, d *Device, f driver.Function, lanes LanePath, input []uint32, apart uint32) ([]uint32, *driver.Result) {
	t.Helper()
	d.SetLanes(lanes)
	in, out := upload(t, d, input), upload(t, d, make([]uint32, len(input)))
	defer d.Free(in)
	defer d.Free(out)
	r, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(uint32(len(input) / (2 * randomRegisters * 64))), CTA: dim(64), Args: pack(t, f, out, in, apart), Wait: true, Count: true})
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4*len(input))
	if err := d.CopyOut(b, out, nil); err != nil {
		t.Fatal(err)
	}
	words := make([]uint32, len(input))
	if _, err := binary.Decode(b, binary.LittleEndian, words); err != nil {
		t.Fatal(err)
	}
	return words, r
}

// TestRandomPrograms compares the three paths on random straight-line programs: every bit of every register, every counter.
func TestRandomPrograms(t *testing.T) {
	if BestLanes() == PortableLanes {
		t.Logf("this machine has %s lanes alone: nothing to compare", BestLanes())
		return
	}
	for seed := range uint64(24) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		g := &randomProgram{rnd: rnd}
		text := g.text(8 + rnd.IntN(150))
		d := openTest(t, testProfile())
		f := fn(t, loadModule(t, d, text), "k")
		input := randomInputs(rnd, 2*2*randomRegisters*64)
		for _, apart := range []uint32{0, 0x0f0ff001} {
			want, counted := runOnPath(t, d, f, PortableLanes, input, apart)
			for lanes := ThreadedLanes; lanes <= BestLanes(); lanes++ {
				got, r := runOnPath(t, d, f, lanes, input, apart)
				for i := range want {
					if got[i] != want[i] {
						kind := "rf"[i%2]
						t.Errorf("program %d, lanes apart %#x: %s: thread %d %%%c%d is %#x, portable %#x\n%s", seed, apart, lanes, i/(2*randomRegisters), kind,
							i%(2*randomRegisters)/2, got[i], want[i], text[strings.Index(text, "@%p1"):])
						return
					}
				}
				if !reflect.DeepEqual(r.Counts, counted.Counts) || !reflect.DeepEqual(r.Lines, counted.Lines) {
					t.Fatalf("program %d: %s: counters differ\n%+v\n%+v", seed, lanes, r.Counts, counted.Counts)
				}
			}
		}
	}
}
