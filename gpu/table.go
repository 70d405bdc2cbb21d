package gpu

import (
	"html"
	"strings"
	"unicode/utf8"
)

// textTable aligns rows in columns, the first two to the left and the others to the right, a line under the first row.
func textTable(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if i < leftColumns {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if n == 0 {
			total := 2 * (len(width) - 1)
			for _, w := range width {
				total += w
			}
			b.WriteString(strings.Repeat("-", total) + "\n")
		}
	}
	return b.String()
}

// leftColumns hold names; the others numbers.
const leftColumns = 2

// htmlTable is the same as HTML that every notebook client shows: no style sheet, no script.
func htmlTable(rows [][]string, caption string, folded []string) string {
	var b strings.Builder
	b.WriteString(`<table cellpadding="3" style="table-layout:auto">`)
	for n, row := range rows {
		b.WriteString(`<tr align="right">`)
		for i, cell := range row {
			tag := "td"
			if n == 0 {
				tag = "th"
			}
			b.WriteString("<" + tag)
			if i < leftColumns {
				b.WriteString(` style="text-align:left"`)
			}
			b.WriteString(">" + html.EscapeString(strings.ReplaceAll(cell, " ", "\u00a0")) + "</" + tag + ">")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
	if caption != "" {
		b.WriteString("<small>" + html.EscapeString(caption) + "</small>")
	}
	if len(folded) > 0 {
		b.WriteString("<details><summary>sources</summary><small>")
		for _, line := range folded {
			b.WriteString(html.EscapeString(line) + "<br>")
		}
		b.WriteString("</small></details>")
	}
	return b.String()
}
