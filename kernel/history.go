package kernel

import "sync"

// Bounds of what is remembered of a session.
const (
	historyCells = 10000
	historyBytes = 64 << 20
)

type historyEntry struct {
	count  int
	code   string
	output string // the cell's value as plain text, empty where it had none
}

func (e historyEntry) size() int { return len(e.code) + len(e.output) + 64 }

// history remembers the cells of this session; earlier sessions are not kept.
type history struct {
	mu      sync.Mutex
	entries []historyEntry
	bytes   int
}

func (h *history) add(count int, code, output string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := historyEntry{count, code, output}
	h.entries = append(h.entries, e)
	h.bytes += e.size()
	for len(h.entries) > 1 && (len(h.entries) > historyCells || h.bytes > historyBytes) {
		h.bytes -= h.entries[0].size()
		h.entries = h.entries[1:]
	}
}

func (h *history) list() []historyEntry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entries[:len(h.entries):len(h.entries)]
}

type historyRequest struct {
	Access  string  `json:"hist_access_type"`
	Output  bool    `json:"output"`
	Session int     `json:"session"`
	Start   int     `json:"start"`
	Stop    *int    `json:"stop"`
	N       *int    `json:"n"`
	Pattern *string `json:"pattern"`
	Unique  bool    `json:"unique"`
}

// answerHistory answers a history_request: range, tail or search.
func (s *server) answerHistory(r *request) {
	var c historyRequest
	if !s.decode(r, &c) {
		return
	}
	var picked []historyEntry
	switch c.Access {
	case "range":
		picked = inRange(s.history.list(), c)
	case "tail":
		picked = lastOf(s.history.list(), c.N)
	case "search":
		picked = lastOf(search(s.history.list(), c), c.N)
	default:
		s.replyError(r, "MalformedRequest", `content.hist_access_type is "`+clip(c.Access, 64)+`", want "range", "tail" or "search"`)
		return
	}
	rows := make([][3]any, len(picked))
	for i, e := range picked {
		rows[i] = [3]any{1, e.count, e.code}
		if c.Output {
			var output any
			if e.output != "" {
				output = e.output
			}
			rows[i][2] = [2]any{e.code, output}
		}
	}
	s.reply(r, "history_reply", map[string]any{"status": "ok", "history": rows})
}

// inRange picks start ≤ count < stop of this session, which is 0 or 1; there is no other.
func inRange(all []historyEntry, c historyRequest) []historyEntry {
	if c.Session != 0 && c.Session != 1 {
		return nil
	}
	var picked []historyEntry
	for _, e := range all {
		if e.count >= c.Start && (c.Stop == nil || e.count < *c.Stop) {
			picked = append(picked, e)
		}
	}
	return picked
}

func lastOf(all []historyEntry, n *int) []historyEntry {
	if n == nil || *n < 0 || *n >= len(all) {
		return all
	}
	return all[len(all)-*n:]
}

// search picks the cells that match a glob pattern; with unique only the last of equal ones.
func search(all []historyEntry, c historyRequest) []historyEntry {
	pattern := []rune("*")
	if c.Pattern != nil {
		pattern = []rune(*c.Pattern)
	}
	seen := map[string]bool{}
	var reversed []historyEntry
	for i := len(all) - 1; i >= 0; i-- {
		e := all[i]
		if c.Unique && seen[e.code] || !globMatch(pattern, []rune(e.code)) {
			continue
		}
		seen[e.code] = true
		reversed = append(reversed, e)
	}
	picked := make([]historyEntry, len(reversed))
	for i, e := range reversed {
		picked[len(picked)-1-i] = e
	}
	return picked
}

// globMatch matches a whole text, lines and slashes included, with *, ? and [set], as SQLite's GLOB does for IPython. It
// takes at most len(pattern) × len(text) steps.
func globMatch(pattern, text []rune) bool {
	p, t := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, t
			p++
			continue
		}
		if p < len(pattern) {
			if next, ok := globOne(pattern, p, text[t]); ok {
				p = next
				t++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, t = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// globOne matches one character against the pattern at p and returns where the pattern goes on.
func globOne(pattern []rune, p int, c rune) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return globSet(pattern, p, c)
	}
	return p + 1, pattern[p] == c
}

// globSet matches [abc], [a-z] and [^abc]; a [ without its ] stands for itself.
func globSet(pattern []rune, p int, c rune) (next int, ok bool) {
	i := p + 1
	negated := i < len(pattern) && (pattern[i] == '^' || pattern[i] == '!')
	if negated {
		i++
	}
	for first := i; i < len(pattern); i++ {
		if pattern[i] == ']' && i > first {
			return i + 1, ok != negated
		}
		low, high := pattern[i], pattern[i]
		if i+2 < len(pattern) && pattern[i+1] == '-' && pattern[i+2] != ']' {
			high = pattern[i+2]
			i += 2
		}
		ok = ok || low <= c && c <= high
	}
	return p + 1, c == '['
}
