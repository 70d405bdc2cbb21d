// Package libcuda runs other people's CUDA programs on the virtual GPU: a libcuda.so.1 that unmodified clients load. It has two
// halves. libcuda.so.1 itself is small C, the forwarders of the driver shim; its cuInit loads the Go half, libmemwall-vdrv.so, so that
// importing a CUDA library and forking before cuInit cost nothing. After cuInit a child of fork gets "not initialized", as from
// NVIDIA's driver.
//
// What cannot work is refused in a line: machine code without PTX (cubins, fat binaries), and the undocumented tables that NVIDIA's
// CUDA runtime library asks the driver for, on which PyTorch and CuPy stand.
package libcuda
