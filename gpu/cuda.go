package gpu

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"memwall/gpu/internal/cuda"
)

// openCUDA opens an NVIDIA GPU by a canonical name, "cuda:0".
func openCUDA(full string) (*Device, error) {
	ordinal, _ := strconv.Atoi(strings.TrimPrefix(full, "cuda:"))
	raw, err := cuda.Open(ordinal)
	if err != nil {
		return nil, cudaError("open "+strconv.Quote(full), err)
	}
	return newDevice(full, raw), nil
}

// canonicalCUDA completes "cuda" and "cuda:1".
func canonicalCUDA(name, number string) (string, error) {
	if number == "" {
		number = "0"
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || len(number) > 3 {
		return "", fail("the first GPU is cuda:0, the next cuda:1", "open %q: %q is no number of a GPU", name, number)
	}
	return fmt.Sprintf("cuda:%d", n), nil
}

// cudaError makes the lines of a *cuda.NoDriver those of an *Error.
func cudaError(what string, err error) error {
	var none *cuda.NoDriver
	if errors.As(err, &none) {
		return fail(none.How, "%s: %s", what, none.What)
	}
	return wrap(what, err)
}

// CUDAAvailable is nil where NVIDIA GPUs can be opened, or says why they cannot and how to mend it.
func CUDAAvailable() error {
	if err := cuda.Available(); err != nil {
		return cudaError("NVIDIA GPU", err)
	}
	return nil
}

// cudaDevices are the rows of NVIDIA GPUs in Devices: one each, or one that says why there is none.
func cudaDevices(chosen string) DeviceList {
	if err := cuda.Available(); err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		return DeviceList{{Name: "cuda", Model: "NVIDIA GPU", Unavailable: why}}
	}
	var out DeviceList
	for i := range cuda.Count() {
		name := fmt.Sprintf("cuda:%d", i)
		p, err := cuda.ProfileOf(i)
		if err != nil {
			out = append(out, DeviceInfo{Name: name, Model: "NVIDIA GPU", Unavailable: strings.ReplaceAll(err.Error(), "\n", "; ")})
			continue
		}
		info := infoOf(name, p)
		info.Default = name == chosen
		out = append(out, info)
	}
	return out
}
