package perf

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// occupancyHeader names the columns that OccupancyTSV reads (the first five) and writes (all).
var occupancyHeader = []string{"cc", "threads", "regs", "static_smem", "dynamic_smem",
	"ctas_per_sm", "limit", "by_warps", "by_regs", "by_smem", "by_ctas"}

// shortLimit names the limiters in a table.
var shortLimit = map[string]string{LimitWarps: "warps", LimitRegisters: "registers", LimitShared: "shared", LimitCTAs: "ctas"}

// OccupancyRow is one line of a table of launches.
type OccupancyRow struct {
	ComputeCapability                   string
	Threads, Registers, Static, Dynamic int
	Residency                           Residency
}

// OccupancyTable reads rows of tab-separated cc, threads, regs, static_smem, dynamic_smem (more columns are ignored, a
// header line is recognised by its first word, empty lines are skipped) and answers each. The error names the line.
func OccupancyTable(r io.Reader) ([]OccupancyRow, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 4096), 1<<20)
	var rows []OccupancyRow
	for line := 1; in.Scan(); line++ {
		text := strings.TrimRight(in.Text(), "\r")
		if strings.TrimSpace(text) == "" || (line == 1 && strings.HasPrefix(text, occupancyHeader[0]+"\t")) {
			continue
		}
		row, err := parseOccupancyRow(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		rows = append(rows, row)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("reading the table of launches: %w", err)
	}
	return rows, nil
}

func parseOccupancyRow(text string) (OccupancyRow, error) {
	fields := strings.Split(text, "\t")
	if len(fields) < 5 {
		return OccupancyRow{}, fmt.Errorf("%d columns, needs five separated by tabs: %s", len(fields), strings.Join(occupancyHeader[:5], ", "))
	}
	row := OccupancyRow{ComputeCapability: fields[0]}
	l, err := ParseComputeCapability(fields[0])
	if err != nil {
		return row, err
	}
	for i, to := range []*int{&row.Threads, &row.Registers, &row.Static, &row.Dynamic} {
		n, err := strconv.Atoi(strings.TrimSpace(fields[i+1]))
		if err != nil {
			return row, fmt.Errorf("column %s: %q is not a whole number", occupancyHeader[i+1], fields[i+1])
		}
		*to = n
	}
	row.Residency, err = l.Residency(row.Threads, row.Registers, row.Static, row.Dynamic)
	return row, err
}

// ParseComputeCapability reads "9.0" and returns its limits.
func ParseComputeCapability(text string) (*Limits, error) {
	a, b, ok := strings.Cut(strings.TrimSpace(text), ".")
	major, err1 := strconv.Atoi(a)
	minor, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil {
		return nil, fmt.Errorf("%q is not a compute capability\nwrite it like 9.0", text)
	}
	return LimitsOf(major, minor)
}

// Fields are the row's columns, as OccupancyTSV writes them; −1 means that a resource does not limit the launch.
func (r OccupancyRow) Fields() []string {
	limits := make([]string, len(r.Residency.Limiters))
	for i, l := range r.Residency.Limiters {
		limits[i] = shortLimit[l]
	}
	out := []string{r.ComputeCapability}
	for _, n := range []int{r.Threads, r.Registers, r.Static, r.Dynamic, r.Residency.CTAs} {
		out = append(out, strconv.Itoa(n))
	}
	out = append(out, strings.Join(limits, ","))
	for _, n := range []int{r.Residency.ByWarps, r.Residency.ByRegisters, r.Residency.ByShared, r.Residency.ByCTAs} {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// OccupancyTSV is the command `memwall occupancy --tsv`: rows on r in the first five columns, the same columns and the
// answer on w. Nothing is written when a row is wrong.
func OccupancyTSV(r io.Reader, w io.Writer) error {
	rows, err := OccupancyTable(r)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, strings.Join(occupancyHeader, "\t"))
	for _, row := range rows {
		fmt.Fprintln(out, strings.Join(row.Fields(), "\t"))
	}
	return out.Flush()
}
