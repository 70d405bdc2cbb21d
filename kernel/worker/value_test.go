package worker

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

type point struct {
	X, Y float64
	name string
}

type celsius float64

func (c celsius) String() string { return "warm" }

func TestText(t *testing.T) {
	numbers := make([]int, 250)
	for i := range numbers {
		numbers[i] = i
	}
	squares := map[int]int{}
	for i := range 120 {
		squares[i] = i * i
	}
	var array [101]byte
	head := make([]string, 0, 100)
	for i := range 100 {
		head = append(head, strconv.Itoa(i))
	}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"int", 2, "2"},
		{"string", "a\nb", "a\nb"},
		{"nil", nil, "<nil>"},
		{"nil pointer", (*point)(nil), "<nil>"},
		{"struct", point{1, 2, "p"}, "{X:1 Y:2 name:p}"},
		{"pointer", &point{1, 2, "p"}, "&{X:1 Y:2 name:p}"},
		{"slice", []int{1, 2, 3}, "[1 2 3]"},
		{"nil slice", []int(nil), "[]"},
		{"bytes", []byte("hi"), "[104 105]"},
		{"map", map[string]int{"b": 2, "a": 1}, "map[a:1 b:2]"},
		{"stringer", celsius(3), "warm"},
		{"stringers", []celsius{3, 4}, "[warm warm]"},
		{"duration", 1500 * time.Millisecond, "1.5s"},
		{"error", errors.New("broken"), "broken"},
		{"NaN", math.NaN(), "NaN"},
		{"100 elements", numbers[:100], "[" + strings.Join(head, " ") + "]"},
		{"250 elements", numbers, "[" + strings.Join(head, " ") + " … 150 more, 250 in all]"},
		{"array", array, "[" + strings.TrimSpace(strings.Repeat("0 ", 100)) + " … 1 more, 101 in all]"},
		{"structs in lines", []point{{1, 2, strings.Repeat("a", 30)}, {3, 4, strings.Repeat("b", 30)}},
			"[\n  {X:1 Y:2 name:" + strings.Repeat("a", 30) + "}\n  {X:3 Y:4 name:" + strings.Repeat("b", 30) + "}\n]"},
		{"map of slices in lines", map[string][]int{"b": numbers[:20], "a": numbers[:30]},
			"map[\n  a: [" + strings.Join(head[:30], " ") + "]\n  b: [" + strings.Join(head[:20], " ") + "]\n]"},
		{"short nested", [][]int{{1, 2}, {3}}, "[[1 2] [3]]"},
		{"long string", strings.Repeat("é", maxText+1234), strings.Repeat("é", maxText) + "… 1,234 characters more, 21,234 in all"},
		{"string that just fits", strings.Repeat("é", maxText), strings.Repeat("é", maxText)},
	} {
		if got := text(c.value, ""); got != c.want {
			t.Errorf("%s: %.300q\nwant %.300q", c.name, got, c.want)
		}
	}
	got := text(squares, "")
	if !strings.HasPrefix(got, "map[0:0 1:1 2:4 ") || !strings.HasSuffix(got, " 99:9801 … 20 more, 120 in all]") {
		t.Errorf("long map: %s", got)
	}
	if got := text(func(int) string { return "" }, "func(int) string"); got != "func(int) string" {
		t.Errorf("function: %s", got)
	}
	start := time.Now()
	if got := text(make([][]float64, 5_000_000), ""); !strings.HasSuffix(got, "… 4,999,900 more, 5,000,000 in all\n]") {
		t.Errorf("…%s", got[max(0, len(got)-60):])
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("the head of a long slice took %v", d)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", 100000: "100,000", -1000: "-1,000", -100: "-100"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
