package notebook

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"strings"
)

// policy lets a page show pictures that it holds itself and nothing else: no script of an output runs, nothing is loaded.
const policy = `default-src 'none'; img-src data:; style-src 'unsafe-inline'`

// pageStyle is the look of a page, light or dark by the reader's choice.
const pageStyle = `:root{color-scheme:light dark;--fg:#222;--bg:#fff;--soft:#f5f5f5;--line:#ddd;--dim:#777}
@media(prefers-color-scheme:dark){:root{--fg:#e6e6e6;--bg:#111;--soft:#1c1c1c;--line:#3a3a3a;--dim:#999}}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
main{max-width:52rem;margin:0 auto;padding:1rem 1rem 4rem}
pre{overflow-x:auto;margin:0;tab-size:4;font:13px/1.45 ui-monospace,monospace}
code{font:.9em ui-monospace,monospace}
.code{position:relative;margin:1rem 0 .3rem}.code .chroma,.md .chroma{background:var(--soft);border:1px solid var(--line);border-radius:3px;padding:.5rem .7rem}
.count{color:var(--dim);font:11px ui-monospace,monospace}
.out{margin:.3rem 0 1rem;padding-left:.7rem}.out>*{margin:.3rem 0}
pre.err{border-left:3px solid #d43;padding-left:.6rem}
.md table,.out table{border-collapse:collapse}.md th,.md td{border-bottom:1px solid var(--line);padding:.2rem .6rem;text-align:left}
.out th,.out td{padding:.2rem .4rem}.out thead th{border-bottom:1px solid var(--line)}.out tbody tr:nth-child(even){background:var(--soft)}
img{max-width:100%}blockquote{margin-left:0;padding-left:1rem;border-left:3px solid var(--line)}
.math{font-family:ui-monospace,monospace}div.math{white-space:pre-wrap;margin:.7rem 0}
.ab{font-weight:bold}.a1{color:#d43}.a2{color:#086}.a3{color:#b60}.a4{color:#27c}.a5{color:#a5c}.a6{color:#087f8c}.a0,.a7{color:var(--dim)}
`

// HTML renders a notebook as one self-contained page: Markdown with tables, formulas left as they are, Go and CUDA C++
// highlighted, of each output the richest form, light and dark by CSS. The page runs no scripts and loads nothing.
func HTML(nb *Notebook) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n")
	fmt.Fprintf(&b, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n<title>%s</title>\n<style>\n%s", policy, html.EscapeString(nb.title()), pageStyle)
	if err := codeStyle(&b); err != nil {
		return nil, err
	}
	b.WriteString("</style>\n</head>\n<body>\n<main>\n")
	for i, c := range nb.Cells {
		if err := c.html(&b, nb.Language()); err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.Bytes(), nil
}

// title is the first heading of the notebook.
func (nb *Notebook) title() string {
	for _, c := range nb.Cells {
		if c.Type != Markdown {
			continue
		}
		for _, line := range strings.Split(c.Source, "\n") {
			if t, ok := strings.CutPrefix(line, "# "); ok {
				return strings.TrimSpace(t)
			}
		}
	}
	return "notebook"
}

func (c *Cell) html(b *bytes.Buffer, language string) error {
	switch c.Type {
	case Markdown:
		body, err := markdownHTML(c)
		if err != nil {
			return err
		}
		b.WriteString("<section class=\"md\">\n" + body + "</section>\n")
	case Raw:
		b.WriteString("<pre>" + html.EscapeString(c.Source) + "</pre>\n")
	case Code:
		b.WriteString("<section class=\"code\">")
		if c.ExecutionCount > 0 {
			fmt.Fprintf(b, "<span class=\"count\">[%d]</span>", c.ExecutionCount)
		}
		b.WriteString(highlight(c.Source, languageOf(c.Source, language)) + "</section>\n")
		if len(c.Outputs) == 0 {
			return nil
		}
		b.WriteString("<section class=\"out\">\n")
		for _, o := range c.Outputs {
			b.WriteString(o.html())
		}
		b.WriteString("</section>\n")
	}
	return nil
}

// html is the richest form of an output that a page can show.
func (o *Output) html() string {
	switch o.Type {
	case Stream:
		return "<pre class=\"" + map[bool]string{true: "err", false: "std"}[o.Name == "stderr"] + "\">" + ansiHTML(o.Text) + "</pre>\n"
	case ErrorOutput:
		text := strings.Join(o.Traceback, "\n")
		if text == "" {
			text = o.EName + ": " + o.EValue
		}
		return "<pre class=\"err\">" + ansiHTML(text) + "</pre>\n"
	}
	get := func(mime string) string {
		s, _ := o.Data[mime].(string)
		return s
	}
	if s := get("text/html"); s != "" {
		return "<div>" + s + "</div>\n"
	}
	if s := get("image/svg+xml"); s != "" {
		return picture("image/svg+xml", base64.StdEncoding.EncodeToString([]byte(s)), get("text/plain"))
	}
	for _, mime := range []string{"image/png", "image/jpeg", "image/gif"} {
		if s := get(mime); s != "" {
			return picture(mime, strings.Join(strings.Fields(s), ""), get("text/plain"))
		}
	}
	if s := get("text/markdown"); s != "" {
		if body, err := markdownHTML(&Cell{Source: s}); err == nil {
			return "<div class=\"md\">" + body + "</div>\n"
		}
	}
	if s := get("text/plain"); s != "" {
		return "<pre>" + ansiHTML(s) + "</pre>\n"
	}
	return ""
}

func picture(mime, data, alt string) string {
	return "<div><img src=\"data:" + mime + ";base64," + html.EscapeString(data) + "\" alt=\"" + html.EscapeString(firstLine(alt)) + "\"></div>\n"
}
