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
	return newest + "\n" + strings.Join(parts, "\n")
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
