// Command cmd writes the driver shim's generated files; go generate runs it in gpu/internal/cuda.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"memwall/gpu/internal/cuda/shimgen"
)

func main() {
	files, err := shimgen.Files("shim")
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join("..", filepath.FromSlash(name)), []byte(text), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "shimgen: "+err.Error())
		os.Exit(1)
	}
}
