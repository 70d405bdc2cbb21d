package vgpu

import (
	"fmt"

	"memwall/gpu/internal/driver"
)

// exchangeApart stops a launch whose lanes meet at different instructions that exchange values.
func (w *warp) exchangeApart(set []int, lanes uint32) {
	first := w.syncOf(&w.stack[set[0]])
	for _, i := range set {
		if s := w.syncOf(&w.stack[i]); s.id != first.id {
			body := w.w.p.f.Body
			w.w.stop(w, first.id, int(lowest(lanes)), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf(
				"lanes of one member mask meet at different instructions: here and at line %d (%s)", body[s.id].Line, body[s.id].Spelling), Mend: "let them meet at one, behind the branch"})
		}
	}
}
