// Package gpu is what a cell sees of a GPU: devices, tensors, modules of PTX, launches and what they cost.
//
// One API drives every device. Open gives a Device by name; its methods make tensors and load modules; a Function of a
// module is launched with ordinary Go values, checked against the parameters that the PTX declares. Each launch is
// recorded with its counters, and Measure, Sweep, Compare and Sample put records together as reports. What is too large
// to run whole is sampled (Sample, SampleFor), what is too large to hold is made from a seed (Device.Procedural), and what
// never ends is stopped (Device.SetLimit). Every figure says where it
// comes from: MEASURED, COUNTER, EXECUTED, MODELLED, DATASHEET or FORMULA.
//
// Functions that make something a cell wants at once (Empty, Zeros, From, Measure …) give one value and panic with an
// *Error; everything else returns it.
//
//go:generate go run ./internal/nvrtc/sanitizegen testdata/sanitize
package gpu
