package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"memwall/gpu/exercise"
	"memwall/kernels"
)

// namesOf are the registered names that begin with a text.
func namesOf(prefix string) string {
	var found []string
	for _, k := range kernels.List() {
		if strings.HasPrefix(k.Name(), prefix) {
			found = append(found, k.Name())
		}
	}
	return strings.Join(found, " ")
}

// laddersOf are the families whose name alone means a kernel.
func laddersOf() string {
	var found []string
	for _, family := range kernels.Families() {
		func() {
			defer func() { _ = recover() }() // no ladder
			if kernels.Get(family).Family() == family {
				found = append(found, family)
			}
		}()
	}
	return strings.Join(found, " ")
}

// literalCases complete at the bar; the answer is the range that is replaced and what may stand there.
var literalCases = []struct{ text, want string }{
	{`kernels.Run("ge|`, "13 15 gemv gemm " + namesOf("ge")},
	{`kernels.Run("|", y, w, x)`, "13 13 " + laddersOf() + " " + namesOf("")},
	{`kernels.Run("gemv/1|_naive", y, w, x)`, "13 19 gemv/1_naive"},
	{`"é"; fmt.Println(kernels . Get( ` + "`soft|", "33 37 softmax softmax/1_naive softmax/2_warp softmax/3_online"},
	{`kernels.Run("x|`, "13 14"},
	{`gpu.Open("a1|`, "10 12 a10g a100 a100-40"},
	{`d := gpu.Open("virtual:t|")`, "15 24 virtual:t4"},
	{"%device virtual:a1|", "8 18 virtual:a10g virtual:a100 virtual:a100-40"},
	{"%device   t|", "10 11 t4"},
	{"é := 1\ngpu.Open(\"t|", "17 18 t4"},
	{`exercise.Check("|", 3)`, "16 16 " + strings.Join(exercise.IDs(), " ")},
	{`exercise.Check("no such|`, "16 23"},
	{`kernels.Run("gemv"|`, "none"},
	{`kernels.Run(y, "ge|`, "none"},
	{`x.kernels.Run("ge|`, "none"},
	{`fmt.Println("ge|`, "none"},
	{`// kernels.Run("ge|`, "none"},
	{"kernels.Run(\"ge\nf(ge|", "none"},
	{`kernels.Run("ge\"|`, "none"},
	{`'|`, "none"},
}

func TestCompleteInLiterals(t *testing.T) {
	r := newFakeRig(t)
	for _, c := range literalCases {
		before, after, _ := strings.Cut(c.text, "|")
		m := r.Complete(context.Background(), before+after, len([]rune(before)))
		got := strings.Join(strings.Fields(fmt.Sprintf("%d %d %s", m.Start, m.End, strings.Join(m.Matches, " "))), " ")
		if len(m.Types) > 0 && m.Types[0] == "variable" {
			got = "none" // left to the session
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

func FuzzCompleteInLiterals(f *testing.F) {
	for _, c := range literalCases {
		before, _, _ := strings.Cut(c.text, "|")
		f.Add(before)
	}
	f.Fuzz(func(t *testing.T, before string) {
		if typed, matches, ok := completeName(before); ok && !strings.HasSuffix(before, typed) || !ok && len(matches) > 0 {
			t.Errorf("%q: %q %v %v", before, typed, matches, ok)
		}
	})
}
