package vdrv

import (
	"strings"
	"testing"

	"memwall/gpu/internal/ptx"
)

const partA = `.version 7.0
.target sm_80
.address_size 64
.extern .global .align 4 .u32 shared_counter;
.extern .func (.param .b32 result) twice (.param .b32 x);
.visible .entry main_entry(.param .u64 out) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [out]; ret; }
`

const partB = `.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .u32 shared_counter = 3;
.visible .func (.param .b32 result) twice (.param .b32 x) { .reg .b32 %r<2>; ld.param.b32 %r1, [x]; add.s32 %r1, %r1, %r1; st.param.b32 [result], %r1; ret; }
`

// Linked texts are one module: one header, the newest, and each variable once.
func TestMergeLinked(t *testing.T) {
	if got := mergeLinked(partA); got != partA {
		t.Errorf("a text that nobody linked was changed:\n%s", got)
	}
	if got := mergeLinked(linkedMark + partA); got != partA {
		t.Errorf("one text linked alone:\n%s", got)
	}
	for _, order := range [][]string{{partA, partB}, {partB, partA}} {
		merged := mergeLinked(linkedMark + strings.Join(order, nextMark))
		m, err := ptx.Parse("merged", merged)
		if err != nil {
			t.Errorf("%v\n%s", err, merged)
			continue
		}
		if m.Version != "7.8" || m.Function("main_entry") == nil || m.Function("twice") == nil || len(m.Variables) != 1 || m.Variables[0].Name != "shared_counter" {
			t.Errorf("version %s, %d variables, functions %v", m.Version, len(m.Variables), m.Functions)
		}
	}
}

// A function that several texts define weakly is defined once, and one that is not weak wins; a function without a result has the
// one that a caller's text declares.
func TestMergeFunctions(t *testing.T) {
	const head = ".version 7.8\n.target sm_80\n.address_size 64\n"
	weak := head + ".weak .func (.param .b32 r) leaf (.param .b32 x) { .reg .b32 %r<2>; { ld.param.b32 %r1, [x]; } st.param.b32 [r], %r1; ret; }\n"
	strong := strings.Replace(weak, ".weak", ".visible", 1) + ".visible .func consume(.param .b32 x)\n{\n ret;\n}\n"
	caller := head + `.extern .func (.param .b32 retval0) consume (.param .b32 x);
.visible .entry main_entry() { .reg .b32 %r<2>; .param .b32 a; .param .b32 b; mov.b32 %r1, 1; st.param.b32 [a], %r1; call.uni (b), consume, (a); ret; }
`
	for _, order := range [][]string{{weak, weak, strong, caller}, {strong, caller, weak}, {caller, strong, weak, weak}} {
		merged := mergeLinked(linkedMark + strings.Join(order, nextMark))
		m, err := ptx.Parse("merged", merged)
		if err != nil {
			t.Errorf("%v\n%s", err, merged)
			continue
		}
		if n := strings.Count(merged, "ld.param.b32"); n != 1 || !strings.Contains(merged, ".visible .func (.param .b32 r) leaf (.param .b32 x) {") {
			t.Errorf("leaf is defined %d times, or not by the text where it is not weak\n%s", n, merged)
		}
		if f := m.Function("consume"); f == nil || len(f.Results) != 1 || len(f.Params) != 1 {
			t.Errorf("consume is %+v", f)
		}
	}
}

// Old versions are raised to the oldest that is read, others stay.
func TestModern(t *testing.T) {
	for text, want := range map[string]string{
		".version 3.0\n.target sm_20": ".version 6.0\n.target sm_20", "// c\n  .version 5.12\n": "// c\n  .version 6.0\n",
		".version 6.0\n": ".version 6.0\n", ".version 10.2\n": ".version 10.2\n", "no version": "no version", "": "",
	} {
		if got := modern(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// A limit on registers goes with a linked text.
func TestRegisterLimit(t *testing.T) {
	for _, c := range []struct {
		text, rest string
		limit      int
	}{
		{partA, partA, 0}, {linkedMark + partA, linkedMark + partA, 0}, {linkedMark + registersMark + "38\n" + partA, linkedMark + partA, 38},
	} {
		if rest, limit := registerLimit(c.text); rest != c.rest || limit != c.limit {
			t.Errorf("%d and %q, want %d and %q", limit, rest, c.limit, c.rest)
		}
	}
}
