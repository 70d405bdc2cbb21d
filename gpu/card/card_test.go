package card

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"pgregory.net/rapid"

	"memwall/gpu/perf"
)

var update = flag.Bool("update", false, "write the golden cards anew; look at the difference before committing it")

func evaluated(t testing.TB, o perf.Observation) *perf.Launch {
	return perf.Evaluate(o, profile(t, "h200"))
}

func comparison(t testing.TB, a, b perf.Observation) *perf.Comparison {
	t.Helper()
	c, err := perf.Compare(a.Kernel, []*perf.Launch{evaluated(t, a)}, b.Kernel, []*perf.Launch{evaluated(t, b)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cards are one of each kind.
func cards(t testing.TB) map[string]Card {
	e := func(o perf.Observation) *perf.Launch { return evaluated(t, o) }
	busy := perf.Aggregate([]*perf.Launch{e(measuredGEMV(10, 10.2)), e(measuredGEMV(10.1, 10.3))},
		perf.Figure{Value: 50e-6, Unit: "s", Tag: perf.Measured, Source: "CUDA events"})
	us := func(v float64) perf.Figure { return perf.Figure{Value: v * 1e-6, Unit: "s", Tag: perf.Measured} }
	return map[string]Card{
		"memory-bound":  Launch(e(gemv("gemv/3_vec16"))),
		"warm":          Launch(e(warmGEMV())),
		"compute-bound": Launch(e(gemm("gemm/9_cp_async", 512))),
		"launch-bound":  Launch(e(tiny())),
		"wasteful":      Launch(e(transpose())),
		"sampled":       Launch(e(sampledGEMV())),
		"sampled-reuse": Launch(perf.Evaluate(sampledReuse(), profile(t, "t4"))),
		"measured":      Launch(e(measuredGEMV(10.3, 10.2, 10.4, 10.3, 10.35))),
		"fault":         Fault(fault()),
		"cell":          Cell([]*perf.Launch{e(gemv("gemv/3_vec16")), e(gemm("gemm/9_cp_async", 512)), e(tiny()), e(tiny())}),
		"starving":      Total(busy),
		"sweep":         Sweep(sweep(t)),
		"roofline":      Roofline([]*perf.Launch{e(gemv("gemv/3_vec16")), e(gemm("gemm/9_cp_async", 64)), e(gemm("gemm/9_cp_async", 512))}),
		"running": Running(RunningInfo{Kernel: "gemm/1_naive", Shape: perf.Shape{Grid: [3]uint32{256, 256, 1}, CTA: [3]uint32{16, 16, 1}}, Device: "virtual:h200",
			Executed: 24904, CTAs: 65536, Elapsed: 13100 * time.Millisecond, FLOPs: 52.2e9, ThreadInstructions: 131e9}),
		"compare":    Compare(comparison(t, transpose(), gemv("gemv/3_vec16"))),
		"pages":      Pages(pageMap()),
		"pages-many": Pages(manyPages()),
		"path": Path("y = dev.MatVec(w, x)", "cuda:0", []PathRow{
			{0, "Go cell", "y = dev.MatVec(w, x)", 0, us(36.6), false}, {1, "yaegi", "call, arguments", 0, us(1.4), false},
			{2, "driver", "cuLaunchKernel", 1.4e-6, us(2.6), false}, {3, "CUDA kernel", "gemv_f16<<<4096,256>>>", 4e-6, us(10.3), true}}),
	}
}

// TestGolden compares whole cards, both forms, with those that were looked at.
func TestGolden(t *testing.T) {
	for name, c := range cards(t) {
		for _, form := range []struct{ ext, got string }{{"html", c.HTML}, {"txt", c.Text}} {
			path := filepath.Join("testdata", name+"."+form.ext)
			if *update {
				if err := os.WriteFile(path, []byte(form.got+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := form.got + "\n"; got != string(want) {
				t.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
			}
		}
	}
}

// check is what every card must keep, whatever is in it.
func check(c Card) error {
	if len(c.HTML) > MaxBytes {
		return fmt.Errorf("%d bytes, at most %d", len(c.HTML), MaxBytes)
	}
	if !utf8.ValidString(c.HTML) || !utf8.ValidString(c.Text) {
		return errors.New("not UTF-8")
	}
	if c.Text == "" {
		return errors.New("no twin")
	}
	for _, line := range strings.Split(c.Text, "\n") {
		if n := utf8.RuneCountInString(line); n > columns {
			return fmt.Errorf("a line of %d columns in the twin: %s", n, line)
		}
		for _, r := range line {
			if !(r >= ' ' && r <= '~') && !strings.ContainsRune("µ×±–→…", r) {
				return fmt.Errorf("character %q in the twin: %s", r, line)
			}
		}
	}
	for _, never := range []string{"<script", "<style", " id=", "<svg", " class=", "NaN", "Inf", "javascript:", "onerror", `width="100%" height`} {
		if strings.Contains(base64Pattern.ReplaceAllString(c.HTML, ""), never) {
			return fmt.Errorf("%q in %s", never, c.HTML)
		}
	}
	if err := wellFormed(c.HTML); err != nil {
		return fmt.Errorf("%w in %s", err, c.HTML)
	}
	return pictures(c.HTML)
}

// base64Pattern is a picture's data, in which any three letters may stand.
var base64Pattern = regexp.MustCompile(`base64,[^"]*`)

var openBody = regexp.MustCompile(`(?s)<tbody align="right">(.*?)</tbody>`)

// wellFormed reads the markup as XML, after closing what HTML leaves open.
func wellFormed(s string) error {
	s = openBody.ReplaceAllStringFunc(s, func(body string) string {
		rows := strings.Split(strings.TrimSuffix(openBody.FindStringSubmatch(body)[1], "</tbody>"), "<tr>")
		out := "<tbody>" + rows[0]
		for _, row := range rows[1:] {
			cells := strings.Split(row, "<td")
			out += "<tr>" + cells[0] + "<td" + strings.Join(cells[1:], "</td><td") + "</td></tr>"
		}
		return out + "</tbody>"
	})
	s = regexp.MustCompile(`<(img|br)([^>]*)>`).ReplaceAllString(s, `<$1$2/>`)
	s = strings.ReplaceAll(s, "<th width=110>", `<th width="110">`)
	s = strings.ReplaceAll(s, "&nbsp;", " ")
	d := xml.NewDecoder(strings.NewReader("<x>" + s + "</x>"))
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

var imagePattern = regexp.MustCompile(`<img src="data:image/svg\+xml;base64,([^"]*)" alt="([^"]*)" width="(\d+)" height="(\d+)"`)

// pictures: every picture is SVG that parses, with the ratio of its size, and has an alternative text.
func pictures(s string) error {
	if strings.Count(s, "<img") != len(imagePattern.FindAllString(s, -1)) {
		return errors.New("an image without size or alternative text")
	}
	for _, m := range imagePattern.FindAllStringSubmatch(s, -1) {
		svg, err := base64.StdEncoding.DecodeString(m[1])
		if err != nil {
			return err
		}
		var x struct {
			ViewBox string `xml:"viewBox,attr"`
		}
		if err := xml.Unmarshal(svg, &x); err != nil {
			return fmt.Errorf("%w in %s", err, svg)
		}
		var left, top, width, height float64
		if _, err := fmt.Sscan(x.ViewBox, &left, &top, &width, &height); err != nil {
			return fmt.Errorf("viewBox %q", x.ViewBox)
		}
		if fmt.Sprint(width, height) != m[3]+" "+m[4] && math.Abs(width/height-600./280) > 0.01 {
			return fmt.Errorf("picture of %s × %s with viewBox %s", m[3], m[4], x.ViewBox)
		}
		alt := html.UnescapeString(m[2])
		if alt == "" || m[3] == "168" && utf8.RuneCountInString(alt) > 45 {
			return fmt.Errorf("alternative text %q", alt)
		}
		if strings.Contains(string(svg), "NaN") {
			return fmt.Errorf("NaN in %s", svg)
		}
	}
	return nil
}

func TestCardsKeepTheRules(t *testing.T) {
	for name, c := range cards(t) {
		if err := check(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b := c.MIMEBundle()
		if b["text/plain"] != c.Text || b["text/html"] != c.HTML || len(b) != 2 {
			t.Errorf("%s: bundle %v", name, b)
		}
	}
}

func TestCardsAreDeterministic(t *testing.T) {
	a, b := cards(t), cards(t)
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs from one run to the next", name)
		}
	}
}

var (
	numberPattern = regexp.MustCompile(`\d[\d,.]*`)
	tagPattern    = regexp.MustCompile(`^(MEASURED|COUNTER|EXECUTED|MODELLED|DATASHEET|FORMULA)(, (MEASURED|COUNTER|EXECUTED|MODELLED|DATASHEET|FORMULA))*$`)
	markupPattern = regexp.MustCompile(`<[^>]*>`)
)

// TestEveryNumberHasATag: each number of the headline and the figures stands in the details in a row with a tag.
func TestEveryNumberHasATag(t *testing.T) {
	for _, name := range []string{"memory-bound", "warm", "compute-bound", "launch-bound", "wasteful", "sampled", "measured"} {
		card := cards(t)[name].HTML
		above, details, found := strings.Cut(card, "<details")
		if !found {
			t.Errorf("%s has no details", name)
			continue
		}
		tagged := map[string]bool{}
		for _, row := range strings.Split(details, "<tr>")[1:] {
			cells := strings.Split(row, "<td")
			if len(cells) != 4 {
				t.Fatalf("%s: a row of %d cells: %s", name, len(cells)-1, row)
			}
			for i := range cells {
				cells[i] = markupPattern.ReplaceAllString("<td"+cells[i], "")
			}
			cells = cells[1:]
			value, tag := cells[1], cells[2]
			if !tagPattern.MatchString(tag) {
				t.Errorf("%s: a row without a tag: %s", name, row)
			}
			for _, n := range numberPattern.FindAllString(value+" "+markupPattern.ReplaceAllString(cells[0], ""), -1) {
				tagged[strings.TrimRight(n, ",.")] = true
			}
		}
		figures := above[strings.Index(above, "<table"):]
		headline := above[strings.Index(above, "<b>"):strings.Index(above, "</b>")]
		for _, n := range numberPattern.FindAllString(markupPattern.ReplaceAllString(strings.NewReplacer("</b>", " ", "</td>", " ").Replace(headline+" "+figures), ""), -1) {
			if n = strings.TrimRight(n, ",."); !tagged[n] && n != "2" { // the 2 of L2
				t.Errorf("%s: %s has no tag; tagged are %v", name, n, tagged)
			}
		}
		if !strings.Contains(above, ">MODELLED</span>") || !strings.Contains(above, ">EXECUTED</span>") {
			t.Errorf("%s: tags are not named in the subline", name)
		}
	}
}

// TestNeverAModelledRate: on the virtual GPU no card says that a rate was achieved.
func TestNeverAModelledRate(t *testing.T) {
	for _, name := range []string{"memory-bound", "compute-bound", "launch-bound", "wasteful", "sampled", "cell", "sweep"} {
		c := cards(t)[name]
		main, _, _ := strings.Cut(c.HTML, "<details")
		main = regexp.MustCompile(`(end: roof|of) [\d.]+\x{a0}[TG](B|FLOP)/s`).ReplaceAllString(markupPattern.ReplaceAllString(main, ""), "")
		if strings.Contains(main, "B/s") || strings.Contains(main, "FLOP/s") || strings.Contains(c.Text, "B/s") || strings.Contains(c.Text, "FLOP/s") {
			t.Errorf("%s shows a rate: %s\n%s", name, main, c.Text)
		}
	}
}

// TestHostileNames: names of kernels, files, devices and parameters are input from outside.
func TestHostileNames(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, strings.Repeat("<", 300), "a\x1b[31m\nb\r\x00", "\u202egnp.exe", "-->", "'\"&amp;",
			strings.Repeat("&", 500), "\xff\xfe", "javascript:x",
		})).Draw(r, "name")
		strip := func(c Card) Card { // what the name itself says is not markup
			pictures := base64Pattern.FindAllString(c.HTML, -1)
			parts := base64Pattern.Split(c.HTML, -1)
			c.HTML = ""
			for i, part := range parts {
				for _, word := range []string{"onerror", "javascript:", "NaN", "Inf", " id=", " class="} {
					part = strings.ReplaceAll(part, word, "")
				}
				c.HTML += part
				if i < len(pictures) {
					c.HTML += pictures[i]
				}
			}
			return c
		}
		o := transpose()
		o.Kernel, o.Device = s, "virtual:"+s
		o.Lines[1].File = s
		l := evaluated(t, o)
		other := evaluated(t, gemv(s+"2"))
		sw := &perf.Sweep{Parameter: s, Item: s, Note: s, Rows: []perf.SweepRow{{Label: s, Value: 1, Launches: []*perf.Launch{l}, Correct: s}, {Label: s, Value: 2, Launches: []*perf.Launch{other}}, {Label: s, Failed: s}}}
		f := fault()
		f.Kind, f.Instruction, f.Kernel, f.Device, f.Space, f.Allocation, f.Module, f.PTXText, f.File, f.Detail, f.Advice = s, s, s, s, s, s, s, s, s, s, s
		f.Lines[1].Text = s
		c := comparison(t, gemv("a"), transpose())
		c.NameA, c.NameB, c.Agreement = s, s, s
		for name, card := range map[string]Card{
			"launch": Launch(l), "cell": Cell([]*perf.Launch{l, other, other}), "sweep": Sweep(sw), "roofline": Roofline([]*perf.Launch{l, other}),
			"running": Running(RunningInfo{Kernel: s, Device: s}), "fault": Fault(f), "compare": Compare(c), "path": Path(s, s, []PathRow{{0, s, s, 0, l.Duration, true}}),
		} {
			if err := check(strip(card)); err != nil {
				r.Fatalf("%s: %v", name, err)
			}
		}
	})
}

// TestStrangeCounts: whatever a device reports, cards stay well-formed and never say NaN.
func TestStrangeCounts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := func(label string) uint64 {
			return rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0, 1000), rapid.Uint64Range(0, 1<<50)).Draw(r, label)
		}
		o := gemv("k")
		c := &o.Counts
		*c = perf.Counts{CTAs: n("ctas"), WarpInstructions: n("instructions"), Barriers: n("barriers"), LoadRounds: n("rounds") % 1e6}
		c.FLOPs[rapid.IntRange(0, int(perf.NumFLOPTypes)-1).Draw(r, "type")] = n("flops")
		c.GlobalLoad = perf.Access{Requests: n("requests"), Sectors: n("sectors"), IdealSectors: n("ideal"), Bytes: n("bytes")}
		c.SharedLoad = perf.SharedAccess{Wavefronts: n("wavefronts"), IdealWavefronts: n("ideal wavefronts")}
		c.Cache = perf.CacheCounts{L1Lookups: n("l1"), L2Lookups: n("l2"), DRAMReadSectors: n("read"), DRAMWriteSectors: n("write"), DistinctRead: n("distinct")}
		o.Shape.Grid = [3]uint32{rapid.Uint32().Draw(r, "x"), rapid.Uint32Range(0, 65535).Draw(r, "y"), rapid.Uint32Range(0, 65535).Draw(r, "z")}
		o.Shape.CTA = [3]uint32{rapid.Uint32Range(0, 1024).Draw(r, "tx"), rapid.Uint32Range(0, 3).Draw(r, "ty"), 1}
		o.Registers, o.StaticShared = rapid.IntRange(0, 255).Draw(r, "registers"), rapid.IntRange(0, 300<<10).Draw(r, "shared")
		o.Estimated, o.RegistersLow, o.RegistersHigh = rapid.Bool().Draw(r, "estimated"), 10, 300
		o.MinimumBytes, o.FormulaFLOPs = float64(n("minimum")), float64(n("formula"))
		o.Executed, o.Sampled = n("executed"), rapid.IntRange(0, 64).Draw(r, "k")
		o.Counted, o.Virtual = rapid.Bool().Draw(r, "counted"), rapid.Bool().Draw(r, "virtual")
		for i := rapid.IntRange(0, 3).Draw(r, "samples"); i > 0; i-- {
			o.Samples = append(o.Samples, time.Duration(n("ns")%1e9))
		}
		l := evaluated(t, o)
		for name, card := range map[string]Card{"launch": Launch(l), "cell": Cell([]*perf.Launch{l, evaluated(t, tiny())}),
			"sweep": Sweep(&perf.Sweep{Parameter: "n", Item: "token", Rows: []perf.SweepRow{{Label: "1", Value: 1, Launches: []*perf.Launch{l}}, {Label: "2", Value: 2, Launches: []*perf.Launch{evaluated(t, tiny())}}}}),
		} {
			if err := check(card); err != nil {
				r.Fatalf("%s: %v", name, err)
			}
		}
		if c := Roofline([]*perf.Launch{l, evaluated(t, gemv("a"))}); !c.Empty() {
			if err := check(c); err != nil {
				r.Fatalf("roofline: %v", err)
			}
		}
	})
}

