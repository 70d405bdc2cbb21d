// Package notebook reads, runs, writes and renders Jupyter notebooks (nbformat 4.0 to 4.5,
// https://nbformat.readthedocs.io/en/latest/format_description.html) without Jupyter: Read and Write keep every field that
// they don't know, Run executes the code cells with a kernel.Evaluator, and HTML makes a self-contained page.
package notebook

import (
	"encoding/json"
	"strings"
)

// Object is a JSON object whose values are kept as they were written.
type Object map[string]json.RawMessage

// Notebook is one .ipynb file.
type Notebook struct {
	Cells    []*Cell
	Metadata Object
	Major    int // nbformat: 4
	Minor    int
	extra    Object
}

// Kinds of cells.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// Cell is one cell; ExecutionCount is 0 where a code cell has none.
type Cell struct {
	Type           string
	ID             string // nbformat 4.5; "" before
	Source         string
	Metadata       Object
	ExecutionCount int
	Outputs        []*Output
	extra          Object // attachments and whatever else the file has
}

// Kinds of outputs.
const (
	Stream        = "stream"
	DisplayData   = "display_data"
	ExecuteResult = "execute_result"
	ErrorOutput   = "error"
)

// Output is one output of a code cell.
type Output struct {
	Type           string
	Name           string         // of a stream: "stdout" or "stderr"
	Text           string         // of a stream
	Data           map[string]any // MIME type → string, or json.RawMessage for JSON types
	Metadata       Object
	ExecutionCount int // of an execute_result
	EName, EValue  string
	Traceback      []string
	extra          Object
	pending        []byte // stream text of the running cell, not yet in Text
}

// HasCounts reports whether some code cell has an execution count.
func (nb *Notebook) HasCounts() bool {
	for _, c := range nb.Cells {
		if c.ExecutionCount != 0 {
			return true
		}
		for _, o := range c.Outputs {
			if o.ExecutionCount != 0 {
				return true
			}
		}
	}
	return false
}

// StripCounts removes the execution counts of cells and outputs, which change with every run and say nothing.
func (nb *Notebook) StripCounts() {
	for _, c := range nb.Cells {
		c.ExecutionCount = 0
		for _, o := range c.Outputs {
			o.ExecutionCount = 0
		}
	}
}

// CodeCells counts the cells that Run executes: code cells that are not empty and not tagged skip-execution.
func (nb *Notebook) CodeCells() int {
	n := 0
	for _, c := range nb.Cells {
		if c.runs() {
			n++
		}
	}
	return n
}

func (c *Cell) runs() bool {
	return c.Type == Code && strings.TrimSpace(c.Source) != "" && !c.HasTag("skip-execution")
}

// HasTag reports whether the cell's metadata carry a tag.
func (c *Cell) HasTag(tag string) bool {
	var tags []string
	if json.Unmarshal(c.Metadata["tags"], &tags) != nil {
		return false
	}
	for _, t := range tags {
		if t == tag {
			return true
		}
	}
	return false
}

// Language is the language of the code cells by the notebook's metadata, "go" where it says nothing.
func (nb *Notebook) Language() string {
	var info struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(nb.Metadata["language_info"], &info) == nil && info.Name != "" {
		return info.Name
	}
	var spec struct {
		Language string `json:"language"`
	}
	if json.Unmarshal(nb.Metadata["kernelspec"], &spec) == nil && spec.Language != "" {
		return spec.Language
	}
	return "go"
}
