// Package record keeps what the launches of a program cost, in the process that runs it, and brings it to `memwall exec`.
package record

import (
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"memwall/gpu/perf"
)

// Variables through which `memwall exec` speaks to the library.
const (
	EnvironmentFile     = "MEMWALL_RECORD"   // file for the launches; the process's number is added to its name
	EnvironmentSanitize = "MEMWALL_SANITIZE" // watch every launch
	EnvironmentQuiet    = "MEMWALL_QUIET"    // no lines about refusals and faults
)

// mostEntries is how many launches are kept apart; later ones are added to the last of their function and shape.
const mostEntries = 4096

// Entry is launches that cost the same.
type Entry struct {
	Observation perf.Observation
	Launches    int
}

// Records are what a process has launched.
type Records struct {
	Entries []Entry
	Stopped []string // faults
	Found   []Found  // by the sanitizer, in the order in which they were first seen
}

// Found is what the sanitizer found, as JSON, once for each that Same tells apart.
type Found struct {
	Same    string // its headline and the lines of its parties
	Finding json.RawMessage
}

// Recorder collects records. It is safe for use by several goroutines.
type Recorder struct {
	mu   sync.Mutex
	file string
	kept Records
	last map[key]int // index into Entries
}

type key struct {
	function string
	shape    perf.Shape
}

// New collects into a file.
func New(file string) *Recorder { return &Recorder{file: file, last: map[key]int{}} }

// Add takes a launch.
func (r *Recorder) Add(o perf.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := key{o.Function, o.Shape}
	i, seen := r.last[k]
	if seen && (len(r.kept.Entries) >= mostEntries || r.kept.Entries[i].Observation.Counts == o.Counts) {
		r.kept.Entries[i].Launches++
		return
	}
	r.last[k] = len(r.kept.Entries)
	r.kept.Entries = append(r.kept.Entries, Entry{o, 1})
}

// Stopped takes the text of a fault.
func (r *Recorder) Stopped(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept.Stopped = append(r.kept.Stopped, text)
}

// Found takes a finding; of those alike the first is kept.
func (r *Recorder) Found(f Found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept.Found) < mostEntries && !slices.ContainsFunc(r.kept.Found, func(g Found) bool { return g.Same == f.Same }) {
		r.kept.Found = append(r.kept.Found, f)
	}
}

// Write writes the file; a recorder without launches writes none.
func (r *Recorder) Write() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept.Entries) == 0 && len(r.kept.Stopped) == 0 && len(r.kept.Found) == 0 {
		return nil
	}
	f, err := os.Create(r.file)
	if err != nil {
		return fmt.Errorf("record of launches: %w", err)
	}
	err = gob.NewEncoder(f).Encode(&r.kept)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("record of launches: %w", err)
	}
	return nil
}

// Read gathers what the processes of a program have written: the files whose names begin with file.
func Read(file string) (*Records, error) {
	names, err := filepath.Glob(file + ".*")
	if err != nil {
		return nil, fmt.Errorf("records of launches: %w", err)
	}
	all := &Records{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			if os.IsNotExist(err) {
				continue
			}
			return nil, fmt.Errorf("records of launches: %w", err)
		}
		var one Records
		err = gob.NewDecoder(f).Decode(&one)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("records of launches: %w", &fs.PathError{Op: "decode", Path: name, Err: err})
		}
		all.Entries = append(all.Entries, one.Entries...)
		all.Stopped = append(all.Stopped, one.Stopped...)
		all.Found = append(all.Found, one.Found...)
	}
	return all, nil
}

// Launches evaluates the records: one launch for each, equal ones as often as they came.
func (r *Records) Launches(p *perf.Profile) []*perf.Launch {
	var out []*perf.Launch
	for _, e := range r.Entries {
		l := perf.Evaluate(e.Observation, p)
		for range e.Launches {
			out = append(out, l)
		}
	}
	return out
}