func TestManyRows(t *testing.T) {
	var ls []*perf.Launch
	for i := 0; i < 40; i++ {
		ls = append(ls, evaluated(t, gemv(fmt.Sprintf("family/%d_with_a_name_that_is_rather_long", i))))
	}
	if c := Cell(ls); check(c) != nil || !strings.Contains(c.Text, "34 others") || !strings.Contains(c.HTML, " others</td>") {
		t.Errorf("cell: %v\n%s", check(c), c.Text)
	}
	if c := Roofline(ls); check(c) != nil || !strings.Contains(c.HTML, " others</tbody>") {
		t.Errorf("roofline: %v", check(c))
	}
	s := &perf.Sweep{Parameter: "batch", Item: "token"}
	for i := 1; i <= 60; i++ {
		s.Rows = append(s.Rows, perf.SweepRow{Label: fmt.Sprint(i), Value: float64(i), Launches: ls[:1]})
	}
	c := Sweep(s)
	if err := check(c); err != nil || !strings.Contains(c.HTML, "← best") || !strings.Contains(c.HTML, " others</tbody>") || !strings.Contains(c.Text, "<- best") {
		t.Errorf("sweep: %v\n%s", err, c.HTML)
	}
	if c := Sweep(&perf.Sweep{Parameter: "n", Rows: []perf.SweepRow{{Label: "8", Failed: "out of memory"}}}); c.Text != "sweep over n: every row failed\nn 8 failed: out of memory" {
		t.Errorf("failed sweep:\n%s", c.Text)
	}
}

