// Package vdrv answers the CUDA driver API with the virtual GPU: functions exported to C, which the driver shim finds by name.
// Everything is synchronous: a launch has run when its call returns, and a stream only records while it is captured or waits for a
// value. What a launch would have taken on the GPU that the profile describes moves a clock, which events read.
//
// A handle is a number in a table, so that C holds no Go pointer. Device addresses are the host's, so that managed, pinned and
// mapped memory need no translation. A fault comes from the next call and stays until the context is reset, as a driver's does.
package vdrv
