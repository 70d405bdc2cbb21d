package ptx

import "testing"

const head = ".version 8.0\n.target sm_80\n.address_size 64\n"

func body(s string) string {
	return head + ".visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 %r<5>;\n\t.reg .b64 %rd<3>;\n" + s + "\n}\n"
}

// The whole text of what is said about bad PTX.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "k.ptx:1:1: no PTX: the text is empty\nPTX begins with .version, .target and .address_size"},
		{"CUDA", "extern \"C\" __global__ void k() {}", "k.ptx:1:1: this is CUDA C++, not PTX\n    extern \"C\" __global__ void k() {}\n    ^\ncompile it to PTX first"},
		{"binary", "\x7fELF\x02\x01", "k.ptx:1:1: unexpected byte 0x7f: PTX is ASCII text\n     ELF  \n    ^"},
		{"no semicolon", body("\tadd.s32 %r1, %r2, %r3\n\tret;"), "k.ptx:10:2: expected , or ; after an operand of add.s32, found \"ret\"\n    ret;\n    ^"},
		{"unknown register", body("\tadd.s32 %r1, %r2, %x9;"), "k.ptx:9:20: add.s32: unknown register %x9\n    add.s32 %r1, %r2, %x9;\n                      ^\ndeclare it with .reg"},
		{"register out of range", body("\tadd.s32 %r1, %r2, %r5;"), "k.ptx:9:20: add.s32: unknown register %r5\n    add.s32 %r1, %r2, %r5;\n                      ^\ndeclare it with .reg"},
		{"unknown label", body("\tbra NOWHERE;"), "k.ptx:9:6: bra: unknown label NOWHERE\n    bra NOWHERE;\n        ^"},
		{"label of another scope", body("\t{ IN: }\n\tbra IN;"), "k.ptx:10:6: bra: unknown label IN\n    bra IN;\n        ^"},
		{"guard", body("\t@%r1 bra L;\nL:"), "k.ptx:9:3: guard %r1 is of type .b32, not .pred\n    @%r1 bra L;\n     ^"},
		{"address", body("\tld.global.u32 %r1, [%rd9];"), "k.ptx:9:22: unknown register %rd9 in an address\n    ld.global.u32 %r1, [%rd9];\n                        ^\ndeclare it first"},
		{"number", body("\tmov.u32 %r1, 0f12;"), "k.ptx:9:15: bad number \"0f12\"\n    mov.u32 %r1, 0f12;\n                 ^\nwrite eight hexadecimal digits after 0f"},
		{"type", body("\t.reg .b33 %q;"), "k.ptx:9:7: unknown type .b33\n    .reg .b33 %q;\n         ^"},
		{"twice", body("\t.reg .b32 %q;\n\t.reg .b32 %q;"), "k.ptx:10:12: register %q is declared twice in this scope\n    .reg .b32 %q;\n              ^"},
		{"label twice", body("L:\nL:"), "k.ptx:10:1: label L stands twice in this scope, first on line 9\n    L:\n    ^"},
		{"open", head + ".visible .entry k()\n{\n\tret;\n", "k.ptx:5:1: function k is never closed: } is missing\n    {\n    ^"},
		{"comment", head + "/* never", "k.ptx:4:1: comment is never closed: */ is missing\n    /* never\n    ^"},
		{"32 bits", ".version 8.0\n.target sm_80\n.address_size 32\n", "k.ptx:3:15: only 64-bit addresses are supported\n    .address_size 32\n                  ^\ncompile for 64-bit addresses"},
		{"values", head + ".global .b8 x[2] = {1, 2, 3};", "k.ptx:4:18: 3 bytes of values for variable x of 2 bytes\n    .global .b8 x[2] = {1, 2, 3};\n                     ^"},
		{"size", head + ".global .b64 x[1000000][1000000][1000000];", "k.ptx:4:25: variable x is too large\n    .global .b64 x[1000000][1000000][1000000];\n                            ^"},
		{"outside", head + "add.s32 %r1, %r1, %r1;", "k.ptx:4:1: unexpected \"add.s32\" outside a function\n    add.s32 %r1, %r1, %r1;\n    ^"},
		{"function twice", head + ".entry k() { ret; }\n.entry k() { ret; }\n", "k.ptx:5:8: function k is defined twice, first on line 4\n    .entry k() { ret; }\n           ^"},
		{"target", ".version 8.0\n.target gfx90\n", "k.ptx:2:9: expected a target such as sm_80, found \"gfx90\"\n    .target gfx90\n            ^"},
	} {
		m, err := Parse("k.ptx", c.text)
		if err == nil {
			t.Errorf("%s: accepted: %+v", c.name, m)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, err, c.want)
		}
	}
}