// TestTwelveRows: what a sweep and its roofline may show beside their plots, they show.
func TestTwelveRows(t *testing.T) {
	s := &perf.Sweep{Parameter: "tokens", Item: "token", Note: "weights 4096×4096 f16"}
	var ls []*perf.Launch
	for _, m := range []uint64{1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512} {
		l := evaluated(t, gemm("gemm/9_cp_async", m))
		s.Rows = append(s.Rows, perf.SweepRow{Label: fmt.Sprint(m), Value: float64(m), Launches: []*perf.Launch{l}})
		labelled := *l
		labelled.Kernel = fmt.Sprintf("tokens %d", m)
		ls = append(ls, &labelled)
	}
	for name, c := range map[string]Card{"sweep": Sweep(s), "roofline": Roofline(ls)} {
		t.Logf("%s: %d bytes", name, len(c.HTML))
		if err := check(c); err != nil || strings.Count(c.HTML, "<tr>") != 12 || strings.Contains(c.HTML, "others") {
			t.Errorf("%s: %v, %d rows of 12\n%s", name, err, strings.Count(c.HTML, "<tr>"), c.HTML)
		}
	}
}

func TestNothingToShow(t *testing.T) {
	for name, c := range map[string]Card{"launch": Launch(nil), "cell": Cell(nil), "sweep": Sweep(nil), "rows": Sweep(&perf.Sweep{}), "roofline": Roofline(nil),
		"compare": Compare(nil), "total": Total(nil), "path": Path("", "", nil), "plot": Plot(nil, ""), "side": SideBySide(Card{}, Card{})} {
		if !c.Empty() {
			t.Errorf("%s: %+v", name, c)
		}
	}
	one := Launch(evaluated(t, tiny()))
	if Cell([]*perf.Launch{evaluated(t, tiny())}) != one {
		t.Error("the card of a cell with one launch is not that launch's")
	}
	side := SideBySide(one, Card{}, Fault(fault()))
	if strings.Count(side.HTML, "border-left:3px") != 2 || side.Text != one.Text+"\n\n"+Fault(fault()).Text {
		t.Errorf("side by side: %s", side.Text)
	}
}

