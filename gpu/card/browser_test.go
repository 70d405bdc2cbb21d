package card

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"memwall/install"
)

// pageOf puts cards under a notebook's style: tables without gaps, cells aligned right, as JupyterLab has it.
func pageOf(background, colour string, all map[string]Card) string {
	names := make([]string, 0, len(all))
	for n := range all {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	b.WriteString(`<!doctype html><meta charset="utf-8"><style>body{font:14px/1.4 sans-serif;margin:8px;background:` + background + `;color:` + colour +
		`}table{border-collapse:collapse}tr,td,th{text-align:right}</style>`)
	for _, n := range names {
		b.WriteString(`<section data-name="` + n + `">` + all[n].HTML + `</section>`)
	}
	return b.String()
}

// measured is what the browser says of one card.
type measured struct {
	Name           string
	Overflow       int       // pixels that the card is wider than its place
	Broken         int       // pictures that did not load
	Gauges         []float64 // heights
	Right          float64   // of small bars: how far from the left of their cells the farthest starts
	Touching       int       // pixels that a figure reaches into the next one, or out of its cell
	First          int       // pixels from the card's edge to the first figure
	Colour, Italic string    // of the headline; style of the first MODELLED figure
}

const measureScript = `[...document.querySelectorAll("section")].map(s => {
  const card = s.firstElementChild, images = [...s.querySelectorAll("img")];
  const bars = [...s.querySelectorAll("td > div")].filter(d => d.style.height == "8px" && !d.style.marginLeft);
  const figures = [...s.querySelectorAll("td")].filter(d => d.querySelector("small")).map(d => {
    const r = document.createRange(); r.selectNodeContents(d); return [d.parentElement, r.getBoundingClientRect()];
  });
  let touching = 0;
  const first = figures.length ? figures[0][1].left - card.getBoundingClientRect().left : 0;
  for (let i = 1; i < figures.length; i++) {
    const [row, a] = figures[i - 1], [other, b] = figures[i];
    if (row === other && b.top < a.bottom - 1 && a.top < b.bottom - 1) touching = Math.max(touching, a.right + 3 - b.left);
  }
  const italic = s.querySelector("table i");
  return {Name: s.dataset.name, Overflow: Math.round(card.scrollWidth - s.clientWidth), Broken: images.filter(i => !i.naturalWidth).length,
    Gauges: images.filter(i => i.getAttribute("height") == "14").map(i => i.getBoundingClientRect().height),
    Right: Math.max(0, ...bars.map(d => d.getBoundingClientRect().left - d.parentElement.getBoundingClientRect().left)),
    Touching: Math.ceil(touching), First: Math.round(first), Colour: getComputedStyle(card.querySelector("b") || card).color, Italic: italic ? getComputedStyle(italic).fontStyle : "italic"};
})`

// TestCardsInABrowser: in 320, 600 and 900 pixels, light and dark, no figure touches the next, no card is wider than its place, every picture loads, gauges stay
// flat, bars start at the left, text has the colour of the page and MODELLED numbers are italic.
func TestCardsInABrowser(t *testing.T) {
	path, found := install.FindBrowser()
	if !found {
		t.Log("no browser: set MEMWALL_BROWSER or install chromium to see cards rendered")
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	all := cards(t)
	all["side"] = SideBySide(all["memory-bound"], all["compute-bound"])
	for _, c := range []struct {
		width              int64
		background, colour string
		text               string
	}{{900, "#fff", "#222", "rgb(34, 34, 34)"}, {600, "#111", "#eee", "rgb(238, 238, 238)"}, {320, "#fff", "#222", "rgb(34, 34, 34)"}} {
		page := "data:text/html;charset=utf-8," + url.PathEscape(pageOf(c.background, c.colour, all))
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(c.width, 1200), chromedp.Navigate(page), chromedp.WaitReady("section:last-of-type")); err != nil {
			t.Fatalf("the browser %s: %v", path, err)
		}
		if folder := os.Getenv("MEMWALL_PICTURES"); folder != "" {
			if shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err == nil {
				_ = os.WriteFile(filepath.Join(folder, fmt.Sprintf("cards-%d.png", c.width)), shot, 0o644)
			}
		}
		got, err := chromedp.Run(ctx, chromedp.Evaluate[[]measured](measureScript))
		if err != nil || len(got) != len(all) {
			t.Fatalf("%d cards measured, want %d (%v)", len(got), len(all), err)
		}
		for _, m := range got {
			if c.width < 600 && !strings.Contains(all[m.Name].HTML, `alt="roofline: `) {
				m.Overflow = 0 // tables of five columns and source lines need more; the output scrolls
			}
			if m.Touching > 0 || m.First > 24 || m.Overflow > 0 || m.Broken > 0 || m.Right > 8 || m.Colour != c.text || m.Italic != "italic" {
				t.Errorf("%d px on %s: %+v", c.width, c.background, m)
			}
			for _, h := range m.Gauges {
				if h < 6 || h > 16 {
					t.Errorf("%s at %d px: a gauge is %s px high", m.Name, c.width, fmt.Sprint(h))
				}
			}
		}
	}
}
