package exercise

import (
	"errors"
	"math"
	"strings"
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestAnswers compares the formulas with numbers worked out by hand from the datasheets.
func TestAnswers(t *testing.T) {
	for id, want := range map[string]float64{
		"01.1": 33_554_432,                            // 4096·4096·2
		"01.2": 33_554_432.0 / (33_554_432 + 16_384),  // 2·4096² FLOP over weights, input and output
		"01.3": 989.0 / 4.8 / (1 - 989.0/4.8/2048),    // 229.1
		"01.4": 165.2 / 1.008 / (1 - 163.8889/2048.0), // 178.2
		"01.5": 4800 / 15.00983,                       // (8,030,261,248 − 525,336,576)·2 B
		"03.1": 0.5, "03.2": 64, "03.3": 32,
		"03.4": 64 * 7.4e12,                                         // 474 TFLOP/s
		"04.1": 8 * 33_570_816.0 / 33_685_504,                       // weights, input and output of one; of eight
		"04.2": 2 * 33_570_816 / 4.8e12 * 989e12 / (2 * 16_777_216), // 412
		"04.3": 100 * (1 - 567.0/1600), "04.4": 231,                 // by hand
		"06.1": 8 * 1024 * 1024 * 2, "06.2": 0.1353352832, "06.4": 32,
		"07.1": 131_072, "07.2": 122_833, "07.3": 1 + 34.35974/15, "07.4": 4, // 2·32·8·128·2 B; 16.1 GB ÷ that; 32·8192·131072 B; 32 ÷ 8
		"07.5": 116, "07.6": 232, // 124.9 GB ÷ 1.0737 GB, ÷ 0.5369 GB
		"08.1": 100 * (1 - 1293.0/4096), "08.2": 7, "08.3": 8, "08.4": 3, // by hand
		"02.1": 32,                     // 32 lanes, 8·4 B apart
		"02.2": 16,                     // 32 sectors for 32·2 B, which fit into 2
		"02.3": 4.8e12 * 700 / 1.755e9, // 1.91 MB
		"02.4": 6,                      // 24 sectors a request: 24·32 B ÷ 32 lanes ÷ 4 B
	} {
		e := find(id)
		if e == nil {
			t.Errorf("no exercise %s", id)
			continue
		}
		if got := e.answer(); !(math.Abs(got/want-1) < 1e-4) {
			t.Errorf("%s: answer %v, want %v", id, got, want)
		}
	}
}

// TestRows checks every row: texts are there, an answer is right, and each mistake leads to its own hint, not to another's
// and not to the answer.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range exercises {
		if seen[e.id] {
			t.Errorf("%s twice", e.id)
		}
		seen[e.id] = true
		if e.question == "" || e.start == "" || e.trial == nil && e.update == nil && e.choose == nil && e.formula() == "" || unitNames[e.unit] == nil {
			t.Errorf("%s: a text is missing", e.id)
		}
		if e.trial != nil || e.update != nil || e.choose != nil {
			continue // TestKernels, TestUpdate, TestTile
		}
		if r := Check(e.id, e.answer()); !r.Right || r.Why != e.formula() {
			t.Errorf("%s: the answer itself: %v", e.id, r)
		}
		hints := map[string]bool{}
		for _, m := range e.mistakes {
			r := Check(e.id, m.leadsTo())
			if r.Right {
				t.Errorf("%s: the mistake %q is taken for right", e.id, m.hint)
			}
			if r.Why != m.hint && !hints[r.Why] {
				t.Errorf("%s: %v leads to %q, want %q", e.id, m.leadsTo(), r.Why, m.hint)
			}
			hints[m.hint] = true
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		id    string
		guess any
		want  string
	}{
		{"01.1", 33_554_432, "01.1  Right: 33.6 MB.\n4096 · 4096 weights · 2 B = 33.6 MB, all of them for one token."},
		{"01.1", "33.6 MB", "01.1  Right: 33.6 MB.\n4096 · 4096 weights · 2 B = 33.6 MB, all of them for one token."},
		{"01.1", "32 MiB", "01.1  Right: 33.6 MB.\n4096 · 4096 weights · 2 B = 33.6 MB, all of them for one token."},
		{"01.1", 16_777_216, "01.1  Not yet: 16.8 MB is 2 times too low.\nThat is the number of weights. An f16 weight takes two bytes."},
		{"01.1", "1 GB", "01.1  Not yet: 1.00 GB is 29.8 times too high.\nCount the weights, 4096 · 4096, then the bytes of one f16 number."},
		{"01.2", 1, "01.2  Right: 1.00 FLOP/B.\nA multiplication and an addition a weight, 2 FLOP, for 2 B: 1.00 FLOP/B with the vectors counted too."},
		{"01.3", 206, "01.3  Not yet: 206 tokens is 10% too low.\nClose: with M tokens the intensity is a little below M, because inputs and outputs are bytes too. Solve M/(1 + M/2048) = ridge."},
		{"01.4", float32(180), "01.4  Right: 180 tokens is near enough to 178 tokens.\nThe ridge is 165.2 TFLOP/s ÷ 1,008 GB/s = 164 FLOP/B; M = 164/(1 − 164/2048) = 178."},
		{"01.5", "≤ 320 tok/s", "01.5  Right: 320 tokens/s.\n15.0 GB ÷ 4.80 TB/s = 3.13 ms a token, so at most 320 tokens a second; 16.1 GB less the embedding table, of which a token reads one row."},
		{"01.5", 3.13, "01.5  Not yet: 3.13 tokens/s is 102 times too low.\nThose are milliseconds a token. Tokens a second is the inverse."},
		{"01.5", -1, "01.5  Not yet: -1 tokens/s is zero or less, the answer is above zero.\nHow long does reading 15.0 GB take at 4.8 TB/s? One token needs at least that long."},
		{"01.5", 0, "01.5  No guess yet: write a number above zero into the variable.\nHow long does reading 15.0 GB take at 4.8 TB/s? One token needs at least that long."},
		{"01.5", nil, "01.5  No guess yet: give a number.\nHow long does reading 15.0 GB take at 4.8 TB/s? One token needs at least that long."},
		{"01.5", math.NaN(), "01.5  No guess yet: NaN is no number to compare with.\nHow long does reading 15.0 GB take at 4.8 TB/s? One token needs at least that long."},
		{"01.5", "many", "01.5  No guess yet: \"many\" holds no number.\nHow long does reading 15.0 GB take at 4.8 TB/s? One token needs at least that long."},
		{"01.5", "3 ms", "01.5  No guess yet: the answer is in tokens/s, not in \"ms\".\nHow long does reading 15.0 GB take at 4.8 TB/s? One token needs at least that long."},
		{"01.1", []int{1}, "01.1  No guess yet: a guess is a number or a text like \"8.2 kB\", this is a []int.\nCount the weights, 4096 · 4096, then the bytes of one f16 number."},
		{"01.1", perf.Figure{Value: 33_600_000, Unit: "B", Tag: perf.Executed}, "01.1  Right: 33.6 MB.\n4096 · 4096 weights · 2 B = 33.6 MB, all of them for one token."},
	} {
		if got := Check(c.id, c.guess).String(); got != c.want {
			t.Errorf("Check(%q, %v):\n got %s\nwant %s", c.id, c.guess, got, c.want)
		}
	}
}

