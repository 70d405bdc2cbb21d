//go:build !(cuda && cgo && linux)

package install

// builtWithCUDA says whether this build drives NVIDIA GPUs.
const builtWithCUDA = false