func TestPlot(t *testing.T) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "a <line>", "tokens", "FLOP/B"
	line, err := plotter.NewLine(plotter.XYs{{X: 1, Y: 1}, {X: 2, Y: 4}})
	if err != nil {
		t.Fatal(err)
	}
	p.Add(line)
	c := Plot(p, "")
	if c.Text != "plot: a <line>\nplot of FLOP/B against tokens" {
		t.Errorf("twin %q", c.Text)
	}
	m := imagePattern.FindStringSubmatch(c.HTML)
	if m == nil || m[2] != "FLOP/B against tokens" || !strings.Contains(c.HTML, "<b>a &lt;line&gt;</b>") {
		t.Fatalf("got %s", c.HTML)
	}
	svg, err := base64.StdEncoding.DecodeString(m[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"#000000", "Liberation", "<?xml", "<!--", "#FFFFFF"} {
		if strings.Contains(string(svg), never) {
			t.Errorf("%s in the picture", never)
		}
	}
	if !strings.Contains(string(svg), "#777777") {
		t.Error("axes are not grey")
	}
	if p.X.Color == nil || p.Title.Text != "a <line>" {
		t.Error("the caller's plot was changed")
	}
	if c := Plot(plot.New(), "x  y\n1  2"); c.HTML != "" || c.Text != "x  y\n1  2\nthe plot cannot be drawn: it has no finite points" {
		t.Errorf("empty plot: %q, %q", c.HTML, c.Text)
	}
}

