// Command cmd writes lanes_gen.go into the current folder; `go generate ./gpu/internal/vgpu` runs it.
package main

import (
	"fmt"
	"os"

	"memwall/gpu/internal/vgpu/lanegen"
)

func main() {
	text, err := lanegen.Generate()
	if err == nil {
		err = os.WriteFile("lanes_gen.go", text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lanegen:", err)
		os.Exit(1)
	}
}
