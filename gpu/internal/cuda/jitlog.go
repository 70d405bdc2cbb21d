package cuda

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"memwall/gpu/internal/ptx"
)

// jitLine is a line of the driver's compiler log: "ptxas application ptx input, line 12; error   : Unknown symbol '%f99'".
var jitLine = regexp.MustCompile(`^ptxas .*?, line (\d+); (error|fatal|warning)\s*: (.*)$`)

// mostLogLines are shown.
const mostLogLines = 8

// logLines puts the driver's compiler log on the user's lines: those of the CUDA C++ that the PTX came from where .loc says so.
func logLines(log string, m *ptx.Module) []string {
	var out []string
	for _, l := range strings.Split(log, "\n") {
		l = strings.TrimSpace(l)
		g := jitLine.FindStringSubmatch(l)
		switch {
		case l == "" || strings.HasPrefix(l, "ptxas fatal"):
			continue
		case g == nil:
			out = append(out, l)
		default:
			n, _ := strconv.Atoi(g[1])
			out = append(out, fmt.Sprintf("%s:%d: %s", m.Name, n, g[3]))
			if source := strings.TrimSpace(m.SourceLine(n)); source != "" {
				out = append(out, "    "+source)
			}
			if from := sourceOf(m, n); from != "" {
				out = append(out, "    from "+from)
			}
		}
		if len(out) >= mostLogLines {
			return append(out[:mostLogLines], "…")
		}
	}
	return out
}

// sourceOf is the file and line that an instruction of a PTX line came from, "" where nothing is known.
func sourceOf(m *ptx.Module, line int) string {
	for _, f := range m.Functions {
		for i := range f.Body {
			if in := &f.Body[i]; in.Line == line && in.Source.File != 0 {
				return fmt.Sprintf("%s:%d", m.Files[in.Source.File], in.Source.Line)
			}
		}
	}
	return ""
}
