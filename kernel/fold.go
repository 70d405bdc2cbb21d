package kernel

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// foldLimit is how much printed text of a cell goes to the page before it is folded.
	foldLimit = 16 << 20
	// tailLimit is how much of the end of folded text is shown when the cell ends.
	tailLimit = 64 << 10
	// fileLimit bounds the file that keeps folded text, so that an endless print does not fill the disk.
	fileLimit = 2 << 30
	// noticeEvery is how often the notice on folded text is renewed while the cell prints.
	noticeEvery = time.Second
)

// notice says what is to be done about the display that reports folded text.
type notice int

const (
	noticeNone notice = iota
	noticeFirst
	noticeAgain
)

// fold keeps what a cell prints beyond foldLimit: all of it in a file, its end in memory, and how much it was.
type fold struct {
	dir    string
	count  int
	active bool
	ended  bool // the cell has ended: what its goroutines print is not kept for a file that may never be needed

	kept    [][]byte // what the page has shown, until the fold opens and writes it to the file
	lost    int64    // bytes at the beginning of the output that are not in the file
	shown   int64
	total   int64
	lines   int64
	file    *os.File
	w       *bufio.Writer
	path    string
	written int64
	failure error
	last    []byte // at least the last tailLimit bytes, at most twice as many
	renewed time.Time
}

// head returns the part of text that the page still has room for.
func (f *fold) head(text []byte) []byte {
	if f.active {
		return nil
	}
	n := len(text)
	if room := foldLimit - f.shown; int64(n) > room {
		n = int(room)
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
	}
	head := text[:n]
	f.shown += int64(n)
	f.tally(head)
	if f.ended {
		f.lost += int64(n)
	} else {
		f.kept = append(f.kept, bytes.Clone(head))
	}
	return head
}

func (f *fold) tally(text []byte) {
	f.total += int64(len(text))
	f.lines += int64(bytes.Count(text, []byte{'\n'}))
}

// add takes text that the page has no room for.
func (f *fold) add(text []byte) notice {
	f.tally(text)
	n := noticeNone
	if !f.active {
		f.open()
		n = noticeFirst
	}
	f.write(text)
	if f.last = append(f.last, text...); len(f.last) > 2*tailLimit {
		f.last = append(f.last[:0], f.last[len(f.last)-tailLimit:]...)
	}
	if n == noticeNone && time.Since(f.renewed) >= noticeEvery {
		n = noticeAgain
	}
	if n != noticeNone {
		f.renewed = time.Now()
	}
	return n
}

func (f *fold) open() {
	f.active = true
	file, err := os.CreateTemp(f.dir, fmt.Sprintf("memwall-cell-%d-output-*.txt", f.count))
	if err != nil {
		f.failure = err
		f.kept = nil
		return
	}
	f.file, f.path = file, file.Name()
	f.w = bufio.NewWriterSize(file, 256<<10)
	for _, text := range f.kept {
		f.write(text)
	}
	f.kept = nil
}

// write writes to the file, and stops for good at fileLimit or when the disk refuses.
func (f *fold) write(text []byte) {
	if f.failure != nil {
		return
	}
	if f.file == nil {
		file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			f.failure = err
			return
		}
		f.file, f.w = file, bufio.NewWriter(file)
		defer f.close()
	}
	if room := fileLimit - f.written; int64(len(text)) > room {
		text = text[:room]
		f.failure = errFileLimit
	}
	n, err := f.w.Write(text)
	f.written += int64(n)
	if err != nil {
		f.failure = err
	}
}

var errFileLimit = errors.New("the limit of a file")

// close closes the file; later text opens it again.
func (f *fold) close() {
	if f.file == nil {
		return
	}
	if err := errors.Join(f.w.Flush(), f.file.Close()); err != nil && f.failure == nil {
		f.failure = err
	}
	f.file, f.w = nil, nil
}

// end frees what only a running cell needs.
func (f *fold) end() {
	f.ended = true
	if !f.active {
		f.lost, f.kept = f.shown, nil
	}
	f.last = nil
}

// cleared makes room again after the page's output has been removed.
func (f *fold) cleared() {
	if !f.active {
		f.shown, f.total, f.lines, f.lost, f.kept = 0, 0, 0, 0, nil
	}
}

// tail is the end of the folded text, from the beginning of a line where there is one.
func (f *fold) tail() []byte {
	t := f.last
	if len(t) > tailLimit {
		t = t[len(t)-tailLimit:]
		for len(t) > 0 && !utf8.RuneStart(t[0]) {
			t = t[1:]
		}
	}
	if int64(len(t)) < f.total-f.shown {
		if i := bytes.IndexByte(t[:len(t)/2], '\n'); i >= 0 {
			t = t[i+1:]
		}
	}
	return t
}

func (f *fold) displayID(session string) string {
	return fmt.Sprintf("memwall-fold-%s-%p", session, f)
}

// bundle is the display that stands between head and tail.
func (f *fold) bundle(running bool) map[string]any {
	var b strings.Builder
	fmt.Fprintf(&b, "⋯ output folded after %s: ", amount(f.shown, "byte"))
	fmt.Fprintf(&b, "%s, %s ", amount(f.total, "byte"), amount(f.lines, "line"))
	switch {
	case running:
		b.WriteString("so far; the end is shown when the cell ends")
	case f.ended:
		b.WriteString("so far, printed after the cell has ended too")
	default:
		b.WriteString("in all; the end follows")
	}
	switch {
	case f.failure == nil && f.lost > 0:
		fmt.Fprintf(&b, "\n⋯ all but its first %s is in %s", amount(f.lost, "byte"), f.path)
	case f.failure == nil:
		fmt.Fprintf(&b, "\n⋯ all of it is in %s", f.path)
	case f.failure == errFileLimit:
		fmt.Fprintf(&b, "\n⋯ its first %s are in %s", amount(f.written, "byte"), f.path)
	default:
		fmt.Fprintf(&b, "\n⋯ it could not be kept in a file: %v", f.failure)
	}
	return map[string]any{"text/plain": b.String()}
}

// saveBundle writes a display that is too large for a page to a file and says so.
func (f *fold) saveBundle(bundle map[string]any, size int) string {
	said := fmt.Sprintf("⋯ a display of %s is too large for the page (limit %s)", amount(int64(size), "byte"), amount(bundleLimit, "byte"))
	file, err := os.CreateTemp(f.dir, fmt.Sprintf("memwall-cell-%d-display-*.json", f.count))
	if err == nil {
		err = errors.Join(json.NewEncoder(file).Encode(presentable(bundle)), file.Close())
	}
	if err != nil {
		return said + fmt.Sprintf("\n⋯ it could not be kept in a file: %v", err)
	}
	return said + "\n⋯ it is in " + file.Name() + " (a JSON object, MIME type to data)"
}

// amount writes a count with its unit, thousands apart: "1,234 bytes".
func amount(n int64, unit string) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	b.WriteString(" " + unit)
	if n != 1 {
		b.WriteByte('s')
	}
	return b.String()
}
