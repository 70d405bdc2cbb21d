package gpu

import (
	"context"
	"errors"
	"sync"
	"time"

	"memwall/gpu/perf"
)

// record is one launch that is over.
type record struct {
	launch *perf.Launch
	layers layers
	shown  bool // a report that holds it has been displayed
}

// layers are the host times of one launch, for Path.
type layers struct{ check, device, evaluate time.Duration }

// frame is a running Measure, Sweep, Sample, Warm or Path: what is launched inside belongs to it.
type frame struct {
	sampleTime time.Duration // of each launch, which finds the sample; 0: as outside
	records    []*record
	failure    error // the first launch that failed
	sample     int   // every k-th CTA; 0: as outside
	warm       bool
	repeat     bool      // launches are timed until their times agree, where time is measured
	findings   *Findings // nil: not sanitized
	whole      bool      // findings are a whole cell's: what it allocates belongs to the notebook
}

// recorder collects the launches of the running cell and of the frames inside it.
type recorder struct {
	mu       sync.Mutex
	ctx      context.Context
	inCell   bool
	records  []*record
	failures []error
	frames   []*frame
	cell     *Findings // of a sanitized cell
	last     *Report
}

// records is the process's recorder: a process runs one cell at a time.
var records = &recorder{}

// keepLines is how many launches of a cell keep their counters by line; beyond it they would only take memory.
const keepLines = 256

func (r *recorder) context() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx == nil {
		return context.Background()
	}
	return r.ctx
}

// scope is what holds for a launch that begins now.
func (r *recorder) scope() (s struct {
	sampleTime time.Duration
	ctx        context.Context
	sample     int
	warm       bool
	repeat     bool
	findings   []*Findings
}) {
	s.ctx = r.context()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.frames {
		if f.sample > 0 || f.sampleTime > 0 {
			s.sample, s.sampleTime = f.sample, f.sampleTime
		}
		s.warm = s.warm || f.warm
		s.repeat = s.repeat || f.repeat
		if f.findings != nil {
			s.findings = append(s.findings, f.findings)
		}
	}
	return s
}

// add notes a launch in the cell and in every frame around it.
func (r *recorder) add(rec *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inCell {
		if len(r.records) >= keepLines {
			rec.launch.Lines, rec.launch.PerLine = nil, nil
		}
		r.records = append(r.records, rec)
	}
	for _, f := range r.frames {
		f.records = append(f.records, rec)
	}
}

// Failed notes that a launch did not happen or was stopped, and returns err unchanged. Code that checks something before it
// launches passes its errors through it: in a function given to Measure, Go drops the error of a call, and Measure must not
// take nothing for a measurement. Outside such functions EndCell shows the error, unless the cell ended with it.
func Failed(err error) error {
	if err == nil {
		return nil
	}
	r := records
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.frames); n > 0 && !r.frames[n-1].whole {
		if f := r.frames[n-1]; f.failure == nil {
			f.failure = err
		}
		return err
	}
	for _, known := range r.failures {
		if known == err {
			return err
		}
	}
	if r.inCell {
		r.failures = append(r.failures, err)
	}
	return err
}

// within runs f inside a frame and gives the frame's launches; the error is that of the first launch that failed, whether f
// looked at it or not.
func (r *recorder) within(fr *frame, f func()) ([]*record, error) {
	r.mu.Lock()
	r.frames = append(r.frames, fr)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		for i, other := range r.frames {
			if other == fr {
				r.frames = append(r.frames[:i], r.frames[i+1:]...)
				break
			}
		}
		r.mu.Unlock()
	}()
	if err := r.context().Err(); err != nil {
		return nil, wrap("launch", err)
	}
	f()
	r.mu.Lock()
	defer r.mu.Unlock()
	return fr.records, fr.failure
}

// Card is something a cell shows, as a MIME bundle with text/plain and, mostly, text/html.
type Card interface{ MIMEBundle() map[string]any }

// BeginCell starts the record of a cell. Cancelling ctx stops a running launch within a second.
func BeginCell(ctx context.Context, cell int) {
	r := records
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx, r.inCell, r.records, r.failures, r.frames, r.cell = ctx, true, nil, nil, nil, nil
}

// mostFailureCards is how many different failures a cell shows.
const mostFailureCards = 8

// EndCell ends the record of a cell and gives its cards: one for the launches that no displayed report has shown yet, then
// one for each launch that failed, apart from errors in shown, which the user sees anyhow.
func EndCell(shown ...error) []Card {
	r := records
	r.mu.Lock()
	all, failures, found := r.records, r.failures, r.cell
	r.ctx, r.inCell, r.records, r.failures, r.frames, r.cell = nil, false, nil, nil, nil, nil
	if len(all) > 0 {
		r.last = newReport(all)
	}
	r.mu.Unlock()
	var unseen []*record
	for _, rec := range all {
		if !rec.shown {
			unseen = append(unseen, rec)
		}
	}
	var cards []Card
	if c := cellCard(unseen); c != nil {
		cards = append(cards, c)
	}
	if found != nil && (!found.json || found.Launches > 0 || len(found.List) > 0) {
		cards = append([]Card{found}, cards...)
	}
	times := map[string]int{}
	for _, err := range failures {
		times[err.Error()]++
	}
	for _, err := range failures {
		n := times[err.Error()]
		delete(times, err.Error())
		if n == 0 || len(cards) > mostFailureCards {
			continue
		}
		if c := failureCard(err, n, among(err, shown)); c != nil {
			cards = append(cards, c)
		}
	}
	// A fault may also arrive as the cell's error without passing here: from a function inside Measure.
	for _, err := range shown {
		var e *Error
		if errors.As(err, &e) && e.Fault != nil && !among(err, failures) {
			if c := failureCard(e, 1, true); c != nil {
				cards = append(cards, c)
			}
		}
	}
	return cards
}

// among says whether err is one of several errors, or they wrap it or it them.
func among(err error, several []error) bool {
	for _, s := range several {
		if s != nil && (errors.Is(s, err) || errors.Is(err, s)) {
			return true
		}
	}
	return false
}

// Last is the report of the last cell that launched something, or of the last Measure outside a cell. It panics with an
// *Error when there was none.
func Last() *Report {
	r := records
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		panic(fail("launch something in a cell first", "Last: no cell before this one has launched anything"))
	}
	return r.last
}
