// Package vgpu is a virtual GPU: it executes PTX on the CPU, counts exactly what it does, and replays its memory
// accesses through the caches of a profile.
//
// A module is parsed by package ptx and decoded by an op table (table.go; most rows are generated, lanes_gen.go) into
// 64-byte instructions. A register is an array of 32 lanes (128 bytes, 256 for 64-bit types) in the register file of a
// warp; registers that are never alive together share a slot. A predicate is a 32-bit mask. What the lanes of one access
// touch is worked out once an address pattern (pattern.go).
//
// A warp is a stack of splits, lanes at one place (exec.go, split.go): they come together where their paths join, and can be
// left and taken up, so that lanes, warps and CTAs that wait for each other make progress (worker.go, poll.go). CTAs of a
// cluster or a cooperative launch are resident together (cluster.go). Calls are linked into the entry (link.go).
//
// Device memory is one reserved range of host addresses (memory.go). Host memory stands behind what was touched, and
// procedural contents behind what is looked at: an access goes through the window of its site (resident.go). Identical
// modules are compiled once (modcache.go). A launch may execute a sample of its CTAs (sampling.go).
//
// On amd64 CPUs with AVX2 the blocks' code runs as threaded assembly (threads_amd64.go): one op an instruction, made by
// package asmgen, with the same results and counters as the portable lanes, which execute what it leaves. It goes from block to
// block by itself (jumps.go).
//
// The matrix instructions are mma*.go, wmma.go and wgmma*.go; asynchronous copies async.go, bulk*.go and mbarrier.go: what they
// bring arrives when it is waited for. An observer may watch a CTA (observer.go): the sanitizer (sanitize*.go), or the tracer
// whose traces the package simulate turns into a time (tracer.go, predict.go).
//
// Where an op is added: a row of lanegen for what works lane by lane, else a row with a decoder in the op_*.go file of its
// subject; assembly for it in asmgen. Tests compare each with an oracle and the lane paths with each other.
//
// Counters do not depend on the number of workers: they are sums, and the caches replay the accesses of CTA after CTA in
// the grid's order (caches.go, package cache).
package vgpu

//go:generate go run ./lanegen/cmd
