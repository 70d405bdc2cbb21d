// Package pipe carries messages between the Jupyter kernel process and its worker process.
//
// The two are joined by a pair of anonymous pipes that the worker inherits: file descriptors on unix, handles on Windows;
// nothing listens on a port. A frame is a length (4 bytes, little endian), a kind (1 byte) and the fields of one message
// (message.go): integers as varints, texts as length and bytes, MIME bundles as key, form, bytes. Prints do not come this
// way: they are written to the worker's file descriptors 1 and 2, and Mark (mark.go) says where in them a message belongs.
//
// The worker runs user code, so what arrives from it is not trusted: a frame is limited to MaxFrame, a buffer grows only
// as bytes arrive, and a malformed message is an error.
package pipe
