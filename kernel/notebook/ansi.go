package notebook

import (
	"html"
	"strconv"
	"strings"
)

// ansiHTML escapes a text for HTML and turns the colours of its ANSI sequences (ECMA-48, SGR) into spans; every other
// control sequence is dropped.
func ansiHTML(s string) string {
	var b strings.Builder
	open := false
	var bold bool
	colour := ""
	for len(s) > 0 {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			b.WriteString(html.EscapeString(dropControls(s)))
			break
		}
		b.WriteString(html.EscapeString(dropControls(s[:i])))
		params, final, size := sequence(s[i:])
		s = s[i+size:]
		if final != 'm' {
			continue
		}
		bold, colour = sgr(params, bold, colour)
		if open {
			b.WriteString("</span>")
			open = false
		}
		if bold || colour != "" {
			b.WriteString(`<span class="` + strings.TrimSpace(map[bool]string{true: "ab "}[bold]+colour) + `">`)
			open = true
		}
	}
	if open {
		b.WriteString("</span>")
	}
	return b.String()
}

// dropControls removes control characters that HTML may not hold; tabs and line breaks stay.
func dropControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// sequence splits a control sequence that begins with ESC: parameters, final byte, length.
func sequence(s string) (params string, final byte, size int) {
	if len(s) < 2 || s[1] != '[' {
		return "", 0, min(2, len(s))
	}
	for i := 2; i < len(s); i++ {
		if c := s[i]; c >= 0x40 && c <= 0x7e {
			return s[2:i], c, i + 1
		} else if c < 0x20 || c > 0x3f {
			return "", 0, i
		}
	}
	return "", 0, len(s)
}

// sgr applies parameters: 0 resets, 1 is bold, 30–37 and 90–97 are colours; the longer forms of 38 and 48 are skipped.
func sgr(params string, bold bool, colour string) (bool, string) {
	fields := strings.Split(params, ";")
	for i := 0; i < len(fields); i++ {
		n, err := strconv.Atoi(fields[i])
		if fields[i] == "" {
			n, err = 0, nil
		}
		if err != nil {
			continue
		}
		switch {
		case n == 0:
			bold, colour = false, ""
		case n == 1:
			bold = true
		case n == 22:
			bold = false
		case n == 39:
			colour = ""
		case n >= 30 && n <= 37:
			colour = "a" + strconv.Itoa(n-30)
		case n >= 90 && n <= 97:
			colour = "a" + strconv.Itoa(n-90)
		case n == 38 || n == 48:
			if i+1 < len(fields) && fields[i+1] == "5" {
				i += 2
			} else {
				i += 4
			}
		}
	}
	return bold, colour
}
