package kernels

import (
	"testing"

	"memwall/gpu"
)

// pagedCall makes the arguments of paged/1_decode for sequences of the same length; first is how many pages at their beginning
// all of them share.
func pagedCall(dev *gpu.Device, batch, hq, hkv, length, page, d, first int) (args []any, touched int) {
	columns := over(length, page)
	table, next := make([]float64, batch*columns), 0
	for b := range batch {
		for i := range columns {
			if b > 0 && i < first {
				table[b*columns+i] = table[i]
				continue
			}
			table[b*columns+i] = float64(next * 7 % (batch*columns + 1)) // shuffled: the number of pages is no multiple of 7
			next++
		}
	}
	lengths := make([]float64, batch)
	for b := range lengths {
		lengths[b] = float64(length)
	}
	shape := []int{batch*columns + 1, page, hkv, d}
	return []any{dev.Zeros(gpu.F16, batch, hq, d), dev.Randn(gpu.F16, batch, hq, d), dev.Randn(gpu.F16, shape...), dev.Randn(gpu.F16, shape...),
		dev.FromAs(gpu.I32, table, batch, columns), dev.FromAs(gpu.I32, lengths, batch), 0.0, 0, 0.0}, next
}

// TestPagesTouched counts sectors: pages that are shared are fetched once, and of a partial page only what is filled.
func TestPagesTouched(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const batch, hq, hkv, page, d = 3, 4, 2, 16, 64
	small := float64(2*batch*hq*d)/32 + 3 + 1 // q, 72 bytes of table, and lengths
	for _, c := range []struct{ length, shared int }{{96, 0}, {96, 4}, {90, 0}} {
		args, pages := pagedCall(h.dev, batch, hq, hkv, c.length, page, d, c.shared)
		launches, err := measured("paged/1_decode", nil, args)
		if err != nil {
			t.Fatal(err)
		}
		tokens := pages*page - batch*(over(c.length, page)*page-c.length)
		near(t, "sectors of K and V", float64(launches[0].Counts.Cache.DistinctRead)-small, float64(2*tokens*hkv*d*2/32))
	}
}

