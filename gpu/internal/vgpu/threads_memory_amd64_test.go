package vgpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// onEveryPath runs a launch on each lane path, from the same memory, and compares all counters and what it left in memory with the
// portable lanes'.
func onEveryPath(t *testing.T, name string, d *Device, launch func() (*driver.Result, [][]byte, error)) {
	t.Helper()
	var first any
	var memory [][]byte
	for lanes := PortableLanes; lanes <= BestLanes(); lanes++ {
		d.SetLanes(lanes)
		r, out, err := launch()
		var counts any
		if err != nil {
			counts, out = err.Error(), nil
		} else {
			r.Host = 0
			counts = []any{r.Counts, r.Lines}
		}
		if lanes == PortableLanes {
			first, memory = counts, out
		}
		if !reflect.DeepEqual(first, counts) {
			t.Errorf("%s, %s lanes: counters differ: %s", name, lanes, firstDifference(reflect.ValueOf(first), reflect.ValueOf(counts)))
		}
		for i := range min(len(memory), len(out)) {
			if have, want := out[i], memory[i]; !bytes.Equal(have, want) {
				at := 0
				for have[at] == want[at] {
					at++
				}
				t.Errorf("%s, %s lanes: buffer %d differs from byte %d on: portable %x, here %x", name, lanes, i, at, want[at:min(at+16, len(want))], have[at:min(at+16, len(have))])
			}
		}
	}
}

// firstDifference names the first field in which two values differ, portable before threaded.
func firstDifference(p, a reflect.Value) string {
	switch p.Kind() {
	case reflect.Interface:
		return firstDifference(p.Elem(), a.Elem())
	case reflect.Struct:
		for i := range p.NumField() {
			if !reflect.DeepEqual(p.Field(i).Interface(), a.Field(i).Interface()) {
				return p.Type().Field(i).Name + " " + firstDifference(p.Field(i), a.Field(i))
			}
		}
	case reflect.Slice:
		for i := range min(p.Len(), a.Len()) {
			if !reflect.DeepEqual(p.Index(i).Interface(), a.Index(i).Interface()) {
				return fmt.Sprint(i, " ", firstDifference(p.Index(i), a.Index(i)))
			}
		}
	}
	return fmt.Sprintf("%v, %v", p.Interface(), a.Interface())
}

// accessForm is how PTX writes an access: its type and vector, and the registers.
type accessForm struct{ load, store, register string }

var accessForms = []accessForm{
	{"b32", "b32", "b32"}, {"v2.b32", "v2.b32", "b32"}, {"v4.b32", "v4.b32", "b32"}, {"b64", "b64", "b64"}, {"v2.b64", "v2.b64", "b64"},
	{"u16", "u16", "b16"}, {"s16", "b16", "b32"}, {"u8", "u8", "b16"}, {"s8", "b8", "b32"}, {"v2.b16", "v2.b16", "b16"}, {"v4.b16", "v4.b16", "b16"},
}

