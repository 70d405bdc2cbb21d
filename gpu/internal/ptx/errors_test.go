package ptx

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const head = ".version 8.0\n.target sm_80\n.address_size 64\n"

func body(s string) string {
	return head + ".visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 %r<5>;\n\t.reg .b64 %rd<3>;\n" + s + "\n}\n"
}

// everyRegister reads registers %x0 … one by one.
func everyRegister(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("\tmov.u32 %r1, %x" + strconv.Itoa(i) + ";\n")
	}
	return b.String()
}

// The whole text of what is said about bad PTX.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "k.ptx:1:1: no PTX: the text is empty\nPTX begins with .version, .target and .address_size"},
		{"CUDA", "extern \"C\" __global__ void k() {}", "k.ptx:1:1: this is CUDA C++, not PTX\n    extern \"C\" __global__ void k() {}\n    ^\ncompile it to PTX first"},
		{"binary", "\x7fELF\x02\x01", "k.ptx:1:1: this is an ELF file (a cubin or an object), not PTX\nload the PTX that it was assembled from: nvcc -ptx, or cuobjdump -ptx"},
		{"no semicolon", body("\tadd.s32 %r1, %r2, %r3\n\tret;"), "k.ptx:10:2: expected , or ; after an operand of add.s32, found \"ret\"\n    ret;\n    ^\nend the instruction before it with ;"},
		{"unknown register", body("\tadd.s32 %r1, %r2, %x9;"), "k.ptx:9:20: add.s32: unknown register %x9\n    add.s32 %r1, %r2, %x9;\n                      ^\ndeclare it with .reg"},
		{"register out of range", body("\tadd.s32 %r1, %r2, %r5;"), "k.ptx:9:20: add.s32: unknown register %r5\n    add.s32 %r1, %r2, %r5;\n                      ^\ndeclare it with .reg"},
		{"unknown label", body("\tbra NOWHERE;"), "k.ptx:9:6: bra: unknown label NOWHERE\n    bra NOWHERE;\n        ^\nwrite NOWHERE: before the instruction to jump to"},
		{"label of another scope", body("\t{ IN: }\n\tbra IN;"), "k.ptx:10:6: bra: unknown label IN\n    bra IN;\n        ^\nthe label on line 9 stands in an inner scope: move it out of its { }"},
		{"guard", body("\t@%r1 bra L;\nL:"), "k.ptx:9:3: guard %r1 is of type .b32, not .pred\n    @%r1 bra L;\n     ^\ncompare it first: setp.ne.b32 p, %r1, 0"},
		{"address", body("\tld.global.u32 %r1, [%rd9];"), "k.ptx:9:22: unknown register %rd9 in an address\n    ld.global.u32 %r1, [%rd9];\n                        ^\ndeclare it first"},
		{"number", body("\tmov.u32 %r1, 0f12;"), "k.ptx:9:15: bad number \"0f12\"\n    mov.u32 %r1, 0f12;\n                 ^\nwrite eight hexadecimal digits after 0f"},
		{"type", body("\t.reg .b33 %q;"), "k.ptx:9:7: unknown type .b33\n    .reg .b33 %q;\n         ^\nuse .b32"},
		{"twice", body("\t.reg .b32 %q;\n\t.reg .b32 %q;"), "k.ptx:10:12: register %q is declared twice in this scope\n    .reg .b32 %q;\n              ^\ndeclare it once"},
		{"label twice", body("L:\nL:"), "k.ptx:10:1: label L stands twice in this scope, first on line 9\n    L:\n    ^\ngive one of them another name"},
		{"open", head + ".visible .entry k()\n{\n\tret;\n", "k.ptx:5:1: function k is never closed: } is missing\n    {\n    ^\nthe text may have been cut off"},
		{"comment", head + "/* never", "k.ptx:4:1: comment is never closed: */ is missing\n    /* never\n    ^\nthe text may have been cut off"},
		{"32 bits", ".version 8.0\n.target sm_80\n.address_size 32\n", "k.ptx:3:15: only 64-bit addresses are supported\n    .address_size 32\n                  ^\ncompile for 64-bit addresses"},
		{"values", head + ".global .b8 x[2] = {1, 2, 3};", "k.ptx:4:18: 3 bytes of values for variable x of 2 bytes\n    .global .b8 x[2] = {1, 2, 3};\n                     ^\nmake the array longer, or leave values out"},
		{"size", head + ".global .b64 x[1000000][1000000][1000000];", "k.ptx:4:25: variable x is too large\n    .global .b64 x[1000000][1000000][1000000];\n                            ^\nthe limit is 1 TiB"},
		{"outside", head + "add.s32 %r1, %r1, %r1;", "k.ptx:4:1: unexpected \"add.s32\" outside a function\n    add.s32 %r1, %r1, %r1;\n    ^\ninstructions stand in the body of an .entry or a .func; there may be a } too many before it"},
		{"function twice", head + ".entry k() { ret; }\n.entry k() { ret; }\n", "k.ptx:5:8: function k is defined twice, first on line 4\n    .entry k() { ret; }\n           ^\ngive them different names, or keep one of them"},
		{"target", ".version 8.0\n.target gfx90\n", "k.ptx:2:9: expected a target such as sm_80, found \"gfx90\"\n    .target gfx90\n            ^\nwrite .target sm_80"},
		{"fatbinary", "\x50\xed\x55\xba\x01\x00", "k.ptx:1:1: this is a fatbinary, not PTX\ntake the PTX out of it: cuobjdump -ptx"},
		{"UTF-16", "\xff\xfe.\x00v\x00", "k.ptx:1:1: this is text in UTF-16, not PTX\nsave it as ASCII or UTF-8"},
		{"LLVM IR", "; ModuleID = 'k'", "k.ptx:1:1: this is LLVM IR, not PTX\ncompile it to PTX: llc -march=nvptx64"},
		{"no PTX", "hello", "k.ptx:1:1: expected .version, found \"hello\"\n    hello\n    ^\nPTX begins with .version, .target and .address_size"},
		{"a zero byte", head + ".visible .entry k()\n{\n\tret;\x00\n}\n", "k.ptx:6:6: unexpected byte 0x00: PTX is ASCII text\n    ret; \n        ^\nthe text may be damaged, or the character be one that looks like ASCII: type it again"},
		{"not ASCII", body("\tmov.u32 %r1, ½;"), "k.ptx:9:15: unexpected character ½ (U+00BD): PTX is ASCII text\n    mov.u32 %r1, ½;\n                 ^\nthe text may be damaged, or the character be one that looks like ASCII: type it again"},
		{"older version", ".version 5.0\n.target sm_50\n", "k.ptx:1:10: PTX ISA 5.0 is older than 6.0, the oldest that is read\n    .version 5.0\n             ^\ncompile it again, with CUDA 9.0 or newer"},
		{"newer version", ".version 10.1\n.target sm_100\n", "k.ptx:1:10: PTX ISA 10.1 is newer than 9, the newest that is read\n    .version 10.1\n             ^\ncompile it for an older one: clang -Xclang -target-feature -Xclang +ptx88"},
		{"no version number", ".version sm_80\n", "k.ptx:1:10: expected a version such as 8.0 after .version, found \"sm_80\"\n    .version sm_80\n             ^\nwrite .version 8.0"},
		{"two versions", head + ".version 8.0\n", "k.ptx:4:10: the PTX has a second .version\n    .version 8.0\n             ^\none module has one .version: load the parts one by one"},
		{"no target", ".version 8.0\n.address_size 64\n.visible .entry k() { ret; }", "k.ptx:3:28: the PTX has no .target\n    .visible .entry k() { ret; }\n                               ^\nadd .target sm_80 after .version"},
		{"unknown target", ".version 8.0\n.target sm_81\n", "k.ptx:2:9: there is no target sm_81\n    .target sm_81\n            ^\nthe newest are sm_90, sm_90a, sm_100a, sm_103a, sm_120a and sm_121a"},
		{"two targets", ".version 8.0\n.target sm_80, sm_90\n", "k.ptx:2:16: the PTX is for sm_80 and for sm_90\n    .target sm_80, sm_90\n                   ^\none module is for one target: load the parts one by one"},
		{"preprocessor", head + "#define N 4\n", "k.ptx:4:1: unexpected \"#\" outside a function\n    #define N 4\n    ^\nPTX is not preprocessed: take the lines that begin with # out"},
		{"too many braces", head + ".visible .entry k() { ret; } }\n", "k.ptx:4:30: unexpected \"}\" outside a function\n    .visible .entry k() { ret; } }\n                                 ^\nthere is a } too many before it"},
		{"no end of an instruction", body("\tbar.sync 0\n}\n"), "k.ptx:10:1: expected , or ; after an operand of bar.sync, found \"}\"\n    }\n    ^\nend the instruction before it with ;"},
		{"cut in a string", head + ".file 1 \"a.cu", "k.ptx:4:9: string is never closed: \" is missing\n    .file 1 \"a.cu\n            ^"},
		{"cut in a parameter", head + ".visible .entry k(.param .u64", "k.ptx:4:30: expected the name of a variable, found the end of the text\n    .visible .entry k(.param .u64\n                                 ^\nthe text may have been cut off"},
		{"cut in values", head + ".global .b8 x[4] = {1, 2", "k.ptx:4:25: expected \"}\" after the values, found the end of the text\n    .global .b8 x[4] = {1, 2\n                            ^\nthe text may have been cut off"},
		{"cut in a section", head + ".section .debug_str {\n.b8 1", "k.ptx:4:21: section is never closed: } is missing\n    .section .debug_str {\n                        ^"},
		{"cut in an operand", body("\tld.global.u32 %r1, [%rd1+"), "k.ptx:10:1: expected a number, found \"}\"\n    }\n    ^"},
		{"variable twice", head + ".global .b32 x;\n.global .b32 y, x;", "k.ptx:5:17: variable x is declared twice, first on line 4\n    .global .b32 y, x;\n                    ^\ngive one of them another name, or keep one of them"},
		{"variable in a function twice", body("\t.shared .b32 x;\n\t.shared .b64 x;"), "k.ptx:10:15: variable x is declared twice, first on line 9\n    .shared .b64 x;\n                 ^\ngive one of them another name"},
		{"register and variable", body("\t.reg .b32 x;\n\t.shared .b64 x;"), "k.ptx:10:15: variable x: a register of this scope has the same name\n    .shared .b64 x;\n                 ^\ngive it another name"},
		{"label and register", body("\t.reg .b32 x;\nx:\n"), "k.ptx:10:1: label x: a register of this scope has the same name\n    x:\n    ^\ngive it another name"},
		{"parameter twice", head + ".visible .entry k(.param .u64 p, .param .u32 p) { ret; }", "k.ptx:4:46: parameter p is declared twice\n    .visible .entry k(.param .u64 p, .param .u32 p) { ret; }\n                                                 ^\ngive it another name"},
		{"no type of a register", body("\t.reg %q;"), "k.ptx:9:7: .reg has no type\n    .reg %q;\n         ^\nwrite .reg .b32 or another type"},
		{"no type of a variable", head + ".global x;", "k.ptx:4:9: variable x has no type\n    .global x;\n            ^\nwrite .b8, .u32, .f32 or another type before the name"},
		{"predicate in memory", head + ".global .pred x;", "k.ptx:4:15: variable x is of type .pred: predicates are in registers alone\n    .global .pred x;\n                  ^\nuse .b8"},
		{"register parameter", head + ".entry f (.reg .u32 a) { ret; }", "k.ptx:4:11: only a parameter of a .func can be a register\n    .entry f (.reg .u32 a) { ret; }\n              ^\ndeclare it with .param"},
		{"alignment", head + ".global .align 3 .b8 x[4];", "k.ptx:4:16: alignment 3 is no power of two\n    .global .align 3 .b8 x[4];\n                   ^"},
		{"length missing", head + ".global .b8 x[4][];", "k.ptx:4:18: a length of variable x is missing\n    .global .b8 x[4][];\n                     ^\nonly the first length may be left out"},
		{"length negative", head + ".global .b8 x[4-5];", "k.ptx:4:15: an array cannot have -1 elements\n    .global .b8 x[4-5];\n                  ^\nthe limit is 1 TiB"},
		{"length a float", head + ".global .b8 x[1.5];", "k.ptx:4:15: an array length must be an integer\n    .global .b8 x[1.5];\n                  ^"},
		{"large number", body("\tmov.u32 %r1, 99999999999999999999;"), "k.ptx:9:15: bad number \"99999999999999999999\": it is too large\n    mov.u32 %r1, 99999999999999999999;\n                 ^\nan integer has 64 bits at most"},
		{"octal number", body("\tmov.u32 %r1, 089;"), "k.ptx:9:15: bad number \"089\"\n    mov.u32 %r1, 089;\n                 ^\nwrite it in decimal, with 0x in hexadecimal, 0b in binary or a leading 0 in octal"},
		{"large float", body("\tmov.f64 %rd1, 1e999;"), "k.ptx:9:16: bad number \"1e999\"\n    mov.f64 %rd1, 1e999;\n                  ^\nwrite it as 0f or 0d and hexadecimal digits, or in decimal within the range of f64"},
		{"division by zero", body("\tmov.u32 %r1, 4/(2-2);"), "k.ptx:9:16: division by zero in a constant expression\n    mov.u32 %r1, 4/(2-2);\n                  ^"},
		{"float in an expression", body("\tmov.u32 %r1, 4+1.5;"), "k.ptx:9:17: the floating-point number 1.5 cannot stand in an expression\n    mov.u32 %r1, 4+1.5;\n                   ^\nwrite its value"},
		{"open expression", body("\tmov.u32 %r1, (4+5;"), "k.ptx:9:19: expected \")\" after an expression, found \";\"\n    mov.u32 %r1, (4+5;\n                     ^"},
		{"value of a float", head + ".global .f32 x[2] = {1, 2};", "k.ptx:4:22: the value 1 is an integer, variable x is of type .f32\n    .global .f32 x[2] = {1, 2};\n                         ^\nwrite it as 0f and its eight hexadecimal digits, or with a decimal point"},
		{"row", head + ".global .b32 x[2][2] = {{1, 2, 3}, {4}};", "k.ptx:4:25: 12 bytes of values for a row of variable x of 8 bytes\n    .global .b32 x[2][2] = {{1, 2, 3}, {4}};\n                            ^\nleave values out"},
		{"value of shared", head + ".shared .b32 x = 1;", "k.ptx:4:16: only .global and .const variables can have a value\n    .shared .b32 x = 1;\n                   ^\nstore it at the start of the function"},
		{"branch table", body("\tT: .branchtargets A, B;\n\tA: ret;"), "k.ptx:9:23: unknown label B in .branchtargets\n    T: .branchtargets A, B;\n                         ^\nwrite B: before the instruction to jump to"},
		{"vector in a vector", body("\tmov.b64 %rd1, {{%r1, %r2}, %r3};"), "k.ptx:9:17: a vector cannot stand inside a vector\n    mov.b64 %rd1, {{%r1, %r2}, %r3};\n                   ^"},
		{"not", body("\tmov.u32 %r1, !!!5;"), "k.ptx:9:15: ! stands only before a predicate\n    mov.u32 %r1, !!!5;\n                 ^\nwrite !p, with p a predicate or a number"},
		{"scopes", body(strings.Repeat("{", 300)), "k.ptx:9:200: more than 200 scopes inside each other\n    {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{\n                                                      ^"},
		{"parentheses", body("\tmov.u32 %r1, " + strings.Repeat("(", 300)), "k.ptx:9:216: an expression is nested deeper than 200\n    ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((\n                                                      ^"},
		{"signs", body("\tmov.u32 %r1, " + strings.Repeat("-~", 300) + "1;"), "k.ptx:9:216: an expression is nested deeper than 200\n    ~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-\n                                                      ^"},
		{"list of values", head + ".global .b32 x[2] = " + strings.Repeat("{", 300), "k.ptx:4:22: values of variable x are nested too deep\n    .global .b32 x[2] = {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{\n                         ^"},
		{"dimensions", head + ".global .b8 x" + strings.Repeat("[1]", 40) + ";", "k.ptx:4:63: variable x has more than 16 dimensions\n    x[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]\n                                                      ^"},
		{"operands", body("\tadd.s32 %r1" + strings.Repeat(", %r1", 40) + ";"), "k.ptx:9:90: instruction add.s32 has more than 16 operands\n    %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, \n                                                      ^"},
		{"parameters", head + ".visible .entry k(" + strings.Repeat(".param .b64 p[1000],\n", 5), "k.ptx:5:19: parameter p is declared twice\n    .param .b64 p[1000],\n                      ^\ngive it another name"},
		{"registers", body("\t.reg .b32 %x<200000>;\n" + everyRegister(100_001)), "k.ptx:100009:15: function k uses more than 100000 registers\n    mov.u32 %r1, %x99999;\n                 ^\nsplit the function, or keep arrays in .local or .shared memory"},
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

