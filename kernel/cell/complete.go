package cell

// Completion is what may stand at a cursor; Start and End are code points.
type Completion struct {
	Candidates []Candidate
	Start, End int
}

// A Candidate is one completion.
type Candidate struct{ Text, Kind, Signature string }

// Complete lists what may stand at the cursor, in code points from the start of the text.
func (s *Session) Complete(text string, cursor int) Completion {
	return Completion{Start: cursor, End: cursor}
}

// Description is what is known about a name.
type Description struct{ Title, Doc string }

// Text is the description as plain text.
func (d Description) Text() string { return d.Title + "\n\n" + d.Doc }

// Markdown is the description as Markdown.
func (d Description) Markdown() string { return "```go\n" + d.Title + "\n```\n" + d.Doc }

// Inspect describes the name at the cursor.
func (s *Session) Inspect(text string, cursor int) (Description, bool) { return Description{}, false }

// IsComplete answers "complete", "incomplete" or "invalid".
func IsComplete(text string) (status, indent string) { return "unknown", "" }

// IsExpression returns an error when a text is not one expression.
func IsExpression(text string) error { return nil }