// BenchmarkLaunch is what a card adds to a launch: evaluating its counts and writing both forms; ≤ 50 µs.
func BenchmarkLaunch(b *testing.B) {
	o, p := gemv("gemv/3_vec16"), profile(b, "h200")
	b.ReportAllocs()
	for b.Loop() {
		if c := Launch(perf.Evaluate(o, p)); len(c.HTML) == 0 {
			b.Fatal("no card")
		}
	}
}

// A prediction without the simulation says so on the card and in its twin, whether or not a floor is shown beside it.
func TestBoundsAlone(t *testing.T) {
	for name, o := range map[string]perf.Observation{"gemv": gemv("gemv/1_naive"), "tiny": tiny()} {
		if c := Launch(evaluated(t, o)); strings.Contains(c.HTML, "bounds alone") || strings.Contains(c.Text, "bounds alone") {
			t.Errorf("%s: nobody asked for a simulation, but:\n%s", name, c.Text)
		}
		o.Simulated = &perf.Simulation{Why: "the simulation is off"}
		c := Launch(evaluated(t, o))
		for _, text := range []string{c.HTML, c.Text} {
			if !strings.Contains(text, "by bounds alone") {
				t.Errorf("%s does not say that its time rests on bounds alone:\n%s", name, text)
			}
		}
		if err := check(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A trap names itself once, also where the kind is the instruction.
func TestFaultOfTrap(t *testing.T) {
	c := Fault(FaultInfo{Kind: "trap", Instruction: "trap", Kernel: "check", Device: "virtual:h200", Virtual: true})
	if want := "fault: trap in check\nvirtual h200, EXECUTED"; c.Text != want {
		t.Errorf("%s\nwant\n%s", c.Text, want)
	}
	if !strings.Contains(c.HTML, "<b>Trap in <tt>check</tt></b>") {
		t.Error(c.HTML)
	}
	c = Fault(FaultInfo{Kind: "assertion failed", Instruction: "call.uni", Kernel: "check", Device: "virtual:h200", Virtual: true})
	if want := "fault: assertion failed in check\nvirtual h200, EXECUTED"; c.Text != want {
		t.Errorf("%s\nwant\n%s", c.Text, want)
	}
}
