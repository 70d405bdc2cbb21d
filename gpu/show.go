package gpu

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"memwall/gpu/perf"
)

// summary is what a tensor shows of its elements.
type summary struct {
	low, high           float64
	nan, infinite, read int
	sampled             int // elements looked at, 0: all
}

// summaryLimit is how many elements a tensor is described by; of a larger one evenly spaced pieces are read.
const summaryLimit = 128 * chunk

// firstValues is how many elements a tensor shows.
const firstValues = 8

// summarise reads the tensor, or pieces of a large one.
func (t *Tensor) summarise() (summary, error) {
	var mu sync.Mutex
	total := summary{low: math.Inf(1), high: math.Inf(-1)}
	take := func(_ int, src []byte) {
		s := summary{low: math.Inf(1), high: math.Inf(-1)}
		t.dtype.read(src, func(_ int, v float64) {
			switch {
			case math.IsNaN(v):
				s.nan++
				return
			case math.IsInf(v, 0):
				s.infinite++
			}
			s.low, s.high = min(s.low, v), max(s.high, v)
			s.read++
		})
		mu.Lock()
		defer mu.Unlock()
		total.low, total.high = min(total.low, s.low), max(total.high, s.high)
		total.nan, total.infinite, total.read = total.nan+s.nan, total.infinite+s.infinite, total.read+s.read
	}
	n := t.Len()
	if n <= summaryLimit {
		return total, t.download(take)
	}
	pieces := summaryLimit / chunk
	for i := range pieces {
		first := int(float64(n-chunk) * float64(i) / float64(pieces-1))
		first -= first % t.dtype.Block()
		piece := &Tensor{mem: t.mem, offset: t.offset + t.dtype.Size(first), shape: []int{chunk}, dtype: t.dtype}
		if err := piece.download(take); err != nil {
			return total, err
		}
	}
	total.sampled = summaryLimit
	return total, nil
}

// String describes the tensor: element type, shape, device and size, then range, NaN count and the first values. A freed or
// incomplete tensor says so instead of showing values.
func (t *Tensor) String() string {
	if t == nil {
		return "no tensor"
	}
	head := fmt.Sprintf("%s on %s, %s", t.describe(), t.mem.dev.name, perf.Format(float64(t.Bytes()), "B"))
	if f := t.dtype.format(); f != nil {
		head += fmt.Sprintf(", %g bits a value", f.Bits())
	}
	if t.mem.alive("", "it") != nil {
		return t.describe() + ", freed"
	}
	if why := t.mem.state.why(); why != "" {
		return head + "\nincomplete: " + why
	}
	if t.Len() == 0 {
		return head + "\nno elements"
	}
	s, err := t.summarise()
	if err != nil {
		return head + "\n" + err.Error()
	}
	line := "only NaN"
	if s.read > 0 {
		line = "min " + shortNumber(s.low) + ", max " + shortNumber(s.high)
	}
	line += fmt.Sprintf(", %s NaN", grouped(int64(s.nan)))
	if s.infinite > 0 {
		line += fmt.Sprintf(", %s infinite", grouped(int64(s.infinite)))
	}
	if s.sampled > 0 {
		line += fmt.Sprintf(" (in %s of %s elements)", perf.FormatCount(float64(s.sampled)), perf.FormatCount(float64(t.Len())))
	}
	return head + "\n" + line + "\n" + t.firstText()
}

// firstText is "[0.12, −1.5, …]".
func (t *Tensor) firstText() string {
	n := min(t.Len(), firstValues)
	head := &Tensor{mem: t.mem, offset: t.offset, shape: []int{max(n, t.dtype.Block())}, dtype: t.dtype}
	parts := make([]string, 0, n+1)
	for _, v := range head.Float64s()[:n] {
		parts = append(parts, shortNumber(v))
	}
	if t.Len() > n {
		parts = append(parts, "…")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// shortNumber has four significant digits; integers up to nine digits are whole.
func shortNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e9 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

// MIMEBundle shows the description.
func (t *Tensor) MIMEBundle() map[string]any { return map[string]any{"text/plain": t.String()} }

// MIMEBundle shows the description.
func (b *Buffer) MIMEBundle() map[string]any { return map[string]any{"text/plain": b.String()} }

// String lists the module's functions with their parameters and resources.
func (m *Module) String() string {
	lines := []string{fmt.Sprintf("module %s on %s", m.name, m.dev.name)}
	for _, name := range m.Functions() {
		if f, err := m.Function(name); err == nil {
			lines = append(lines, f.String())
		}
	}
	return strings.Join(lines, "\n")
}

// MIMEBundle shows the functions.
func (m *Module) MIMEBundle() map[string]any { return map[string]any{"text/plain": m.String()} }

// String is the function's parameters and resources, with where the registers come from.
func (f *Function) String() string {
	a := f.f.Attributes()
	registers := fmt.Sprintf("%d registers (%s)", a.Registers, a.Source)
	if a.Estimated {
		registers = fmt.Sprintf("about %d registers (estimated by liveness, %d to %d)", a.Registers, a.RegistersLow, a.RegistersHigh)
	}
	text := fmt.Sprintf("%s(%s): %s, %s static shared memory", plainName(f.Name()), strings.Join(f.Parameters(), ", "), registers, countBytes(int64(a.SharedBytes)))
	if a.SpillBytes > 0 {
		text += fmt.Sprintf(", %s spilled", countBytes(int64(a.SpillBytes)))
	}
	return text
}

// MIMEBundle shows parameters and resources.
func (f *Function) MIMEBundle() map[string]any { return map[string]any{"text/plain": f.String()} }
