package card

import (
	"fmt"
	"strings"
	"testing"
)

// A card of findings stays within its bytes and columns however many and however long they are, and its twin says it all.
func TestFindings(t *testing.T) {
	row := func(n int, long string) FindingRow {
		head := fmt.Sprintf("sum %d: race in shared memory between a read and a write, 508 hazards", n)
		lines := []string{"read by CTA (0,0,0) warp 0 lane 0: ld.shared.f32, sum.cu:9: total += tile[i];" + long, "write by CTA (0,0,0) warp 0 lane 1: st.shared.f32, sum.cu:5: tile[t] = <x>" + long}
		return FindingRow{Headline: head, Lines: lines, At: "address 0x4, tile + 4", Advice: "put __syncthreads() between the two", Text: head + "\n  " + strings.Join(lines, "\n  ") + "\n  → put __syncthreads() between the two"}
	}
	for _, n := range []int{0, 1, 5, 6, 7, 60} {
		for _, long := range []string{"", strings.Repeat(" and <more>", 60)} {
			f := FindingsInfo{Headline: "Clean: 3 launches, nothing found", Launches: 3, CTAs: 4096, Kernels: []string{"sum", "gemv/1_naive"}, Checks: "bounds, races"}
			for i := range n {
				f.Headline = fmt.Sprintf("%d findings in 3 launches", n)
				f.List = append(f.List, row(i, long))
			}
			c := Findings(f)
			if err := check(c); err != nil {
				t.Errorf("%d findings: %v\n%s", n, err, c.HTML)
			}
			if want := min(n, 20); strings.Count(c.Text, "race in shared") != want {
				t.Errorf("%d findings: the twin has %d", n, strings.Count(c.Text, "race in shared"))
			}
			if n == 60 && (!strings.Contains(c.Text, "40 more") || !strings.Contains(c.HTML, " more: ")) {
				t.Errorf("60 findings: the card does not say that there are more\n%s", c.Text)
			}
			if n == 0 && (!strings.Contains(c.HTML, "Checked: bounds, races") || !strings.HasPrefix(c.Text, "sanitizer: clean: 3 launches, nothing found\nsum, gemv/1_naive, 4,096 CTAs, all threads, EXECUTED\n")) {
				t.Errorf("clean:\n%s\n%s", c.Text, c.HTML)
			}
		}
	}
}