// patternKernel loads and stores by a form in a loop: lane t reads at from + index[t] + i·step and writes what it read at
// to + index[t] + i·step, both in the given space.
func patternKernel(f accessForm, space string, wide bool) string {
	var b strings.Builder
	b.WriteString(".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to, .param .u64 index, .param .u32 step)\n{\n")
	fmt.Fprintf(&b, ".shared .align 16 .b8 s[32768];\n.reg .pred %%p;\n.reg .b32 %%t, %%x, %%i, %%step, %%a, %%c, %%n, %%w;\n.reg .b64 %%from, %%to, %%index, %%o, %%y, %%z;\n.reg .%s %%v<4>;\n", f.register)
	b.WriteString("ld.param.u64 %from, [from];\nld.param.u64 %to, [to];\nld.param.u64 %index, [index];\nld.param.u32 %step, [step];\nmov.u32 %t, %tid.x;\n")
	b.WriteString("mul.wide.u32 %o, %t, 4;\nadd.s64 %index, %index, %o;\nld.global.u32 %x, [%index];\n")
	n := 1
	if strings.HasPrefix(f.load, "v") {
		n = int(f.load[1] - '0')
	}
	registers := "%v0"
	if n > 1 {
		registers = "{" + strings.Join([]string{"%v0", "%v1", "%v2", "%v3"}[:n], ", ") + "}"
	}
	if space == "shared" { // 16 KiB of shared memory as the source, 16 KiB behind it as the destination
		b.WriteString("mov.u32 %a, s;\nadd.u32 %c, %a, 16384;\nmov.u32 %n, 0;\nFILL: shl.b32 %w, %t, 2;\nadd.u32 %w, %w, %n;\ncvt.u64.u32 %y, %w;\nadd.s64 %y, %from, %y;\nld.global.u32 %i, [%y];\nadd.u32 %w, %w, %a;\n")
		b.WriteString("st.shared.b32 [%w], %i;\nst.shared.b32 [%w+16384], %i;\nadd.u32 %n, %n, 128;\nsetp.lt.u32 %p, %n, 16384;\n@%p bra FILL;\n")
		b.WriteString("add.u32 %a, %a, %x;\nadd.u32 %c, %c, %x;\nmov.u32 %i, 0;\n")
		address := func(r string) string { return r }
		if wide {
			b.WriteString("cvt.u64.u32 %y, %a;\ncvt.u64.u32 %z, %c;\ncvt.u64.u32 %o, %step;\n")
			address = func(r string) string { return map[string]string{"%a": "%y", "%c": "%z"}[r] }
		}
		fmt.Fprintf(&b, "LOOP: ld.shared.%s %s, [%s+16];\nst.shared.%s [%s], %s;\n", f.load, registers, address("%a"), f.store, address("%c"), registers)
		if wide {
			b.WriteString("add.s64 %y, %y, %o;\nadd.s64 %z, %z, %o;\n")
		} else {
			b.WriteString("add.u32 %a, %a, %step;\nadd.u32 %c, %c, %step;\n")
		}
		b.WriteString("add.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, 24;\n@%p bra LOOP;\nbar.sync 0;\nmov.u32 %a, s;\nmov.u32 %n, 0;\n")
		b.WriteString("OUT: shl.b32 %w, %t, 2;\nadd.u32 %w, %w, %n;\ncvt.u64.u32 %y, %w;\nadd.s64 %y, %to, %y;\nadd.u32 %w, %w, %a;\nld.shared.u32 %i, [%w+16384];\nst.global.u32 [%y], %i;\nadd.u32 %n, %n, 128;\nsetp.lt.u32 %p, %n, 16384;\n@%p bra OUT;\nret;\n}\n")
		return b.String()
	}
	dot := ""
	if space != "" {
		dot = "." + space
	}
	b.WriteString("cvt.u64.u32 %y, %x;\nadd.s64 %from, %from, %y;\nadd.s64 %to, %to, %y;\ncvt.u64.u32 %o, %step;\nmov.u32 %i, 0;\n")
	fmt.Fprintf(&b, "LOOP: ld%s.%s %s, [%%from+16];\nst%s.%s [%%to], %s;\nadd.s64 %%from, %%from, %%o;\nadd.s64 %%to, %%to, %%o;\nadd.u32 %%i, %%i, 1;\nsetp.lt.u32 %%p, %%i, 24;\n@%%p bra LOOP;\nret;\n}\n",
		dot, f.load, registers, dot, f.store, registers)
	return b.String()
}

// lanePatterns gives the offsets of 32 lanes of so many bytes each.
func lanePatterns(bytes uint32) map[string][]uint32 {
	r := rand.New(rand.NewPCG(3, uint64(bytes)))
	all := map[string][]uint32{}
	put := func(name string, f func(l uint32) uint32) {
		for l := range uint32(32) {
			all[name] = append(all[name], f(l))
		}
	}
	put("row", func(l uint32) uint32 { return l * bytes })
	put("row from within a sector", func(l uint32) uint32 { return (l + 1) * bytes })
	put("row across lines", func(l uint32) uint32 { return l*bytes + 96 })
	put("one address", func(l uint32) uint32 { return 7 * bytes })
	put("eights at one address", func(l uint32) uint32 { return l / 8 * 3 * bytes })
	put("rows of eights", func(l uint32) uint32 { return l/8*(11*bytes) + l&7*bytes })
	put("halves at one address", func(l uint32) uint32 { return l / 16 * 5 * bytes })
	put("every second", func(l uint32) uint32 { return 2 * l * bytes })
	put("every ninth", func(l uint32) uint32 { return 9 * l * bytes })
	put("backwards", func(l uint32) uint32 { return (31 - l) * bytes })
	put("any", func(l uint32) uint32 { return r.Uint32N(200) * bytes })
	put("pairs", func(l uint32) uint32 { return l / 2 * bytes })
	return all
}

// Loads and stores of every form, space and pattern touch, count and trace the same on both paths, and so their kernels
// hold every memory op of the assembly.
func TestThreadedMemory(t *testing.T) {
	if !threadsCanRun(t) {
		return
	}
	d := openTest(t, testProfile())
	const n = 1 << 15
	data := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	from, to := upload(t, d, data), upload(t, d, make([]byte, n))
	seen := map[uintptr]bool{}
	for _, space := range []string{"global", "", "shared", "shared 64"} {
		for _, f := range accessForms {
			space, wide := strings.CutSuffix(space, " 64")
			m := loadModule(t, d, patternKernel(f, space, wide))
			k := fn(t, m, "k")
			bytes := map[string]uint32{"b32": 4, "v2.b32": 8, "v4.b32": 16, "b64": 8, "v2.b64": 16, "u16": 2, "s16": 2, "u8": 1, "s8": 1, "v2.b16": 4, "v4.b16": 8}[f.load]
			for name, offsets := range lanePatterns(bytes) {
				index := upload(t, d, offsets)
				for _, step := range []uint32{0, bytes, 32, 3 * bytes} {
					onEveryPath(t, fmt.Sprintf("%s %s, %s, step %d", space, f.load, name, step), d, func() (*driver.Result, [][]byte, error) {
						if err := d.CopyIn(to, make([]byte, n), nil); err != nil {
							t.Fatal(err)
						}
						r, err := d.Launch(context.Background(), &driver.Launch{Function: k, Grid: dim(1), CTA: dim(32), Args: pack(t, k, from, to, index, step), Wait: true, Count: true})
						return r, [][]byte{download[byte](t, d, to, n)}, err
					})
				}
				d.Free(index)
			}
			noteOps(m.(*module).functions["k"].program, seen)
			m.Unload()
		}
	}
	for i := range asmOps {
		o := &asmOps[i]
		if name := nameOf(o.twins[0]); !seen[o.address] && (strings.HasPrefix(name, "opLoadG") || strings.HasPrefix(name, "opLoadS") || strings.HasPrefix(name, "opStore")) {
			t.Errorf("%s: no kernel of this test has it", o.name)
		}
	}
}

