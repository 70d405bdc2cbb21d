// Package bench measures the virtual GPU: what each job costs on each lane path, what counting costs, what a second core
// brings, and how other programs that execute the same job on a CPU compare. Every result is checked against a float64
// reference in the same run. Times are CPU time, the least of several runs, all counters on unless a column says otherwise.
//
// The CUDA C++ lies in cuda/, with the PTX that kernelgen made of it; two jobs launch PTX of package kernels, which the
// caller hands over, since this package may not import it.
package bench

//go:generate go run memwall/gpu/internal/nvrtc/kernelgen -ptx-only cuda
