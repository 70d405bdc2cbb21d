package card

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// pageMap is four sequences, three of which share a beginning of eight pages.
func pageMap() *PageMap {
	m := &PageMap{Device: "virtual:h200", Virtual: true, PageTokens: 16, PageBytes: 2 << 20, Total: 96, Tokens: 1037, Saved: 16, Reserve: 1024,
		Sequences: []PageSequence{{Name: "A", Tokens: 361, Pages: 23, Shared: 8, Last: 9}, {Name: "B", Tokens: 437, Pages: 28, Shared: 8, Last: 5},
			{Name: "C", Tokens: 428, Pages: 27, Shared: 8, Last: 12}, {Name: "D", Tokens: 67, Pages: 5, Last: 3}}}
	add := func(n int, p Page) {
		for range n {
			m.Pages = append(m.Pages, p)
		}
	}
	add(8, Page{Kind: PageShared})
	for _, s := range m.Sequences {
		add(s.Pages-s.Shared-1, Page{PageOwn, s.Name})
		add(1, Page{PagePart, s.Name})
	}
	add(4, Page{Kind: PageKept})
	return m
}

// manyPages is 5,000 pages in no order, of more sequences than there are letters.
func manyPages() *PageMap {
	r := rand.New(rand.NewPCG(1, 2))
	m := &PageMap{PageTokens: 1, Total: 5000, HostTotal: 10, HostUsed: 3}
	for i := range 40 {
		m.Sequences = append(m.Sequences, PageSequence{Name: fmt.Sprintf("%c%d", 'A'+i%25, i), Tokens: 100, Pages: 100, Last: 1, Out: i == 3})
	}
	for range 4000 {
		p := Page{Kind: PageKind(r.IntN(int(PageShared) + 1))}
		if p.Kind == PageOwn || p.Kind == PagePart {
			p.Owner = m.Sequences[r.IntN(40)].Name
		}
		m.Pages = append(m.Pages, p)
		if p.Kind >= PagePart {
			m.Tokens++
		}
	}
	return m
}

// TestPageMapKeepsTheRules: whatever is in a cache, the map has every page once, in both forms, and stays small.
func TestPageMapKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &PageMap{PageTokens: rapid.IntRange(1, 4096).Draw(t, "page"), Total: rapid.IntRange(1, 3000).Draw(t, "total"),
			PageBytes: rapid.Int64Range(0, 1<<40).Draw(t, "bytes"), Reserve: rapid.IntRange(0, 1<<20).Draw(t, "reserve"), Device: rapid.SampledFrom([]string{"", "virtual:h200", "<b>"}).Draw(t, "device")}
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"A", "B2", "Z", "<i>", "É", "K123456"}), 1, 6).Draw(t, "names")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range r.IntN(60) {
			m.Sequences = append(m.Sequences, PageSequence{Name: names[r.IntN(len(names))], Tokens: r.IntN(1 << 30)})
		}
		for range r.IntN(m.Total + 1) {
			p := Page{Kind: PageKind(r.IntN(5))}
			if p.Kind == PageOwn || p.Kind == PagePart {
				p.Owner = names[r.IntN(len(names))]
			}
			m.Pages = append(m.Pages, p)
		}
		c := Pages(m)
		if err := check(c); err != nil {
			t.Fatal(err)
		}
		squares, _, _ := strings.Cut(c.Text[strings.Index(c.Text, "\n  ")+1:], "legend: ")
		squares = strings.NewReplacer(" ", "", "\n", "").Replace(squares)
		each := (m.Total + mapSquares - 1) / mapSquares
		if want := (m.Total + each - 1) / each; utf8.RuneCountInString(squares) != want {
			t.Fatalf("squares %q in the twin, want %d:\n%s", squares, want, c.Text)
		}
	})
	for _, nothing := range []*PageMap{nil, {}, {Total: 1}, {PageTokens: 1}} {
		if c := Pages(nothing); !c.Empty() {
			t.Errorf("a card of no cache: %s", c.Text)
		}
	}
}
