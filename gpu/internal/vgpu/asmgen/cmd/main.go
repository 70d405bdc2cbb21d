// Command cmd writes asm_amd64.s and asm_table_amd64.go into the current directory.
package main

import (
	"fmt"
	"os"

	"memwall/gpu/internal/vgpu/asmgen"
)

func main() {
	assembly, table, err := asmgen.Generate()
	if err == nil {
		err = os.WriteFile("asm_amd64.s", assembly, 0o644)
	}
	if err == nil {
		err = os.WriteFile("asm_table_amd64.go", table, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "asmgen:", err)
		os.Exit(1)
	}
}
