package vgpu

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

const largeHead = header + ".visible .entry k(.param .u64 p) {\n.reg .pred %p<4>; .reg .b32 %r<20000>; .reg .f32 %f<20000>; .reg .b64 %rd<20000>;\nld.param.u64 %rd0, [p];\nmov.f32 %f0, 0f3F800000;\nmov.u32 %r0, %tid.x;\n"

// build makes a module of lines.
func build(line func(b *strings.Builder, i int)) string {
	var b strings.Builder
	b.WriteString(largeHead)
	for i := 4; i < 9992; i++ {
		line(&b, i)
	}
	b.WriteString("st.global.f32 [%rd0], %f1;\nret;\n}\n")
	return b.String()
}

// hostileTexts are modules that no compiler makes, hard for algorithms over the control flow.
func hostileTexts() map[string]string {
	return map[string]string{
		"backwards": build(func(b *strings.Builder, i int) { // each block jumps to the one before it
			if i == 4 {
				b.WriteString("bra L9991;\nL3: bra END;\n")
			}
			fmt.Fprintf(b, "L%d: add.u32 %%r%d, %%r%d, 1; bra L%d;\n", i, i, i+1, i-1)
			if i == 9991 {
				b.WriteString("END:\n")
			}
		}),
		"deep loops": build(func(b *strings.Builder, i int) {
			if j := 9992 + 3 - i; i < 4998 {
				fmt.Fprintf(b, "L%d: add.u32 %%r%d, %%r%d, 1;\n", i, i, i-1)
			} else if j < 4998 {
				fmt.Fprintf(b, "setp.gt.u32 %%p1, %%r%d, 7; @%%p1 bra L%d;\n", j, j)
			}
		}),
	}
}

// largeTexts are modules of 10,000 lines, each hard for another part of the loader.
func largeTexts() map[string]string {
	return map[string]string{
		"a chain": build(func(b *strings.Builder, i int) { fmt.Fprintf(b, "fma.rn.f32 %%f%d, %%f%d, %%f0, %%f0;\n", i, i-1) }),
		"an accumulator": build(func(b *strings.Builder, i int) {
			if i%2 == 0 {
				fmt.Fprintf(b, "ld.global.f32 %%f%d, [%%rd0+%d];\n", i, 4*i)
			} else if i > 5 {
				fmt.Fprintf(b, "add.f32 %%f1, %%f1, %%f%d;\n", i-1)
			} else {
				b.WriteString("mov.f32 %f1, %f0;\n")
			}
		}),
		"all alive": build(func(b *strings.Builder, i int) {
			if i < 5000 {
				fmt.Fprintf(b, "ld.global.f32 %%f%d, [%%rd0+%d];\n", 2+i, 4*i)
			} else {
				fmt.Fprintf(b, "add.f32 %%f1, %%f1, %%f%d;\n", 2+i-4999)
			}
		}),
		"pointers": build(func(b *strings.Builder, i int) { fmt.Fprintf(b, "ld.global.u64 %%rd%d, [%%rd%d+8];\n", i, i-1) }),
		"branches": build(func(b *strings.Builder, i int) {
			fmt.Fprintf(b, []string{"setp.gt.u32 %%p1, %%r0, %[1]d;\n", "@%%p1 bra L%[2]d;\n", "add.u32 %%r0, %%r0, %[1]d;\n", "L%[2]d:\n"}[i%4], i, i/4)
		}),
		"branches and loads": build(func(b *strings.Builder, i int) {
			fmt.Fprintf(b, []string{"setp.gt.u32 %%p1, %%r0, %[1]d;\n", "@%%p1 bra L%[2]d;\n", "ld.global.u64 %%rd%[1]d, [%%rd0+8];\n", "L%[2]d: add.u64 %%rd0, %%rd0, %%rd%[3]d;\n"}[i%4], i, i/4, i-1)
		}),
		"nested loops": build(func(b *strings.Builder, i int) { // 37 loops inside each other, again and again
			if j := i % 74; j < 37 {
				fmt.Fprintf(b, "L%d: add.u32 %%r%d, %%r%d, 1;\n", i, j+1, j)
			} else if i >= 74 || i-2*(j-37)-1 >= 4 {
				fmt.Fprintf(b, "setp.gt.u32 %%p1, %%r%d, 7; @%%p1 bra L%d;\n", 74-j, i-2*(j-37)-1)
			} else {
				b.WriteString("// here the first loops begin too early\n")
			}
		}),
		"guards": build(func(b *strings.Builder, i int) { fmt.Fprintf(b, "setp.gt.u32 %%p1, %%r0, %d; @%%p1 ret;\n", i) }),
	}
}