func TestUnknownExercise(t *testing.T) {
	defer func() {
		err, ok := recover().(error)
		var e *gpu.Error
		if !ok || !errors.As(err, &e) {
			t.Fatalf("want a *gpu.Error, got %v", err)
		}
		if want := "exercise \"09.9\": there is no such exercise\nthere are " + strings.Join(IDs(), ", "); err.Error() != want {
			t.Errorf("got %q, want %q", err.Error(), want)
		}
	}()
	Check("09.9", 1)
}

func TestGuesses(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		want       float64
	}{
		{"1,024", "", 1024}, {"2^10", "", 1024}, {"1e3", "", 1000}, {"1_000", "tokens", 1000}, {"33,6 MB", "B", 33.6e6},
		{"3.13 ms", "s", 3.13e-3}, {"3.13ms", "s", 3.13e-3}, {"7 µs", "s", 7e-6}, {"−4", "", -4}, {"4096² B", "B", 16_777_216},
		{"~ 64 KiB", "B", 65536}, {"33 554 432", "B", math.NaN()}, {"12 apples", "tokens", math.NaN()}, {"", "", math.NaN()},
		{"1.2.3", "", math.NaN()}, {"5 FLOP per byte", "FLOP/B", 5}, {"1e", "", math.NaN()},
	} {
		got, err := parseText(c.text, c.unit)
		if math.IsNaN(c.want) != (err != nil) || err == nil && !(math.Abs(got-c.want) <= 1e-12*math.Abs(c.want)) {
			t.Errorf("%q in %q: %v, %v; want %v", c.text, c.unit, got, err, c.want)
		}
	}
}

func FuzzGuess(f *testing.F) {
	for _, s := range []string{"33.6 MB", "2^10", "1,024", "≈ 3.13 ms", "1e3", "-", "^", ",", "e5", "9^9^9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, e := range exercises {
			if r := Check(e.id, s); r.Headline == "" || r.Why == "" {
				t.Errorf("%q: empty verdict %+v", s, r)
			}
		}
	})
}
