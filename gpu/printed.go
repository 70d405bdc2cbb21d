package gpu

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"memwall/gpu/internal/driver"
)

// Of a launch's printf so many lines are shown; where there are more, the first and the last of them.
const (
	printedFirst = 100
	printedLast  = 20
)

// printed is what the last launch that printed something has printed.
var printed atomic.Pointer[string]

// Printed is what the last launch has printed by printf in device code, CTA after CTA, whole: cells show long output folded.
// It is empty where no launch has printed.
func Printed() string {
	if p := printed.Load(); p != nil {
		return *p
	}
	return ""
}

// showPrinted writes what the launch printed by printf, before anything that is said about it.
func showPrinted(r *driver.Result, err error) {
	text := ""
	var fault *driver.Fault
	switch {
	case r != nil:
		text = r.Printed
	case errors.As(err, &fault):
		text = fault.Printed
	}
	if text == "" {
		return
	}
	printed.Store(&text)
	io.WriteString(os.Stdout, folded(text))
}

// folded leaves out the lines between the first and the last of a long text, and says how many.
func folded(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	hidden := len(lines) - printedFirst - printedLast
	if hidden <= printedLast { // not worth a fold
		return text
	}
	return strings.Join(lines[:printedFirst], "") + fmt.Sprintf("… %s of printf left out: gpu.Printed() gives all %s …\n", plural(hidden, "line", "lines"), grouped(int64(len(lines)))) +
		strings.Join(lines[printedFirst+hidden:], "")
}
