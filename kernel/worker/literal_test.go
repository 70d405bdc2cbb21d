package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"memwall/gpu/exercise"
)

// literalCases complete at the bar; the answer is the range that is replaced and what may stand there.
var literalCases = []struct{ text, want string }{
	{`kernels.Run("ge|`, "13 15 gemv gemm gemv/1_naive gemv/2_warp gemv/3_vec16 gemv/4_rows gemv/5_split_k gemm/1_naive gemm/2_smem_tile gemm/3_mma gemm/4_cp_async"},
	{`kernels.Run("|", y, w, x)`, "13 13 gemv batch gemm softmax probe/1_copy probe/2_read probe/3_fma gemv/1_naive gemv/2_warp gemv/3_vec16 gemv/4_rows gemv/5_split_k batch/1_looped batch/2_registers batch/3_mma gemm/1_naive gemm/2_smem_tile gemm/3_mma gemm/4_cp_async softmax/1_naive softmax/2_warp softmax/3_online"},
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
