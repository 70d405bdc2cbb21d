package vdrv

import (
	"regexp"
	"strconv"
	"strings"
)

const (
	linkedMark = "// memwall: linked PTX\n" // what cuLinkComplete gives instead of a cubin begins so
	nextMark   = "\n// memwall: next\n"
)

var (
	headerLine    = regexp.MustCompile(`(?m)^[ \t]*\.(version|target|address_size)\b[^\n]*$`)
	debugLine     = regexp.MustCompile(`(?m)^[ \t]*\.(file|loc)\b[^\n]*$`)
	versionNumber = regexp.MustCompile(`(?m)^[ \t]*\.version[ \t]+(\d+)\.(\d+)`)
	externWord    = regexp.MustCompile(`(?m)^([ \t]*)\.extern([ \t]+\.(?:global|const|shared)\b[^;]*;)`)
	functionHead  = regexp.MustCompile(`(?m)^[ \t]*((?:\.(?:extern|visible|weak)[ \t]+)*)\.func\b[ \t]*(?:\.noreturn[ \t]*)?(\([^()]*\))?\s*([\w$%]+)`)
	variableName  = regexp.MustCompile(`([\w$%]+)[ \t]*(?:\[[^\]]*\][ \t]*)*;?$`)
)

// oldest is the PTX ISA version below which the parser reads nothing. What older texts say means the same in it.
const oldest = 6

// modern raises the version of a text that is older than the parser reads.
func modern(text string) string {
	m := versionNumber.FindStringSubmatchIndex(text)
	if m == nil || newer(text[m[2]:m[3]], "", "5", "") {
		return text
	}
	return text[:m[2]] + strconv.Itoa(oldest) + ".0" + text[m[5]:]
}

// registersMark stands before the most registers a thread that a linker was told, behind linkedMark.
const registersMark = "// memwall: registers "

// registerLimit takes the limit off a linked text; 0 where there is none.
func registerLimit(text string) (rest string, limit int) {
	body, linked := strings.CutPrefix(text, linkedMark+registersMark)
	if !linked {
		return text, 0
	}
	number, body, _ := strings.Cut(body, "\n")
	limit, _ = strconv.Atoi(number)
	return linkedMark + body, limit
}

// mergeLinked makes one PTX text of those that a linker has put one behind another: the header of the newest stands at the top,
// and an extern variable that another text defines is left out. Other texts stay as they are.
func mergeLinked(text string) string {
	rest, linked := strings.CutPrefix(text, linkedMark)
	if !linked {
		return text
	}
	parts := strings.Split(rest, nextMark)
	if len(parts) == 1 {
		return parts[0]
	}
	newest, best := "", [2]string{}
	for i, p := range parts {
		if m := versionNumber.FindStringSubmatch(p); m != nil && (newest == "" || newer(m[1], m[2], best[0], best[1])) {
			newest, best = strings.Join(headerLine.FindAllString(p, -1), "\n"), [2]string{m[1], m[2]}
		}
		parts[i] = debugLine.ReplaceAllString(headerLine.ReplaceAllString(p, ""), "")
	}
	for i, p := range parts {
		parts[i] = externWord.ReplaceAllStringFunc(p, func(declaration string) string {
			m := externWord.FindStringSubmatch(declaration)
			n := variableName.FindStringSubmatch(strings.TrimSpace(m[2]))
			if n == nil {
				return declaration
			}
			defined := regexp.MustCompile(`(?m)^[ \t]*(?:\.visible[ \t]+|\.weak[ \t]+)?\.(?:global|const|shared)\b[^;={]*[ \t]` + regexp.QuoteMeta(n[1]) + `\b`)
			for j, other := range parts {
				if j != i && defined.MatchString(other) {
					return ""
				}
			}
			return declaration
		})
	}
	return newest + "\n" + strings.Join(alike(onlyFirst(parts)), "\n")
}

// heading is the head of a function in a text.
type heading struct {
	at, end     int // of the whole head, up to its name's end
	results     [2]int
	name        string
	weak, plain bool // plain: neither extern nor weak
}

// headings finds the functions of a text, defined or declared.
func headings(text string) []heading {
	var out []heading
	for _, m := range functionHead.FindAllStringSubmatchIndex(text, -1) {
		linkage := text[m[2]:m[3]]
		out = append(out, heading{at: m[0], end: m[7], results: [2]int{m[4], m[5]}, name: text[m[6]:m[7]],
			weak: strings.Contains(linkage, ".weak"), plain: !strings.Contains(linkage, ".weak") && !strings.Contains(linkage, ".extern")})
	}
	return out
}

// body gives where the body of a function whose head ends at a place begins and ends; false where it is only declared.
func body(text string, end int) (from, to int, defined bool) {
	i := strings.IndexAny(text[end:], "{;")
	if i < 0 || text[end+i] == ';' {
		return 0, 0, false
	}
	from = end + i
	for depth, at := 0, from; at < len(text); at++ {
		switch text[at] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return from, at + 1, true
			}
		}
	}
	return 0, 0, false
}

// onlyFirst makes declarations of the weak functions that another text defines too: a linker keeps a definition that is not weak,
// else the first.
func onlyFirst(parts []string) []string {
	keeper := map[string]int{} // by name, the text whose definition stays
	strong := map[string]bool{}
	for i, p := range parts {
		for _, h := range headings(p) {
			if _, _, defined := body(p, h.end); !defined {
				continue
			}
			if _, known := keeper[h.name]; !known || h.plain && !strong[h.name] {
				keeper[h.name], strong[h.name] = i, h.plain
			}
		}
	}
	for i, p := range parts {
		all := headings(p)
		for k := len(all) - 1; k >= 0; k-- {
			h := all[k]
			if from, to, defined := body(p, h.end); defined && h.weak && keeper[h.name] != i {
				p = p[:from] + ";" + p[to:]
			}
		}
		parts[i] = p
	}
	return parts
}

// alike gives a function without a result the one that another text declares it with. Separate texts may differ so, as C ones may;
// in one they may not. Nobody reads the result: nobody sets it.
func alike(parts []string) []string {
	declared := map[string]string{}
	for _, p := range parts {
		for _, h := range headings(p) {
			if h.results[0] >= 0 {
				declared[h.name] = p[h.results[0]:h.results[1]]
			}
		}
	}
	for i, p := range parts {
		all := headings(p)
		for k := len(all) - 1; k >= 0; k-- {
			if h := all[k]; h.results[0] < 0 && declared[h.name] != "" {
				at := h.end - len(h.name)
				p = p[:at] + declared[h.name] + " " + p[at:]
			}
		}
		parts[i] = p
	}
	return parts
}

// newer compares two version numbers as text.
func newer(major, minor, thanMajor, thanMinor string) bool {
	if len(major) != len(thanMajor) {
		return len(major) > len(thanMajor)
	}
	if major != thanMajor {
		return major > thanMajor
	}
	if len(minor) != len(thanMinor) {
		return len(minor) > len(thanMinor)
	}
	return minor > thanMinor
}
