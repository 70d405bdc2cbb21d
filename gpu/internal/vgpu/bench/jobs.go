package bench

import (
	"embed"
	"math"

	"memwall/gpu/internal/driver"
)

//go:embed cuda/*/*.ptx
var cuda embed.FS

// job is one launch that is measured.
type job struct {
	name   string
	kernel string             // of kernels/ where shipped, else of cuda/
	lines  map[string]float64 // CPU ms that a path may take, by its name; "" is the best path
	twin   string             // job that this one is compared with
	ratio  float64            // how many times the twin's CPU time it may take
	peer   string             // its name in the peers' programs
	make   func(m *machine, ptx string) (l launcher, check func() (worst float64))
	// sized makes the job with matrices of another size, for peers that are too slow for this one.
	sized func(m *machine, ptx string, n int) (l launcher, check func() (worst float64))
}

const (
	threaded = "threaded"
	jit      = "jit"
	best     = ""
)

// ptxOf is the PTX of a kernel of cuda/.
func ptxOf(kernel string) string {
	text, err := cuda.ReadFile("cuda/" + kernel + ".sm_80.ptx")
	if err != nil {
		return ""
	}
	return string(text)
}

// jobs are those of issue 4, section 2, in its order; the limits are its lines.
var jobs = []job{
	{name: "SGEMM 512³, 8 × 8 a thread", kernel: "sgemm/2_register_tile", lines: map[string]float64{threaded: 35, jit: 18},
		make: func(m *machine, ptx string) (launcher, func() float64) {
			return m.sgemm(ptx, "sgemm_register_tile", 512, dim(4, 4), dim(256))
		}},
	{name: "SGEMM 512³, 16 × 16 tile", kernel: "sgemm/1_tile16", peer: "sgemm", sized: (*machine).sgemmTile,
		make: func(m *machine, ptx string) (launcher, func() float64) { return m.sgemmTile(ptx, 512) }},
	{name: "GEMV f16 4096²", kernel: "gemv/3_vec16", lines: map[string]float64{best: 14}, peer: "gemv", make: (*machine).gemvHalf},
	{name: "GEMV int4 4096²", kernel: "gemv/1_int4", lines: map[string]float64{best: 18}, make: (*machine).gemvInt4},
	{name: "GEMM bf16 mma 512³", kernel: "gemm/1_bf16_mma", lines: map[string]float64{best: 9}, make: (*machine).gemmBF16},
	{name: "softmax f32 512 × 4096", kernel: "softmax/3_online", lines: map[string]float64{best: 15}, peer: "softmax", make: (*machine).softmax},
	{name: "paged attention, 32 heads × 1024", kernel: "attention/1_paged", lines: map[string]float64{best: 30}, make: (*machine).pagedAttention},
	{name: "1 M shared atomics", kernel: "atomics/1_histogram", lines: map[string]float64{best: 20}, make: (*machine).histogram},
	{name: "branches, lanes alike", kernel: "divergence/1_branches", make: func(m *machine, ptx string) (launcher, func() float64) { return m.branches(ptx, "uniform") }},
	{name: "branches, lanes apart", kernel: "divergence/1_branches", twin: "branches, lanes alike", ratio: 5,
		make: func(m *machine, ptx string) (launcher, func() float64) { return m.branches(ptx, "mixed") }},
}

// worstOf compares results with what they should be: the largest distance as a part of what rounding allows; NaN where any
// result is NaN, so that no comparison with a limit passes.
func worstOf(n int, got, want, allowed func(i int) float64) float64 {
	worst := 0.0
	for i := range n {
		part := math.Abs(got(i)-want(i)) / allowed(i)
		if part != part {
			return math.NaN()
		}
		worst = max(worst, part)
	}
	return worst
}

const ulp32 = 0x1p-24 // half a unit in the last place of f32, relative

// product is A·B of n × n in float64, and the sum of the absolute products that bounds the rounding.
func product[T float32 | float64](a, b []T, n int) (want, scale []float64) {
	want, scale = make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		w, s := want[i*n:][:n], scale[i*n:][:n]
		for k := range n {
			x := float64(a[i*n+k])
			for j, y := range b[k*n:][:n] {
				p := x * float64(y)
				w[j] += p
				s[j] += math.Abs(p)
			}
		}
	}
	return want, scale
}

