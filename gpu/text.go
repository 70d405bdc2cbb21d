package gpu

import (
	"math"
	"strconv"
	"strings"
)

// countBytes is an exact size: "33,554,432 B".
func countBytes(n int64) string { return grouped(n) + " B" }

// grouped writes an integer with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// plural is "1 launch", "2 launches".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + many
}

// firstLine of a text.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

var nan = math.NaN()
