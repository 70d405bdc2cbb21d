// Package notebooks is the course: one notebook a question, each runs in seconds without a GPU.
package notebooks

import "embed"

// Files are the notebooks as they were committed, with the outputs of the virtual H200.
//
//go:embed *.ipynb
var Files embed.FS

// First is the notebook that a newcomer begins with.
const First = "01-the-memory-wall.ipynb"
