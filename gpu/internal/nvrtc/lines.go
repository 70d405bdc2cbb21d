package nvrtc

import (
	"path"
	"strconv"
	"strings"
)

var (
	locDirective  = lazy(`^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:,\s*function_name\s+\S+,\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?\s*$`)
	fileDirective = lazy(`^\s*\.file\s+(\d+)\s+"([^"]*)"`)
)

// ownLines makes the PTX's line information that of the user's source alone: .file names lose their folders (the compiler
// puts the current one before them), a position inside an inlined function of a header becomes the place of the call in the
// source, and `function_name … inlined_at` with its .debug_str section goes, which only PTX ISA 7.2 knows (PTX ISA 11.5,
// .loc). Every other line stays as it is; instructions keep their line numbers.
func ownLines(ptx, name string) string {
	lines := strings.Split(ptx, "\n")
	own, headers := "", map[string]string{}
	for _, line := range lines {
		if m := fileDirective().FindStringSubmatch(line); m != nil {
			headers[m[1]] = path.Base(strings.ReplaceAll(m[2], `\\`, "/"))
			if headers[m[1]] == path.Base(name) && own == "" {
				own = m[1]
			}
		}
	}
	if own == "" {
		return ptx // no line information, or not ours
	}
	for i, line := range lines {
		if m := locDirective().FindStringSubmatch(line); m != nil {
			switch {
			case m[1] == own:
				lines[i] = "\t.loc\t" + own + " " + m[2] + " " + m[3]
			case m[4] == own:
				lines[i] = "\t.loc\t" + own + " " + m[5] + " " + m[6]
			case m[4] != "":
				lines[i] = "" // a header inlined in a header: the instructions stay with the line before
			}
		} else if m := fileDirective().FindStringSubmatch(line); m != nil {
			file := headers[m[1]]
			if m[1] == own {
				file = name
			}
			lines[i] = "\t.file\t" + m[1] + " " + strconv.Quote(file)
		}
	}
	return dropDebugStrings(lines)
}

// dropDebugStrings leaves out `.section .debug_str { … }`, which nothing refers to any more; with -G other sections do.
func dropDebugStrings(lines []string) string {
	for _, line := range lines {
		if strings.Contains(line, ".debug_info") {
			return strings.Join(lines, "\n")
		}
	}
	kept := lines[:0]
	inside := false
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, ".section") && strings.HasSuffix(trimmed, ".debug_str") {
			inside = true
			continue
		}
		if inside {
			inside = trimmed != "}"
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}
