package notebook

import (
	"bytes"
	"encoding/json"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders the text of Markdown cells: GitHub's tables, raw HTML (the page's policy forbids scripts), formulas left
// as they are, code blocks highlighted.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(
		parser.WithAutoHeadingID(),
		parser.WithBlockParsers(util.Prioritized(mathBlockParser{}, 90)),
		parser.WithInlineParsers(util.Prioritized(mathInlineParser{}, 90)),
	),
	goldmark.WithRendererOptions(
		htmlrenderer.WithUnsafe(),
		renderer.WithNodeRenderers(util.Prioritized(nodeRenderer{}, 90)),
	),
)

// markdownHTML renders one cell; attachments become data URIs.
func markdownHTML(c *Cell) (string, error) {
	source := []byte(c.Source)
	doc := markdown.Parser().Parse(text.NewReader(source))
	if raw := c.extra["attachments"]; raw != nil {
		embedAttachments(doc, raw)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return "", err
	}
	return b.String(), nil
}

func embedAttachments(doc ast.Node, raw json.RawMessage) {
	var attachments map[string]map[string]string
	if json.Unmarshal(raw, &attachments) != nil {
		return
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		image, ok := n.(*ast.Image)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		name, ok := strings.CutPrefix(string(image.Destination), "attachment:")
		if !ok {
			return ast.WalkContinue, nil
		}
		for _, mime := range []string{"image/png", "image/jpeg", "image/gif", "image/svg+xml"} {
			if data := attachments[name][mime]; data != "" {
				image.Destination = []byte("data:" + mime + ";base64," + strings.Join(strings.Fields(data), ""))
			}
		}
		return ast.WalkContinue, nil
	})
}

// mathKind are nodes that hold a formula, delimiters included: $…$ or $$…$$.
var (
	mathInlineKind = ast.NewNodeKind("MathInline")
	mathBlockKind  = ast.NewNodeKind("MathBlock")
)

type mathInline struct {
	ast.BaseInline
	source []byte
}

func (*mathInline) Kind() ast.NodeKind { return mathInlineKind }

// Dump implements ast.Node.
func (m *mathInline) Dump(source []byte, level int) { ast.DumpHelper(m, source, level, nil, nil) }

type mathInlineParser struct{}

// Trigger implements parser.InlineParser.
func (mathInlineParser) Trigger() []byte { return []byte{'$'} }

// Parse takes $…$ on one line, as pandoc does: no space behind the first dollar nor before the last, and no digit behind
// that, so that "$5 and $6" stays text.
func (mathInlineParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	mark := 1
	if bytes.HasPrefix(line, []byte("$$")) {
		mark = 2
	}
	for i := mark; i+mark <= len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] == '$' && (mark == 1 || line[i:][1] == '$'):
			end := i + mark
			body := line[mark:i]
			if len(bytes.TrimSpace(body)) == 0 || mark == 1 && (isSpace(body[0]) || isSpace(body[len(body)-1]) || end < len(line) && line[end] >= '0' && line[end] <= '9') {
				return nil
			}
			block.Advance(end)
			return &mathInline{source: append([]byte(nil), line[:end]...)}
		}
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

type mathBlock struct{ ast.BaseBlock }

func (*mathBlock) Kind() ast.NodeKind { return mathBlockKind }

// IsRaw implements ast.Node: what is inside is not Markdown.
func (*mathBlock) IsRaw() bool { return true }

// Dump implements ast.Node.
func (m *mathBlock) Dump(source []byte, level int) { ast.DumpHelper(m, source, level, nil, nil) }

type mathBlockParser struct{}

var mathClosedKey = parser.NewContextKey()

// Trigger implements parser.BlockParser.
func (mathBlockParser) Trigger() []byte { return []byte{'$'} }

// Open begins a formula at a line that starts with $$; one that also ends there is a block where nothing follows.
func (mathBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 || !bytes.HasPrefix(line[pos:], []byte("$$")) {
		return nil, parser.NoChildren
	}
	rest := bytes.TrimSpace(line[pos+2:])
	closes := bytes.Index(rest, []byte("$$"))
	if closes >= 0 && closes+2 != len(rest) {
		return nil, parser.NoChildren
	}
	node := &mathBlock{}
	node.Lines().Append(segment)
	pc.Set(mathClosedKey, closes >= 0)
	reader.AdvanceToEOL()
	return node, parser.NoChildren
}

// Continue takes lines up to the one that ends with $$.
func (mathBlockParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if closed, _ := pc.Get(mathClosedKey).(bool); closed {
		return parser.Close
	}
	line, segment := reader.PeekLine()
	node.Lines().Append(segment)
	pc.Set(mathClosedKey, bytes.HasSuffix(bytes.TrimSpace(line), []byte("$$")))
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// Close implements parser.BlockParser.
func (mathBlockParser) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements parser.BlockParser.
func (mathBlockParser) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (mathBlockParser) CanAcceptIndentedLine() bool { return false }

// nodeRenderer writes formulas as they are and highlights code blocks.
type nodeRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (nodeRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(mathInlineKind, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(`<span class="math">` + html.EscapeString(string(n.(*mathInline).source)) + `</span>`)
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(mathBlockKind, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(`<div class="math">` + html.EscapeString(strings.TrimSpace(linesOf(n, source))) + "</div>\n")
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(highlight(linesOf(n, source), string(n.(*ast.FencedCodeBlock).Language(source))))
		}
		return ast.WalkSkipChildren, nil
	})
}

func linesOf(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := 0; i < n.Lines().Len(); i++ {
		s := n.Lines().At(i)
		b.Write(s.Value(source))
	}
	return b.String()
}
