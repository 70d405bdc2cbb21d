package display

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// progressEvery is the least time between two updates: ten a second are as many as a page shows without flicker.
const progressEvery = 100 * time.Millisecond

// A Bar shows how far work has come. Its methods may be called by several goroutines.
type Bar struct {
	mu      sync.Mutex
	total   int
	done    int
	label   string
	id      string
	start   time.Time
	drawn   time.Time
	stopped time.Time // when it was complete
	timer   *time.Timer
	now     func() time.Time
}

// Progress shows a bar for total steps.
func Progress(total int) *Bar {
	b := &Bar{total: max(total, 0), id: newID(), now: time.Now}
	b.start = b.now()
	b.drawn = b.start
	current().Display(b.MIMEBundle(), b.id)
	return b
}

// Label sets the text in front of the bar.
func (b *Bar) Label(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.label = text
	b.draw()
}

// Add counts n steps more.
func (b *Bar) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(b.done + n)
}

// Set says that n steps are done.
func (b *Bar) Set(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(n)
}

// Done says that all steps are.
func (b *Bar) Done() { b.Set(b.total) }

func (b *Bar) set(n int) {
	b.done = min(max(n, 0), b.total)
	if b.done < b.total {
		b.stopped = time.Time{}
	} else if b.stopped.IsZero() {
		b.stopped = b.now()
	}
	b.draw()
}

// draw updates the bar now if the last update is old enough or the work is complete, else a little later.
func (b *Bar) draw() {
	wait := progressEvery - b.now().Sub(b.drawn)
	if b.done == b.total {
		wait = 0
	}
	if wait > 0 {
		if b.timer == nil {
			b.timer = time.AfterFunc(wait, b.late)
		}
		return
	}
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.drawn = b.now()
	current().Update(b.bundle(), b.id)
}

func (b *Bar) late() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer = nil
		b.drawn = b.now()
		current().Update(b.bundle(), b.id)
	}
}

// MIMEBundle is the bar as HTML and text.
func (b *Bar) MIMEBundle() map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bundle()
}

// ShownIn says that a bar shows itself, whatever the cell.
func (b *Bar) ShownIn(int) bool { return true }

// String is the bar as text: "[#####.....] 50% 5 of 10, 1.2 s, about 1.2 s left".
func (b *Bar) String() string { return plain(b.MIMEBundle()) }

func (b *Bar) bundle() map[string]any {
	share := 1.0
	if b.total > 0 {
		share = float64(b.done) / float64(b.total)
	}
	end := b.stopped
	if end.IsZero() {
		end = b.now()
	}
	spent := end.Sub(b.start)
	state := fmt.Sprintf("%d%% %d of %d, %s", int(100*share), b.done, b.total, seconds(spent))
	if b.done > 0 && b.done < b.total {
		state += ", about " + seconds(time.Duration(float64(spent)*(1-share)/share)) + " left"
	}
	const width = 30
	full := int(width * share)
	label := b.label
	if label != "" {
		label += " "
	}
	return map[string]any{
		"text/plain": fmt.Sprintf("%s[%s%s] %s", label, strings.Repeat("#", full), strings.Repeat(".", width-full), state),
		"text/html": fmt.Sprintf(`<div style="font-size:12px">%s%s</div><div style="width:100%%;max-width:600px;height:8px;background:rgba(119,119,119,.28)"><div style="width:%.1f%%;height:8px;background:#27c"></div></div>`,
			escape(label), state, 100*share),
	}
}

func seconds(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}
