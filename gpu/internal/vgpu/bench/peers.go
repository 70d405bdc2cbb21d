package bench

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
)

//go:embed peers/pocl.py
var poclProgram string

//go:embed peers/ptoxide/Cargo.toml
var ptoxideManifest []byte

//go:embed peers/ptoxide/Cargo.lock
var ptoxideLock []byte

//go:embed peers/ptoxide/main.rs
var ptoxideMain []byte

const (
	poclTimes    = 1  // we count, it does not, and it has to be slower all the same
	ptoxideTimes = 50 // it executes PTX too, a thread at a time
)

// PoCL is OpenCL on this CPU; python gives an interpreter that has pyopencl and PoCL.
func PoCL(python func(ctx context.Context) (string, error)) Peer {
	return Peer{Name: "PoCL", Times: poclTimes, Reference: map[string]float64{"sgemm": 135, "gemv": 27, "softmax": 46}, Start: func(ctx context.Context) ([]string, error) {
		interpreter, err := python(ctx)
		return []string{interpreter, "-c", poclProgram}, err
	}}
}

// Ptoxide is ptoxide 0.1.0; build makes a binary from the files of a Rust program.
func Ptoxide(build func(ctx context.Context, name string, files map[string][]byte) (string, error)) Peer {
	return Peer{Name: "ptoxide", Times: ptoxideTimes, Start: func(ctx context.Context) ([]string, error) {
		binary, err := build(ctx, "memwall-peer-ptoxide", map[string][]byte{"Cargo.toml": ptoxideManifest, "Cargo.lock": ptoxideLock, "main.rs": ptoxideMain})
		if err != nil {
			return nil, err
		}
		ptx := filepath.Join(filepath.Dir(binary), "sgemm.ptx")
		return []string{binary, ptx}, os.WriteFile(ptx, []byte(ptxOf("sgemm/1_tile16")), 0o644)
	}}
}
