package vgpu

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

// seedTexts are small modules of every kind of instruction, to be mutated.
func seedTexts() []string {
	return []string{divergent, transposeF64, accessKernelGrid, accessKernel("v4.f32", "shared"), accessKernel("f64", "global"),
		header + `.global .b8 text[4] = {1, 2, 3}; .extern .shared .b8 pool[];
.visible .entry k(.param .u64 p, .param .u32 n) {
	.reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>; .local .align 4 .b8 frame[16];
	ld.param.u64 %rd0, [p]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mov.u64 %rd1, text; ld.global.u8 %r2, [%rd1+1];
	setp.lt.and.u32 %p0|%p1, %r1, 7, !%p2; selp.b32 %r3, %r1, %r2, %p0; mov.b32 {%h0, %h1}, %r3; cvt.f32.f16 %f0, %h1;
	ex2.approx.ftz.f32 %f1, %f0; fma.rn.f32 %f2, %f1, %f0, 0f3F800000; mov.u64 %rd2, frame; st.local.f32 [%rd2+4], %f2;
	shfl.sync.bfly.b32 %r4|%p2, %r3, 1, 31, -1; vote.sync.ballot.b32 %r5, %p2, -1; atom.global.add.u32 %r6, [%rd0], %r5;
	bar.sync 0; @%p1 st.global.u32 [%rd0+4], %r6; cvt.rni.s32.f32 %r7, %f2; div.s32 %r8, %r7, %r1;
	red.shared.add.u32 [pool], %r8; cp.async.ca.shared.global [pool], [%rd0], 4; cp.async.commit_group; cp.async.wait_group 0;
	mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r3}, {%f0, %f1, %f2, %f3};
	ret;
}
`}
}

// mutate changes a text a little: words swapped with others of the seeds, cut, doubled, digits changed.
func mutate(r *rand.Rand, text string, words []string) string {
	parts := strings.Fields(text)
	for range 1 + r.IntN(4) {
		i := r.IntN(len(parts))
		switch r.IntN(5) {
		case 0:
			parts[i] = words[r.IntN(len(words))]
		case 1:
			j := r.IntN(len(parts))
			parts[i], parts[j] = parts[j], parts[i]
		case 2:
			parts = append(parts[:i], parts[i+1:]...)
		case 3:
			parts[i] += " " + parts[r.IntN(len(parts))]
		default:
			b := []byte(parts[i])
			b[r.IntN(len(b))] = "0123456789%.,;[]{}_xrfp-+"[r.IntN(25)]
			parts[i] = string(b)
		}
	}
	return strings.Join(parts, "\n")
}

// runAnything loads a text and launches what it holds; whatever it is, there must be a result or an error.
func runAnything(t *testing.T, d *Device, text string) {
	m, err := d.LoadPTX(text, driver.LoadOptions{Name: "f"})
	if err != nil {
		return
	}
	defer m.Unload()
	buffer, err := d.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(buffer)
	for _, name := range m.Functions() {
		f, err := m.Function(name)
		if err != nil {
			t.Fatal(err)
		}
		n := f.(*function).program.paramBytes
		if n > 4096 {
			continue
		}
		args := make([]byte, n)
		for i := 0; i+8 <= len(args); i += 8 {
			for k := range 8 {
				args[i+k] = byte(uint64(buffer) >> (8 * k))
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		_, err = d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(2), CTA: dim(48), Shared: 64, Args: args, Wait: true, Count: true})
		cancel()
		_ = err
	}
}

// Mutated modules load or fail, run or fault: nothing panics and nothing hangs.
func TestMutatedPTX(t *testing.T) {
	d := openTest(t, testProfile())
	r := rand.New(rand.NewPCG(7, 8))
	seeds := seedTexts()
	words := strings.Fields(strings.Join(seeds, " "))
	for i, s := range seeds {
		if _, err := d.LoadPTX(s, driver.LoadOptions{}); err != nil {
			t.Errorf("seed %d: %v", i, err)
		}
		runAnything(t, d, s)
	}
	for range 6000 {
		runAnything(t, d, mutate(r, seeds[r.IntN(len(seeds))], words))
	}
}

// corpusTexts are modules of at most so many bytes that compilers made: the shipped CUDA kernels and the corpus, without comments.
func corpusTexts(t testing.TB, most int) []string {
	var list []string
	for _, pattern := range []string{"../../../kernels/*/*.ptx", "testdata/corpus/*/*.ptx", "testdata/*.ptx"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) > most {
				continue
			}
			var text strings.Builder
			for line := range strings.Lines(string(b)) {
				line, _, _ = strings.Cut(line, "//")
				text.WriteString(strings.TrimRight(line, "\n") + "\n")
			}
			list = append(list, text.String())
		}
	}
	return append(list, seedTexts()...)
}

var (
	registerName = regexp.MustCompile(`%[a-z]+[0-9]+`)
	numberText   = regexp.MustCompile(`\b(0[xfd][0-9A-Fa-f]+|[0-9]+)\b`)
)

