// Package shim is the C layer below gorgonia.org/cu: every function of the CUDA driver API as a forwarder that opens the NVIDIA
// driver at its first call, or asks the virtual GPU (package vdrv). gorgonia.org/cu is compiled against include/cuda.h, which is
// ours, and linked with lib/libcuda.a, which is empty: the forwarders stand in its place. So a binary starts where there is no
// driver, and Open says why there is none.
//
// api.txt is the table of functions and results.txt that of results; shimgen makes the rest from them.
package shim
