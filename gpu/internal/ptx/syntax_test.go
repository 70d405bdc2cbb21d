package ptx

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Constant expressions against values worked out by the rules of PTX ISA 4.5.
func TestConstantExpressions(t *testing.T) {
	for text, want := range map[string]uint64{
		"0x1F": 31, "0X1fU": 31, "017": 15, "0b101": 5, "42U": 42, "-5": ^uint64(4), "- -5": 5, "~0": ^uint64(0), "!3": 0, "!0": 1,
		"1+2*3": 7, "(1+2)*3": 9, "10-4-3": 3, "7/2": 3, "-7/2": ^uint64(2), "-7 % 4": ^uint64(2), "1<<4|3": 19, "6&3^1": 3, "1<<2+1": 8,
		"-16>>2": ^uint64(3), "0xfffffffffffffff0>>60": 15, "1<64": 1, "-1<1": 1, "-1<1U": 0, "3>=3": 1, "4!=4": 0, "1&&0||1": 1, "1?2:3": 2, "0?2:0?4:5": 5,
		"WARP_SZ*2": 64, "(.u64)-1>>63": 1, "(.s64)0xffffffffffffffff>>63": ^uint64(0), "1<<70": 0, "0xFFFFFFFFFFFFFFFF": ^uint64(0), "9223372036854775808": 1 << 63,
	} {
		m, err := Parse("k.ptx", body("\tmov.u64 %rd1, "+text+";"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if o := m.Functions[0].Body[0].Operands[1]; o.Kind != OperandImmediate || o.Bits != want || o.Float != NotFloat {
			t.Errorf("%s = %d, want %d", text, int64(o.Bits), int64(want))
		}
	}
	for text, want := range map[string]uint64{"0f3F800000": 0x3f800000, "-0F3F800000": 0xbf800000, "0d3FF0000000000000": 0x3ff0000000000000, "1.5": math.Float64bits(1.5),
		"-2e3": math.Float64bits(-2000), "2.5E-1": 0x3fd0000000000000, "1.": math.Float64bits(1)} {
		m, err := Parse("k.ptx", body("\tmov.f64 %rd1, "+text+";"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if o := m.Functions[0].Body[0].Operands[1]; o.Bits != want || o.Float == NotFloat {
			t.Errorf("%s = %x, want %x", text, o.Bits, want)
		}
	}
}

// Offsets of addresses and symbols.
func TestOffsets(t *testing.T) {
	for text, want := range map[string]int64{"[%rd1]": 0, "[%rd1+4]": 4, "[%rd1+-4]": -4, "[%rd1-4]": -4, "[ %rd1 + 0x10 ]": 16, "[%rd1+(2+3)*4]": 20, "[%rd1+2*8-1]": 15, "[16]": 16, "[(1<<4)+4]": 20} {
		m, err := Parse("k.ptx", body("\tld.global.u32 %r1, "+text+";"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if o := m.Functions[0].Body[0].Operands[1]; o.Kind != OperandAddress || o.Offset != want {
			t.Errorf("%s: %+v, want offset %d", text, o, want)
		}
	}
}

// Initial values of variables, byte for byte.
func TestInitialValues(t *testing.T) {
	for text, want := range map[string]string{
		".global .b8 v[] = {1, 2, 0xff};":                                   "\x01\x02\xff 3",
		".global .b8 v[5] = {1, 2};":                                        "\x01\x02 5",
		".const .b16 v[2] = {-1, 258};":                                     "\xff\xff\x02\x01 4",
		".global .align 16 .u32 v = 7;":                                     "\x07\x00\x00\x00 4",
		".global .s32 v[2][2] = {{1}, {2, 3}};":                             "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00 16",
		".global .b8 v[][2] = {{1}, {2, 3}, {4}};":                          "\x01\x00\x02\x03\x04\x00 6",
		".global .f32 v[3] = {1.0, 0f40000000, -0.5};":                      "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\xbf 12",
		".global .f64 v = 0f3F800000;":                                      "\x00\x00\x00\x00\x00\x00\xf0\x3f 8",
		".global .v4 .f32 v = {0f3F800000, 0.0, 0.0, 0.0};":                 "\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00 16",
		".global .b64 v[2] = {WARP_SZ, 1<<33};":                             "\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00 16",
		".visible .global .attribute(.managed) .u8 v[2] = {9};":             "\x09 2",
		".global .attribute(.managed, .unified(1, 2)) .u8 v;":               " 1",
		".weak .global .u32 v;\n.weak .global .u32 v;":                      " 4",
		".common .global .u64 v[4-2];":                                      " 16",
		".global .u32 w, v[3] = {1};":                                       "\x01\x00\x00\x00 12",
		".const .align 8 .b8 v[4+4*2] = {1};":                               "\x01 12",
		".global .texref v = { filter_mode = linear, addr_mode_0 = wrap };": " 8",
	} {
		m, err := Parse("k.ptx", head+text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, v := range m.Variables {
			if got := fmt.Sprintf("%s %d", v.Init, v.Size); v.Name == "v" && got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
	}
	m, err := Parse("k.ptx", head+".global .b8 s[4];\n.global .u64 v[4] = {s, generic(s)+8, s-1, 0};\n.global .b8 b[8] = {0xff(s), 0xff00(generic(s)), 0xff0000(s+1)};")
	if err != nil {
		t.Fatal(err)
	}
	want := []Reference{{0, 8, "s", 0, 0}, {8, 8, "s", 8, 0}, {16, 8, "s", -1, 0}}
	if got := m.Variables[1].InitRefs; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	want = []Reference{{0, 1, "s", 0, 0xff}, {1, 1, "s", 0, 0xff00}, {2, 1, "s", 1, 0xff0000}}
	if got := m.Variables[2].InitRefs; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Vector registers are their parts; ranges of them, names that end in digits, and 128-bit registers.
func TestVectorRegisters(t *testing.T) {
	m, err := Parse("k.ptx", body(`	.reg .v4 .f32 v, %w<3>; .reg .v2 .b64 q; .reg .b128 %big<2>; .reg .f32 f1x<3>;
	ld.global.v4.f32 v, [%rd1];
	add.f32 v.x, v.y, %w2.a;
	mov.b64 q.y, %rd1;
	ld.global.v4.f32 {v.r, v.g, v.b, v.w}, [%rd1];
	mov.b128 %big1, {%rd1, %rd2};
	add.f32 f1x2, f1x0, f1x1;
`))
	if err != nil {
		t.Fatal(err)
	}
	f := m.Functions[0]
	name := func(o Operand) string {
		if o.Kind == OperandVector {
			var list []string
			for _, e := range o.Elements {
				list = append(list, f.Registers[e.Register].Name+":"+f.Registers[e.Register].Type)
			}
			return strings.Join(list, " ")
		}
		return f.Registers[o.Register].Name + ":" + f.Registers[o.Register].Type
	}
	for i, want := range [][]string{{"v.x:f32 v.y:f32 v.z:f32 v.w:f32"}, {"v.x:f32", "v.y:f32", "%w2.w:f32"}, {"q.y:b64"}, {"v.x:f32 v.y:f32 v.z:f32 v.w:f32"}, {"%big1:b128"}, {"f1x2:f32", "f1x0:f32", "f1x1:f32"}} {
		for k, w := range want {
			if got := name(f.Body[i].Operands[k]); got != w {
				t.Errorf("%s: operand %d is %s, want %s", f.Body[i].OneLine(), k, got, w)
			}
		}
	}
}

// Headers, tables and prototypes.
func TestFunctionSyntax(t *testing.T) {
	m, err := Parse("k.ptx", head+`.pragma "nounroll";
.visible .func .attribute(.unified(0xAB, 0xCD)) (.param .align 16 .b8 r[16]) other(.param .b64 a, .param .align 8 .b8 _va[]) .noreturn .abi_preserve 8;
.func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; add.s32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret; }
.alias same, twice;
.visible .entry k(.param .u64 .ptr.global.align 16 p, .param .b32 m[2][3])
.reqntid 128, 2
.minnctapersm 1
.maxnctapersm 4
.maxnreg 64
.explicitcluster
.reqnctapercluster 2, 1, 1
.maxclusterrank 8
.blocksareclusters
.pragma "nounroll";
{
	.reg .pred %p<2>; .reg .b32 %r<100>; .reg .b64 %rd<4>;
	.extern .shared .align 16 .b8 pool[];
	.shared .align 8 .b64 a, b[2];
	T: .branchtargets A, B,
		A;
	F: .calltargets twice, same;
	P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _) .noreturn;
	@%p1 brx.idx %r1, T;
A:	add.s32
		%r99, // over several lines
		%r1, /* with comments */ 4
		;
B:	{ .param .b32 q; .param .b32 s; st.param.b32 [q], %r1; call (s), %rd1, (q), P; }
	{ .param .b32 q; .param .b32 s; st.param.b32 [q], %r1; call.uni (s), same, (q), F; }
	mov.u64 %rd1, pool+4;
	ret;
}
`)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Function("k")
	if f.RequiredCTA != [3]int{128, 2, 1} || f.MaxRegisters != 64 || f.ClusterCTAs != [3]int{2, 1, 1} || f.Params[1].Size != 24 || f.Params[0].Align != 16 && f.Params[0].Align != 8 {
		t.Errorf("%+v", f)
	}
	if m.Function("same") != m.Function("twice") || m.Function("same") == nil {
		t.Error("the alias is not the function")
	}
	if len(f.Tables) != 2 || fmt.Sprint(f.Tables[0].Targets) != "[1 2 1]" || fmt.Sprint(f.Tables[1].Names) != "[twice same]" {
		t.Errorf("%+v", f.Tables)
	}
	if o := f.Body[0].Operands[1]; o.Kind != OperandTable || o.Target != 0 {
		t.Errorf("%+v", o)
	}
	if p := f.Prototypes["P"]; p == nil || len(p.Results) != 1 || len(p.Params) != 2 || p.Params[1].Size != 8 {
		t.Errorf("%+v", p)
	}
	if in := f.Body[1]; in.OneLine() != "add.s32 %r99, // over several lines %r1, /* with comments */ 4" && in.Operands[2].Bits != 4 {
		t.Errorf("%s", in.OneLine())
	}
}

// All versions and targets.
func TestVersionsAndTargets(t *testing.T) {
	for _, v := range []string{"6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "7.0", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8", "9.0", "9.4"} {
		for _, target := range []string{"sm_70", "sm_75", "sm_80, debug", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a", "sm_120", "sm_120a", "sm_121f, texmode_independent"} {
			m, err := Parse("k.ptx", ".version "+v+"\n.target "+target+"\n.address_size 64\n.visible .entry k() { ret; }")
			if err != nil || m.Version != v || !strings.HasPrefix(target, m.Target) || m.TargetAt != [2]int{2, 9} {
				t.Errorf("%s %s: %v", v, target, err)
			}
		}
	}
}
