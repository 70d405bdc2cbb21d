package session

import "memwall/kernel/cell"

// Complete lists what may stand at the cursor (in code points); start and end are what a match replaces.
func (s *Session) Complete(code string, cursor int) (matches, types, signatures []string, start, end int) {
	c := s.cells.Load().Complete(code, cursor)
	for _, m := range c.Candidates {
		matches, types, signatures = append(matches, m.Text), append(types, m.Kind), append(signatures, m.Signature)
	}
	return matches, types, signatures, c.Start, c.End
}

// Inspect describes the name at the cursor; with detail 1 it says all that is known.
func (s *Session) Inspect(code string, cursor, detail int) (d cell.Description, found bool) {
	return s.cells.Load().Inspect(code, cursor)
}

// IsComplete answers "complete", "incomplete" with the indentation of the next line, or "invalid".
func (s *Session) IsComplete(code string) (status, indent string) { return cell.IsComplete(code) }