// mutateStatements changes a module as a broken compiler would: statements swapped, left out, doubled or taken from another
// module, operands exchanged, modifiers taken from elsewhere, numbers made extreme.
func mutateStatements(r *rand.Rand, text, other string) string {
	list, others := strings.SplitAfter(text, ";"), strings.SplitAfter(other, ";")
	first := min(strings.Count(text[:max(strings.Index(text, "{"), 0)], ";")+1, len(list)-1) // leave the head alone, mostly
	for range 1 + r.IntN(6) {
		i := first + r.IntN(len(list)-first)
		if r.IntN(20) == 0 {
			i = r.IntN(len(list))
		}
		switch r.IntN(8) {
		case 0:
			j := first + r.IntN(len(list)-first)
			list[i], list[j] = list[j], list[i]
		case 1:
			list[i] = ""
		case 2:
			list[i] += list[first+r.IntN(len(list)-first)]
		case 3:
			list[i] += others[r.IntN(len(others))]
		case 4, 5:
			names := registerName.FindAllString(text, 400)
			if len(names) > 0 {
				list[i] = registerName.ReplaceAllStringFunc(list[i], func(old string) string {
					if r.IntN(2) == 0 {
						return old
					}
					return names[r.IntN(len(names))]
				})
			}
		case 6:
			list[i] = numberText.ReplaceAllStringFunc(list[i], func(old string) string {
				return []string{old, "0", "1", "31", "32", "64", "2147483647", "4294967295", "0xffffffffffffffff", "65536", "0f7FC00000", "0f7F800000", "0d7FF0000000000000"}[r.IntN(13)]
			})
		default:
			words := strings.Split(list[i], ".")
			from := strings.FieldsFunc(list[first+r.IntN(len(list)-first)], func(c rune) bool { return strings.ContainsRune(". \t\n,", c) })
			if len(words) > 1 && len(from) > 0 {
				k := 1 + r.IntN(len(words)-1)
				rest := strings.TrimLeft(words[k], "abcdefghijklmnopqrstuvwxyz0123456789:_")
				words[k] = from[r.IntN(len(from))] + rest
				list[i] = strings.Join(words, ".")
			}
		}
	}
	return strings.Join(list, "")
}

// runWildly is runAnything with every kind of launch.
func runWildly(t *testing.T, d *Device, r *rand.Rand, text string) {
	m, err := d.LoadPTX(text, driver.LoadOptions{Name: "f"})
	if err != nil {
		if err.Error() == "" {
			t.Error("an error without a text")
		}
		return
	}
	defer m.Unload()
	buffer, err := d.Alloc(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(buffer)
	names := m.Functions()
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:min(len(names), 2)] {
		f, err := m.Function(name)
		if err != nil {
			t.Fatal(err)
		}
		n := f.(*function).program.paramBytes
		args := make([]byte, n)
		for i := 0; i+8 <= len(args); i += 8 {
			value := uint64(buffer) + 256*uint64(r.IntN(64))
			if r.IntN(4) == 0 {
				value = uint64(r.IntN(100)) | uint64(r.IntN(100))<<32
			}
			binary.LittleEndian.PutUint64(args[i:], value)
		}
		l := &driver.Launch{Function: f, Grid: dim(uint32(1 + r.IntN(3))), CTA: dim([]uint32{1, 32, 33, 64, 128}[r.IntN(5)]), Shared: 1024 * r.IntN(8), Args: args, Wait: true, Count: r.IntN(4) > 0,
			Warm: r.IntN(2) == 0, Sanitize: r.IntN(4) == 0}
		if a := f.Attributes(); a.RequiredCTA.X > 0 {
			l.CTA = a.RequiredCTA
		}
		switch r.IntN(6) {
		case 0:
			l.Grid, l.Cluster = dim(4), dim(2)
		case 1:
			l.Cooperative, l.Sanitize = true, false
		case 2:
			l.Grid, l.Sample = dim(9), 4
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		start := cpuTime() // of the process: a busy machine does not count
		d.Launch(ctx, l)
		if took := cpuTime() - start; took > 10*time.Second {
			t.Errorf("%s ran on for %v", name, took)
		}
		cancel()
	}
}

// Modules of compilers, mutated, load or are refused, run or fault.
func TestMutatedCorpus(t *testing.T) {
	d := openTest(t, testProfile())
	r := rand.New(rand.NewPCG(3, 5))
	texts := corpusTexts(t, 100_000)
	for range 60 {
		runWildly(t, d, r, mutateStatements(r, texts[r.IntN(len(texts))], texts[r.IntN(len(texts))]))
	}
}

// fuzzedBytes bounds the modules that the fuzzing engine gets: it gives an input up after 10 s of wall time, and under its
// instrumentation a large module takes a second to load on a quiet machine.
const fuzzedBytes = 6_000

// FuzzExecute mutates the n-th small module of the corpus by a random sequence.
func FuzzExecute(f *testing.F) {
	texts := corpusTexts(f, fuzzedBytes)
	for i := range texts {
		f.Add(uint16(i), uint64(1))
	}
	d := openTest(f, testProfile())
	f.Fuzz(func(t *testing.T, n uint16, seed uint64) {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		text := mutateStatements(r, texts[int(n)%len(texts)], texts[r.IntN(len(texts))])
		if len(text) > 2*fuzzedBytes {
			return
		}
		start := cpuTime()
		runWildly(t, d, r, text)
		if took := cpuTime() - start; took > 30*time.Second {
			t.Errorf("it took %v:\n%s", took, text)
		}
	})
}

func FuzzLaunch(f *testing.F) {
	for _, s := range seedTexts() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := openTest(t, testProfile())
		runAnything(t, d, text)
	})
}
