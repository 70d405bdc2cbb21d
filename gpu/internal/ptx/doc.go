// Package ptx reads PTX text, the assembly language of NVIDIA GPUs as compilers emit it (PTX ISA 6.0 to 8.8), and gives
// back instructions whose names are resolved: each register is an index into its function's table, each label an index
// into its body, each symbol a variable. What an instruction means, and whether it is supported, is left to the device.
//
// Parse never panics and takes time and memory in proportion to the text; every error names line, column and what is
// wrong, and shows the source line.
package ptx