func (m *machine) sgemm(ptx, function string, n int, grid, cta driver.Dim3) (launcher, func() float64) {
	a, b, got := m.floats(n*n), m.floats(n*n), make([]float32, n*n)
	c := m.put(got)
	l := m.load("sgemm", ptx, function, grid, cta, c, m.put(a), m.put(b), int32(n))
	return l, func() float64 {
		m.get(c, got)
		want, scale := product(a, b, n)
		return worstOf(n*n, func(i int) float64 { return float64(got[i]) }, func(i int) float64 { return want[i] },
			func(i int) float64 { return float64(n) * ulp32 * scale[i] })
	}
}

func (m *machine) sgemmTile(ptx string, n int) (launcher, func() float64) {
	return m.sgemm(ptx, "sgemm_tile16", n, dim(uint32(n/16), uint32(n/16)), dim(16, 16))
}

func (m *machine) gemmBF16(ptx string) (launcher, func() float64) {
	const n = 512
	a, aw := m.truncated(n*n, 7)
	b, bw := m.truncated(n*n, 7)
	got := make([]float32, n*n)
	c := m.put(got)
	l := m.load("gemm", ptx, "gemm_bf16_mma", dim(n/64, n/64), dim(128), c, m.put(aw), m.put(bw), int32(n))
	return l, func() float64 {
		m.get(c, got)
		transposed := make([]float32, n*n)
		for i := range n {
			for j := range n {
				transposed[j*n+i] = b[i*n+j]
			}
		}
		want, scale := product(a, transposed, n)
		return worstOf(n*n, func(i int) float64 { return float64(got[i]) }, func(i int) float64 { return want[i] },
			func(i int) float64 { return float64(n) * ulp32 * scale[i] })
	}
}

// rowProduct is W·x in float64 with the sum of the absolute products.
func rowProduct(w func(i int) float64, x []float32, row int) (want, scale float64) {
	for k, v := range x {
		p := w(row*len(x)+k) * float64(v)
		want += p
		scale += math.Abs(p)
	}
	return want, scale
}

func (m *machine) gemvHalf(ptx string) (launcher, func() float64) {
	const n = 4096
	w, ww := m.truncated(n*n, 10)
	x, xw := m.truncated(n, 10)
	got := make([]uint16, n)
	y := m.put(got)
	l := m.load("gemv", ptx, "gemv_vec16", dim(n/4), dim(128), y, m.put(ww), m.put(xw), int32(n), int32(n))
	return l, func() float64 {
		m.get(y, got)
		var scale float64
		var want float64
		return worstOf(n, func(i int) float64 { return halfValue(got[i]) }, func(i int) float64 {
			want, scale = rowProduct(func(k int) float64 { return float64(w[k]) }, x, i)
			return want
		}, func(int) float64 { return n*ulp32*scale + 0x1p-11*math.Abs(want) + 0x1p-25 })
	}
}

func (m *machine) gemvInt4(ptx string) (launcher, func() float64) {
	const n, group = 4096, 128
	q := make([]uint32, n*n/8)
	for i := range q {
		q[i] = m.rnd.Uint32()
	}
	s, sw := m.truncated(n*n/group, 10)
	x, xw := m.truncated(n, 10)
	got := make([]float32, n)
	y := m.put(got)
	l := m.load("gemv", ptx, "gemv_int4", dim(n/4), dim(128), y, m.put(q), m.put(sw), m.put(xw), int32(n), int32(n))
	return l, func() float64 {
		m.get(y, got)
		var scale float64
		return worstOf(n, func(i int) float64 { return float64(got[i]) }, func(i int) (want float64) {
			want, scale = rowProduct(func(k int) float64 { return (float64(q[k/8]>>(k%8*4)&15) - 8) * float64(s[k/group]) }, x, i)
			return want
		}, func(int) float64 { return n * ulp32 * scale })
	}
}

func (m *machine) softmax(ptx string) (launcher, func() float64) {
	const rows, columns = 512, 4096
	x, got := m.floats(rows*columns), make([]float32, rows*columns)
	for i := range x {
		x[i] *= 8
	}
	y := m.put(got)
	l := m.load("softmax", ptx, "softmax_online", dim(rows/4), dim(128), y, m.put(x), int32(rows), int32(columns))
	return l, func() float64 {
		m.get(y, got)
		worst := 0.0
		for r := range rows {
			row := x[r*columns:][:columns]
			top, sum := math.Inf(-1), 0.0
			for _, v := range row {
				top = max(top, float64(v))
			}
			for _, v := range row {
				sum += math.Exp(float64(v) - top)
			}
			part := worstOf(columns, func(i int) float64 { return float64(got[r*columns+i]) },
				func(i int) float64 { return math.Exp(float64(row[i])-top) / sum },
				func(i int) float64 { return 1e-5 * math.Exp(float64(row[i])-top) / sum }) // __expf, and a sum of 4096
			if part != part {
				return part
			}
			worst = max(worst, part)
		}
		return worst
	}
}

