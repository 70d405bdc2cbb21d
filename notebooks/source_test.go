package notebooks_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"memwall/notebooks"
)

// TestNotebooksKeepTheRules checks what every notebook of the course keeps: short cells, unique ids, no execution counts, a
// size that a diff can hold, folded answers that close, a question on top and tasks at the end.
func TestNotebooksKeepTheRules(t *testing.T) {
	names, err := fs.Glob(notebooks.Files, "*.ipynb")
	if err != nil || len(names) == 0 || names[0] != notebooks.First {
		t.Fatalf("notebooks %v, %v", names, err)
	}
	for _, name := range names {
		data, err := notebooks.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 200<<10 {
			t.Errorf("%s has %d bytes, more than 200 KiB", name, len(data))
		}
		var nb struct {
			Cells []struct {
				Type   string   `json:"cell_type"`
				ID     string   `json:"id"`
				Count  *int     `json:"execution_count"`
				Source []string `json:"source"`
			} `json:"cells"`
			Metadata struct {
				Kernelspec struct{ Name string } `json:"kernelspec"`
			} `json:"metadata"`
			Format int `json:"nbformat"`
			Minor  int `json:"nbformat_minor"`
		}
		if err := json.Unmarshal(data, &nb); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if nb.Format != 4 || nb.Minor != 5 || nb.Metadata.Kernelspec.Name != "memwall" {
			t.Errorf("%s: format %d.%d, kernelspec %q", name, nb.Format, nb.Minor, nb.Metadata.Kernelspec.Name)
		}
		seen := map[string]bool{}
		var all strings.Builder
		for _, c := range nb.Cells {
			text := strings.Join(c.Source, "")
			all.WriteString(text + "\n")
			switch {
			case c.ID == "" || seen[c.ID]:
				t.Errorf("%s: cell id %q is empty or used twice", name, c.ID)
			case c.Type == "code" && (len(c.Source) > 12 || len(c.Source) == 0):
				t.Errorf("%s: cell %s has %d lines", name, c.ID, len(c.Source))
			case c.Count != nil:
				t.Errorf("%s: cell %s has an execution count", name, c.ID)
			case strings.Count(text, "<details>") != strings.Count(text, "</details>"):
				t.Errorf("%s: cell %s folds something and does not close it", name, c.ID)
			}
			seen[c.ID] = true
		}
		first := strings.Join(nb.Cells[0].Source, "")
		if !strings.Contains(first, "?") || !strings.Contains(all.String(), "## On your own") || !strings.Contains(all.String(), "exercise.Check(") {
			t.Errorf("%s: no question on top, no exercise, or no tasks at the end", name)
		}
	}
}
