package session

import "testing"

// TestLargeArrays: arrays that would take the machine's memory are refused, others are not.
func TestLargeArrays(t *testing.T) {
	const why = "an array of more than 1 GiB cannot be used in a cell: the interpreter makes and copies arrays whole"
	const way = "\nmake it a slice: make([]T, n)>"
	notebook{"large arrays", []string{
		"var a [1<<33]byte\na[5]", "<Refused cell 1, 1:7: " + why + "\n    var a [1<<33]byte\n          ^" + way,
		"x := 1\ntype T struct{ b [1<<20][1<<20]int8 }", "<Refused cell 2, 2:18: " + why + "\n    type T struct{ b [1<<20][1<<20]int8 }\n                     ^" + way,
		"func f() int { var p *[1<<40]int; return len(p) }\nf()", "<Refused cell 3, 1:23: " + why + "\n    func f() int { var p *[1<<40]int; return len(p) }\n                          ^" + way,
		"var b [1<<20]byte\nlen(b)", "[int: 1048576]",
		"func g[T any](x T) [3]T { return [3]T{x, x, x} }\ng(2)", "[[3]int: [2 2 2]]",
	}}.test(t)
}