func (m *machine) pagedAttention(ptx string) (launcher, func() float64) {
	const heads, tokens, size, page = 32, 1024, 64, 16
	q, qw := m.truncated(heads*size, 10)
	k, kw := m.truncated(heads*tokens*size, 10)
	v, vw := m.truncated(heads*tokens*size, 10)
	table := make([]int32, tokens/page)
	for i, p := range m.rnd.Perm(len(table)) {
		table[i] = int32(p)
	}
	got := make([]float32, heads*size)
	out := m.put(got)
	scale := float32(0.125)
	l := m.load("attention", ptx, "paged_attention", dim(heads), dim(128), out, m.put(qw), m.put(kw), m.put(vw), m.put(table), int32(heads), int32(tokens), scale)
	return l, func() float64 {
		m.get(out, got)
		worst := 0.0
		for h := range heads {
			row := func(t int) int { return ((int(table[t/page])*heads+h)*page + t%page) * size }
			scores, top := make([]float64, tokens), math.Inf(-1)
			for t := range scores {
				for d := range size {
					scores[t] += float64(scale) * float64(q[h*size+d]) * float64(k[row(t)+d])
				}
				top = max(top, scores[t])
			}
			sum := 0.0
			for t := range scores {
				scores[t] = math.Exp(scores[t] - top)
				sum += scores[t]
			}
			want, bound := make([]float64, size), make([]float64, size)
			for t, e := range scores {
				for d := range size {
					want[d] += e / sum * float64(v[row(t)+d])
					bound[d] += e / sum * math.Abs(float64(v[row(t)+d]))
				}
			}
			part := worstOf(size, func(d int) float64 { return float64(got[h*size+d]) }, func(d int) float64 { return want[d] },
				func(d int) float64 { return 1e-5 * bound[d] })
			if part != part {
				return part
			}
			worst = max(worst, part)
		}
		return worst
	}
}

// exact is 0 where all words are as they should be, else infinite.
func exact(got, want []uint32) float64 {
	for i := range want {
		if got[i] != want[i] {
			return math.Inf(1)
		}
	}
	return 0
}

func (m *machine) histogram(ptx string) (launcher, func() float64) {
	const n = 1 << 20
	v, want, got := make([]uint32, n), make([]uint32, 256), make([]uint32, 256)
	for i := range v {
		v[i] = m.rnd.Uint32()
		want[v[i]&255]++
	}
	bins := m.put(got)
	l := m.load("histogram", ptx, "histogram", dim(64), dim(256), bins, m.put(v), int32(n))
	l.reset = func() {
		if m.err == nil {
			m.err = m.dev.Fill(bins, make([]byte, 4), 256, nil)
		}
	}
	return l, func() float64 {
		m.get(bins, got)
		return exact(got, want)
	}
}

// walk is the function of divergence/1_branches.
func walk(v uint32, steps int) uint32 {
	sum := uint32(0)
	for range steps {
		if v>>13&1 != 0 {
			v = v*3 + 1
			v ^= v >> 7
			sum += v
			v = v*5 + sum&255
			sum ^= v << 3
		} else {
			v = v>>1 + 0x9e3779b9
			v ^= v << 5
			sum -= v
			v = v*9 + sum>>24
			sum ^= v >> 3
		}
	}
	return sum
}

func (m *machine) branches(ptx, function string) (launcher, func() float64) {
	const n, steps = 128 * 16, 1000
	in, want, got := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	for i := range in {
		in[i] = m.rnd.Uint32()
	}
	for i := range want {
		v := in[i]
		if function == "uniform" {
			v = in[i/32*32]
		}
		want[i] = walk(v, steps)
	}
	out := m.put(got)
	l := m.load("branches", ptx, function, dim(n/128), dim(128), out, m.put(in), int32(steps))
	return l, func() float64 {
		m.get(out, got)
		return exact(got, want)
	}
}