// TestPagedLikeContiguous holds paged decode against decode on the same keys: the same bits, whatever the size of a page.
func TestPagedLikeContiguous(t *testing.T) {
	dev := open(t, "virtual:h200")
	const length, d = 200, 64
	var want []float64
	for _, page := range []int{1, 7, 16, 256} {
		columns := over(length, page)
		keys, values := dev.Randn(gpu.F16, 1, 1, length, d).Float64s(), dev.Randn(gpu.F16, 1, 1, length, d).Float64s()
		q := dev.Randn(gpu.F16, 1, 4, d)
		paged := func(values []float64) *gpu.Tensor {
			all := make([]float64, columns*page*d)
			for j := range length {
				copy(all[((columns-1-j/page)*page+j%page)*d:], values[j*d:(j+1)*d])
			}
			return dev.FromAs(gpu.F16, all, columns, page, 1, d)
		}
		table := make([]float64, columns)
		for i := range table {
			table[i] = float64(columns - 1 - i)
		}
		o := dev.Zeros(gpu.F16, 1, 4, d)
		if err := Run("decode", o, q, dev.FromAs(gpu.F16, keys, 1, 1, length, d), dev.FromAs(gpu.F16, values, 1, 1, length, d), nil, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		want = o.Float64s()
		if err := Run("paged/1_decode", o, q, paged(keys), paged(values), dev.FromAs(gpu.I32, table, 1, columns), dev.FromAs(gpu.I32, []float64{length}, 1), 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		// The number of parts follows from the table's room, so that sums may be cut elsewhere.
		for i, got := range o.Float64s() {
			if !(got-want[i] <= 0x1p-10 && want[i]-got <= 0x1p-10) {
				t.Fatalf("pages of %d: element %d is %g, contiguous %g", page, i, got, want[i])
			}
		}
	}
}

// TestPagedTime predicts decode with pages of 16 tokens within 10 % of contiguous.
func TestPagedTime(t *testing.T) {
	dev := open(t, "virtual:h200")
	const batch, hq, hkv, length, d = 16, 32, 8, 1024, 128
	time := func(name string, args []any) float64 {
		var err error
		r := gpu.Sample(16, func() { err = Run(name, args...) })
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, l := range r.Launches {
			total += l.Duration.Value
		}
		return total
	}
	pages, _ := pagedCall(dev, batch, hq, hkv, length, 16, d, 0)
	k, v := dev.Randn(gpu.F16, batch, hkv, length, d), dev.Randn(gpu.F16, batch, hkv, length, d)
	whole := time("decode", []any{pages[0], pages[1], k, v, nil, 0, 0, 0})
	if cut := time("paged/1_decode", pages); !(cut <= 1.1*whole) {
		t.Errorf("pages of 16: %.3g s, contiguous %.3g s", cut, whole)
	}
}

// TestPagedRefuses checks the whole text of what is refused before a launch.
func TestPagedRefuses(t *testing.T) {
	dev := open(t, "virtual:h200")
	const pages, page, d = 6, 4, 64
	q, cache := dev.Zeros(gpu.F16, 2, 2, d), dev.Zeros(gpu.F16, pages, page, 1, d)
	ints := func(shape []int, values ...float64) *gpu.Tensor { return dev.FromAs(gpu.I32, values, shape...) }
	table := func(values ...float64) *gpu.Tensor { return ints([]int{2, 2}, values...) }
	lengths := func(values ...float64) *gpu.Tensor { return ints([]int{2}, values...) }
	numbered := "\npages are numbered from 0 to 5"
	for _, c := range []struct {
		table, lengths *gpu.Tensor
		want           string
	}{
		{table(0, 6, 1, 2), lengths(5, 8), "table[0][1] = 6, and sequence 0 has 1 tokens there" + numbered},
		{table(0, 1, -1, 2), lengths(8, 8), "table[1][0] = -1, and sequence 1 has 8 tokens there" + numbered},
		{table(0, 1, 3, 3), lengths(8, 8), "table[1][0] and table[1][1] are both page 3\nsequences may share a page, but one sequence holds different tokens in each of its own"},
		{table(0, 1, 2, 3), lengths(8, 9), "lengths[1] = 9\na length is from 0 up, and the table has room for 8 tokens a sequence"},
		{table(0, 1, 2, 3), lengths(-8, 8), "lengths[0] = -8\na length is from 0 up, and the table has room for 8 tokens a sequence"},
		{table(0, -1, 2, -1), lengths(4, 3), ""}, // nothing behind the lengths is looked at
		{table(0, 1, 0, 2), lengths(8, 8), ""},   // a shared page
	} {
		want := c.want
		if want != "" {
			want = "paged/1_decode: " + want
		}
		if err := Run("paged/1_decode", dev.Zeros(gpu.F16, 2, 2, d), q, cache, cache, c.table, c.lengths, 0, 0, 0); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	for _, c := range []struct {
		cu   *gpu.Tensor
		want string
	}{
		{ints([]int{3}, 0, 1, 3), "paged/2_prefill: cuQ[2] = 3\nit begins with 0, never falls and ends with the number of tokens, 2"},
		{ints([]int{2}, 0, 2), "paged/2_prefill: cuQ is i32 [2], but B+1 = 3 follows from B = 2, D = 64, Hkv = 1, Hq = 2, P = 6, T = 2, columns = 2, page = 4\nit takes " + Get("paged/2_prefill").Arguments()},
	} {
		if err := Run("paged/2_prefill", dev.Zeros(gpu.F16, 2, 2, d), q, cache, cache, table(0, 1, 2, 3), lengths(8, 8), c.cu, 0, true, 0, 0); err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}
