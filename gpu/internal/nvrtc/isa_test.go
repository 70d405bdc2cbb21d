package nvrtc

import (
	"strings"
	"testing"
)

// The expected versions are those of the PTX ISA's release notes and of each instruction's "PTX ISA Notes".
func TestLeastISA(t *testing.T) {
	for _, c := range []struct{ target, body, want string }{
		{"sm_70", "add.s32 %r1, %r2, %r3;", "6.0"},
		{"sm_75", "ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];", "6.3"},
		{"sm_75", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];", "6.5"},
		{"sm_75", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4};", "6.5"},
		{"sm_70", "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1, %r2}, {%r3}, {%f1};", "6.4"},
		{"sm_80", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};", "7.0"},
		{"sm_80", "cp.async.ca.shared.global [%r1], [%rd1], 16;", "7.0"},
		{"sm_80", "cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 16;", "7.4"},
		{"sm_80", "{.reg .f16 low,high;\n mov.b32 {low,high},%r39;\n cvt.f32.f16 %f17, low;}", "7.0"},
		{"sm_80", "@!%p1 bra $L1;\n$L1: cvt.rn.f16x2.f32 %r1, %f1, %f2;", "7.0"},
		{"sm_75", "@%p3 activemask.b32 %r1;", "6.3"},
		{"sm_70", "activemask.b32 %r1;", "6.2"},
		{"sm_80", ".loc 1 2 3, function_name $L__info_string0, inlined_at 1 4 5\nadd.s32 %r1, %r1, 1;", "7.2"},
		{"sm_90", "wgmma.fence.sync.aligned;", "8.0"},
		{"sm_90", "mov.u32 %r1, %cluster_ctarank;", "7.8"},
		{"sm_80", "brandnew.f99 %r1, %r2;", "8.8"}, // unknown: the compiler's own version stays
		{"sm_999", "add.s32 %r1, %r2, %r3;", "8.8"},
		{"sm_80", "// wgmma.fence in a comment\nadd.s32 %r1, %r2, %r3;", "7.0"},
	} {
		ptx := "//\n.version 8.8\n.target " + c.target + "\n.address_size 64\n.visible .entry f(\n.param .u64 f_param_0\n)\n.maxntid 128, 1, 1\n{\n.reg .b32 %r<9>;\n" + c.body + "\nret;\n}\n"
		lowered, err := LowerVersion(ptx)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(lowered, "\n.version "+c.want+"\n") {
			_, why, _ := LeastISA(ptx)
			t.Errorf("%s %s: got %s (%s), want %s", c.target, c.body, strings.Split(lowered, "\n")[1], why, c.want)
		}
		if strings.Replace(lowered, ".version "+c.want, ".version 8.8", 1) != ptx {
			t.Errorf("%s: more than the version changed", c.body)
		}
	}
	if _, err := LowerVersion("no PTX"); err == nil || err.Error() != "nvrtc: PTX without a .version or .target line" {
		t.Errorf("no PTX: %v", err)
	}
}

func FuzzLowerVersion(f *testing.F) {
	f.Add(".version 8.8\n.target sm_80\n.entry f() { mov.b32 {a,b}, c; }")
	f.Add(".version 8.8\n.target sm_80\n{{{{;;}}@%p :: $L:")
	f.Add(".version 8.8\n\n.target sm_80\n")
	f.Fuzz(func(t *testing.T, ptx string) {
		if lowered, err := LowerVersion(ptx); err == nil && strings.Count(lowered, "\n") != strings.Count(ptx, "\n") {
			t.Errorf("lines changed: %q", lowered)
		}
	})
}
