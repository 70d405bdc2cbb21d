//go:build unix && !linux

package pipe

import "os"

// shareMemory makes memory that another process can map: a file without a name.
func shareMemory() (*os.File, error) {
	f, err := os.CreateTemp("", "memwall-prints-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	return f, f.Truncate(printsBytes)
}
