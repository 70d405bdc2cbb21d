package card

import (
	"strconv"
	"time"

	"memwall/gpu/perf"
)

// RunningInfo is where a long launch on the virtual GPU is.
type RunningInfo struct {
	Kernel             string
	Shape              perf.Shape
	Device             string // "virtual:h200"
	Executed, CTAs     uint64
	Elapsed            time.Duration
	FLOPs              float64 // so far
	ThreadInstructions float64 // so far
}

// Running is the live card of a launch that is not over: of constant height and without a details part, because an update
// would close it. Send it ten times a second at most.
func Running(r RunningInfo) Card {
	share := 0.0
	if r.CTAs > 0 {
		share = min(float64(r.Executed)/float64(r.CTAs), 1)
	}
	headline := "Running: " + perf.WholePercent(100*share)
	if share > 0 && share < 1 {
		headline += ", about " + perf.Format(r.Elapsed.Seconds()*(1-share)/share, "s") + " left"
	}
	name := clean(r.Kernel, 48) + "<<<" + extent(r.Shape.Grid) + "," + extent(r.Shape.CTA) + ">>>"
	device := deviceName(r.Device, true, nil)
	rate := 0.0
	if s := r.Elapsed.Seconds(); s > 0 {
		rate = r.ThreadInstructions / s
	}
	done, all := perf.FormatCount(float64(r.Executed)), perf.FormatCount(float64(r.CTAs))
	elapsed, flops := perf.Format(r.Elapsed.Seconds(), "s"), perf.Format(r.FLOPs, "FLOP")
	var p page
	p.b = make([]byte, 0, 1400)
	p.open(colourGrey)
	p.headline(look{"…", colourGrey}, headline)
	p.raw(`<div style="font-size:12px;opacity:.8"><tt>`)
	p.text(name)
	p.raw("</tt> · ")
	p.text(device + " · interrupt stops it, nothing is lost")
	p.raw(`</div><div style="border:1px solid #777;margin:6px 0"><div style="width:`, strconv.Itoa(int(100*share)), `%;height:8px;background:`, colourBytes, `"></div></div>`)
	p.figures([]figure{
		{elapsed, "elapsed, MEASURED", false}, {done, "of " + all + " CTAs, EXECUTED", false},
		{flops, "so far, EXECUTED", false}, {perf.Format(rate, "/s"), "thread-instructions, MEASURED", false},
	})
	p.close()
	var t twin
	t.headline(headline)
	t.joined([]string{name + " on " + device}, ", ")
	t.joined([]string{elapsed + " MEASURED", done + " of " + all + " CTAs", flops + " EXECUTED", "interrupt stops it"}, " | ")
	return Card{HTML: p.String(), Text: t.String()}
}