// All the syntax that compilers were seen to emit (ptx-ops.md).
func TestSyntax(t *testing.T) {
	text := head + `.file 1 "/a/b.cu", 12, 34
.global .align 1 .b8 $str[6] = {104, 101, 108, 108, 111};
.const .align 4 .f32 table[2] = {0f3F800000, 2.5};
.global .u64 pointer = generic($str);
.extern .shared .align 16 .b8 pool[];
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.weak .entry _Z1kILi3EEvPf(
	.param .align 8 .b8 s[72],
	.param .u64 .ptr .global .align 1 q
)
.maxntid 128, 1, 1
.minnctapersm 2
{
	.pragma "nounroll";
	.reg .pred %p<2>; .reg .b32 %r<9>; .reg .f32 %f<3>; .reg .b64 %rd<4>, %SP; .reg .f16 low;
	.local .align 8 .b8 __local_depot0[16];
	.shared .align 4 .f32 tile[4][32];
	.loc 1 7 3, function_name $L__info_string0, inlined_at 1 9 2
	mov.u64 %SP, __local_depot0;
	ld.param.u64 %rd1, [s+32];
	ld.global.v4.f32 { %f1, _, _, %f2 }, [ %rd1 + -16 ];
	@!%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];
	{ .reg .b32 %r1; .reg .b32 t; { mov.b32 t, %r1; L: } bra L2; L2: }
	{ .reg .b32 t; L: mov.b32 t, 42U; bra.uni L; }
	setp.lt.and.s32 %p0|%p1, %r1, -5, !%p1;
	shfl.sync.down.b32 %r2|%p0, %r3, 16, 31, -1;
	mov.b32 {low, low}, %r1;
	st.shared.f32 [tile+128], 0f3F800000;
	mov.u32 %r4, %tid.x; mov.u32 %r5, %laneid; mov.u32 %r6, WARP_SZ;
	{.reg.b16         hl, hu; mov .b32 {hl, hu}, %r1;}
	bra $L__end;
$L__end:
	ret;
}
.section .debug_str { $L__info_string0: .b8 95 .b8 90 { } }
`
	m, err := Parse("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Function("_Z1kILi3EEvPf")
	if f == nil || len(f.Params) != 2 || !f.Params[1].Pointer || f.Params[0].Size != 72 || f.MaxCTA != [3]int{128, 1, 1} || f.MinCTAsPerSM != 2 {
		t.Fatalf("%+v", f)
	}
	if v := m.Variables[0]; string(v.Init) != "hello" || v.Size != 6 {
		t.Errorf("%+v", v)
	}
	if v := m.Variables[1]; string(v.Init) != "\x00\x00\x80\x3f\x00\x00\x20\x40" {
		t.Errorf("% x", v.Init)
	}
	if v := m.Variables[2]; len(v.InitRefs) != 1 || v.InitRefs[0].Name != "$str" {
		t.Errorf("%+v", v)
	}
	in := f.Body[2]
	if a := in.Operands[1]; in.Spelling != "ld.global.v4.f32" || a.Offset != -16 || in.Operands[0].Elements[1].Kind != OperandSink || in.Source != (Location{1, 7}) {
		t.Errorf("%+v", in)
	}
	if in := f.Body[3]; in.Guard < 0 || !in.GuardNot || in.OneLine() != "@!%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ]" {
		t.Errorf("%+v: %s", in, in.OneLine())
	}
	// %r1 of the inner scope is another register than the outer one.
	if inner, outer := f.Body[4].Operands[1].Register, f.Body[3].Operands[0].Elements[0].Register; inner == outer {
		t.Error("a register of an inner scope is the outer one")
	}
	if o := f.Body[7]; o.Spelling != "bra.uni" || o.Operands[0].Target != 6 {
		t.Errorf("%+v", o)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(body("\tadd.s32 %r1, %r2, %r3;\n\tret;"))
	f.Add(head + ".global .b8 x[2] = {1, 2};\n.extern .shared .b8 s[];")
	f.Add(body("\t{ .reg .b32 t; L: @%p1 bra L; }\n\tld.global.v2.f32 {%r1, _}, [%rd1+-4];"))
	f.Add(body("\tshfl.sync.bfly.b32 %r1|%p1, %r2, 0x10, 31, -1;\n.loc 1 2 3, function_name L, inlined_at 1 2 3"))
	f.Add("/* */ .version 7.0 .target sm_75 .section .x { \"}\" }")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("f", text)
		if (m == nil) == (err == nil) {
			t.Fatalf("module %v, error %v", m, err)
		}
		if err != nil && err.Error() == "" {
			t.Fatal("an error without a text")
		}
	})
}