// Every beginning of a module is refused, or is itself a module; what is refused is refused within the text.
func TestTruncated(t *testing.T) {
	lines := strings.Count(syntaxText, "\n") + 1
	for n := range syntaxText {
		m, err := Parse("k.ptx", syntaxText[:n])
		if (m == nil) == (err == nil) {
			t.Fatalf("%d bytes: module %v, error %v", n, m, err)
		}
		var e *Error
		if err == nil && strings.Count(syntaxText[:n], "{") != strings.Count(syntaxText[:n], "}") {
			t.Errorf("%d bytes: accepted with an open brace: …%q", n, syntaxText[max(n-40, 0):n])
		}
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Line > lines || e.Col < 1) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A byte order mark, line ends of Windows and of old Macs, and the zero byte behind a C string change nothing.
func TestContainers(t *testing.T) {
	for name, text := range map[string]string{"byte order mark": "\ufeff" + syntaxText, "CRLF": strings.ReplaceAll(syntaxText, "\n", "\r\n"),
		"zero byte": syntaxText + "\x00", "tabs": strings.ReplaceAll(syntaxText, " ", "\t")} {
		if name == "tabs" {
			text = strings.ReplaceAll(text, "\"a\tb\"", "\"a b\"")
		}
		m, err := Parse("k.ptx", text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if f := m.Function("_Z1kILi3EEvPf"); f == nil || len(f.Body) < 15 {
			t.Errorf("%s: another function", name)
		}
	}
}

const syntaxText = head + `.file 1 "/a/b.cu", 12, 34
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

// All the syntax that compilers were seen to emit (ptx-ops.md).
func TestSyntax(t *testing.T) {
	m, err := Parse("k.ptx", syntaxText)
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
	f.Add(syntaxText)
	f.Add(body("\t.reg .v4 .f32 v; T: .branchtargets A; A: ld.global.v4.f32 v, [%rd1+(2+3)*4]; brx.idx %r1, T; P: .callprototype (.param .b32 _) _ (.param .b64 _);"))
	f.Add(head + ".global .s32 v[][2] = {{1}, {2, -3}}; .alias a, b; .global .b8 b[4] = {0xff(v), 0xff00(generic(v)+4)}; .common .global .b32 c;")
	files, _ := filepath.Glob("../../../kernels/*/*.ptx")
	more, _ := filepath.Glob("../vgpu/testdata/corpus/*/*.ptx")
	for _, name := range append(files, more...) {
		if b, err := os.ReadFile(name); err == nil && len(b) < 8000 {
			f.Add(string(b))
		}
	}
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
