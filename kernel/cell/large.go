package cell

import (
	"go/ast"
	"go/types"
)

// mostArray is how many bytes an array type of a cell may have. The interpreter makes and clears every array value whole, and
// copies it where the Go compiler would not; slices have no such limit.
const mostArray = 1 << 30

// largeArrays refuses array types whose values would take the cell seconds and the machine its memory.
func (c *compilation) largeArrays() (ds []Diagnostic) {
	for e, tv := range c.info.Types {
		if !tv.IsType() {
			continue
		}
		a, ok := types.Unalias(tv.Type).(*types.Array)
		if !ok {
			continue
		}
		if _, written := e.(*ast.ArrayType); !written {
			continue
		}
		n := sizeOf(a)
		if n <= mostArray {
			continue
		}
		part, offset, ok := c.s.files.at(e.Pos())
		if !ok {
			continue
		}
		line, column := part.src.place(offset)
		ds = append(ds, Diagnostic{
			Place: Place{part.src.cell, line, column, part.src.line(line)}, offset: offset, refused: true,
			Message: "an array of more than 1 GiB cannot be used in a cell: the interpreter makes and copies arrays whole",
			Hint:    "make it a slice: make([]T, n)",
		})
	}
	return ds
}

// sizeOf is a type's size in bytes, 0 where it depends on a type parameter.
func sizeOf(t types.Type) (n int64) {
	defer func() {
		if recover() != nil {
			n = 0
		}
	}()
	if n = sizes.Sizeof(t); n < 0 {
		return mostArray + 1 // more than an int64 holds
	}
	return n
}