func noteOps(p *program, seen map[uintptr]bool) {
	for i := range p.blocks {
		for _, in := range p.blocks[i].threads.full {
			seen[in.code] = true
		}
	}
}

// Whole kernels as compilers emit them give the same memory and counters on every path.
func TestThreadedCorpus(t *testing.T) {
	if !threadsCanRun(t) {
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // how often a kernel looks for what another CTA does depends on their order
	d := openTest(t, testProfile())
	for _, producer := range []string{"triton", "nvrtc", "programs"} {
		all := readCorpus(t, producer)
		for i := range all.Cases {
			c := &all.Cases[i]
			m, err := d.LoadPTX(string(gunzip(t, filepath.Join(all.dir, c.PTX+".ptx.gz"))), driver.LoadOptions{Name: c.PTX + ".ptx"})
			if err != nil {
				continue // TestCorpus judges it
			}
			if f, err := m.Function(c.Entry); err == nil && len(f.Params()) == len(c.Args) {
				onEveryPath(t, producer+"/"+c.Name, d, func() (*driver.Result, [][]byte, error) { return c.launchOn(t, d, f, all) })
			}
			m.Unload()
		}
	}
}

// launchOn launches a case with fresh buffers and gives what they hold afterwards.
func (c *corpusCase) launchOn(t *testing.T, d *Device, f driver.Function, all *corpus) (*driver.Result, [][]byte, error) {
	var args []byte
	var buffers []driver.Address
	var sizes []int
	for i, a := range c.Args {
		value := all.Blobs[a.Value]
		if a.Type != "" {
			data := make([]byte, max(a.N*elementSize(a.Type), 1))
			copy(data, all.Blobs[a.Data])
			p := upload(t, d, data)
			if a.Data == "" && a.Expect == "" { // scratch, where addresses may stand
				defer d.Free(p)
			} else {
				buffers, sizes = append(buffers, p), append(sizes, len(data))
			}
			value = binary.LittleEndian.AppendUint64(nil, uint64(p))
		}
		args = append(args, make([]byte, f.Params()[i].Offset-len(args))...)
		args = append(args, value...)
	}
	r, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(c.Grid[:]...), CTA: dim(c.Block[:]...), Shared: c.Shared, Args: args, Wait: true, Count: true})
	if err != nil { // the fault names addresses, which differ
		err = fmt.Errorf("fault")
	}
	var out [][]byte
	for i, p := range buffers {
		out = append(out, download[byte](t, d, p, sizes[i]))
		d.Free(p)
	}
	return r, out, err
}

// Instructions with a guard that holds for all lanes, for none and for some count the same on both paths.
func TestThreadedGuards(t *testing.T) {
	if !threadsCanRun(t) {
		return
	}
	d := openTest(t, testProfile())
	m := loadModule(t, d, `.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to, .param .u32 limit)
{
.reg .pred %p;
.reg .b32 %t, %x, %l;
.reg .b64 %to, %o, %y;
ld.param.u64 %to, [to];
ld.param.u32 %l, [limit];
mov.u32 %t, %tid.x;
mul.wide.u32 %o, %t, 8;
add.s64 %to, %to, %o;
setp.lt.u32 %p, %t, %l;
mov.u32 %x, 5;
mov.u64 %y, 7;
@%p add.u32 %x, %x, %t;
@!%p mul.lo.u32 %x, %x, 3;
@%p add.s64 %y, %y, %o;
@%p st.global.u32 [%to], %x;
@!%p st.global.u64 [%to], %y;
@!%p ld.global.u32 %x, [%to+4];
add.u32 %x, %x, 1;
st.global.u32 [%to], %x;
ret;
}
`)
	f := fn(t, m, "k")
	to := upload(t, d, make([]uint64, 128))
	for _, limit := range []uint32{0, 5, 32, 70, 128} {
		onEveryPath(t, fmt.Sprint("limit ", limit), d, func() (*driver.Result, [][]byte, error) {
			if err := d.CopyIn(to, make([]byte, 1024), nil); err != nil {
				t.Fatal(err)
			}
			r, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(3), CTA: dim(128), Args: pack(t, f, to, limit), Wait: true, Count: true})
			return r, [][]byte{download[byte](t, d, to, 1024)}, err
		})
	}
}
