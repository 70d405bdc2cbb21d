package kernels

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"memwall/gpu"
)

// facts are the registers, spills, stack and shared bytes that NVIDIA's assembler decided, by compute capability ("9.0") and
// function, from <family>/facts.tsv. Rows made from another source than the present one are left out.
func (k *Kernel) facts() map[string]map[string]gpu.FunctionFacts {
	text, err := fs.ReadFile(files, k.Family()+"/facts.tsv")
	if err != nil {
		return nil // registers are then estimated, and marked so
	}
	table, err := parseFacts(string(text), k.name, k.sourceHash())
	if err != nil {
		return nil // a test parses every table
	}
	return table
}

// parseFacts reads the rows of one kernel.
func parseFacts(text, name, hash string) (map[string]map[string]gpu.FunctionFacts, error) {
	table := map[string]map[string]gpu.FunctionFacts{}
	compiler := "NVRTC"
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			if _, rest, ok := strings.Cut(line, " with NVRTC "); ok {
				version, _, _ := strings.Cut(rest, ";")
				compiler = "NVRTC " + version
			}
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 8 {
			return nil, fmt.Errorf("facts.tsv:%d: %d columns, want 8", i+1, len(fields))
		}
		if fields[0] != name || fields[7] != hash {
			continue
		}
		var numbers [4]int
		for j := range numbers {
			n, err := strconv.Atoi(fields[3+j])
			if err != nil || n < 0 {
				return nil, fmt.Errorf("facts.tsv:%d: column %d is %q, want a count", i+1, 4+j, fields[3+j])
			}
			numbers[j] = n
		}
		if table[fields[2]] == nil {
			table[fields[2]] = map[string]gpu.FunctionFacts{}
		}
		table[fields[2]][fields[1]] = gpu.FunctionFacts{Registers: numbers[0], SpillBytes: numbers[1], LocalBytes: numbers[2], SharedBytes: numbers[3],
			Source: "cubin sm_" + strings.ReplaceAll(fields[2], ".", "") + ", " + compiler}
	}
	return table, nil
}