// loadCost is the processor time that loading a text takes, the least of a few times.
func loadCost(t testing.TB, text string) time.Duration {
	best := time.Hour
	for range 2 {
		d := openTest(t, testProfile())
		start := cpuTime()
		if _, err := d.LoadPTX(text, driver.LoadOptions{Name: "large.ptx"}); err != nil {
			t.Fatal(err)
		}
		best = min(best, cpuTime()-start)
	}
	return best
}

// A module of 10,000 lines loads in 200 ms of processor time, whatever its shape.
func TestLargeModules(t *testing.T) {
	for name, text := range largeTexts() {
		if lines := strings.Count(text, "\n"); lines < 9_000 {
			t.Errorf("%s: only %d lines", name, lines)
		}
		took := loadCost(t, text)
		t.Logf("%s: %v", name, took)
		if took > 400*time.Millisecond { // twice the aim, for a busy machine
			t.Errorf("%s: 10,000 lines took %v to load", name, took)
		}
	}
}

// What is hostile loads or is refused, in a few times that.
func TestHostileModules(t *testing.T) {
	for name, text := range hostileTexts() {
		if took := loadCost(t, text); took > 2*time.Second {
			t.Errorf("%s: 10,000 lines took %v to load", name, took)
		}
	}
}

// More than 10⁵ registers are refused by name; nearly as many load, and a CTA that is too large for the host is refused.
func TestManyRegisters(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		b.WriteString(header + fmt.Sprintf(".visible .entry k(.param .u64 p) {\n.reg .b32 %%r<%d>; .reg .b64 %%rd<2>;\nld.param.u64 %%rd0, [p];\n", n))
		for i := range n {
			fmt.Fprintf(&b, "ld.global.u32 %%r%d, [%%rd0];\n", i)
		}
		for i := range n {
			fmt.Fprintf(&b, "st.global.u32 [%%rd0], %%r%d;\n", i)
		}
		b.WriteString("ret;\n}\n")
		return b.String()
	}
	d := openTest(t, testProfile())
	_, err := d.LoadPTX(many(100_001), driver.LoadOptions{Name: "many.ptx"})
	if want := "many.ptx:100006:15: function k uses more than 100000 registers\n    ld.global.u32 %r99999, [%rd0];\n                  ^\nsplit the function, or keep arrays in .local or .shared memory"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	start := cpuTime()
	m, err := d.LoadPTX(many(40_000), driver.LoadOptions{Name: "many.ptx"})
	if err != nil {
		t.Fatal(err)
	}
	if took := cpuTime() - start; took > 4*time.Second {
		t.Errorf("40,000 live registers took %v to load", took)
	} else {
		t.Logf("40,000 live registers: %v", took)
	}
	f := fn(t, m, "k")
	out := upload(t, d, []uint32{5})
	launch(t, d, f, dim(1), dim(32), out)
	fail := func(format string, args ...any) error { return fmt.Errorf("launch k: "+format, args...) }
	if err := f.(*function).checkFiles(1024, fail); err != nil {
		t.Errorf("%v", err)
	}
	err = f.(*function).checkFiles(8192, fail)
	if want := "launch k: the registers and the local memory of a CTA of 8192 threads take 1,310,916,608 B of the host (160024 B a thread): the limit is 1,073,741,824 B\nuse fewer threads in a CTA, or split the function"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

func BenchmarkLoad(b *testing.B) {
	for name, text := range largeTexts() {
		b.Run(name, func(b *testing.B) {
			d := openTest(b, testProfile())
			for b.Loop() {
				m, err := d.LoadPTX(text, driver.LoadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				m.Unload()
			}
		})
	}
}
