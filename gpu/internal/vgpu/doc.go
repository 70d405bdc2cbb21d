// Package vgpu is a virtual GPU: it executes PTX on the CPU, counts exactly what it does, and replays its memory
// accesses through the caches of a profile.
//
// A module is parsed by package ptx and decoded by an op table (table.go; most rows are generated, lanes_gen.go) into
// 64-byte instructions. A register is an array of 32 lanes (128 bytes, 256 for 64-bit types) in the register file of a
// warp; registers that are never alive together share a slot. A predicate is a 32-bit mask. Warps run from barrier to
// barrier, a CTA at a time on each worker; lanes that part at a branch come together again at its immediate
// post-dominator. What the lanes of one access touch is worked out once an address pattern (pattern.go).
//
// Device memory is one reserved range of host addresses (memory.go). Host memory stands behind what was touched, and
// procedural contents behind what is looked at: an access goes through the window of its site (resident.go). Identical
// modules are compiled once (modcache.go). A launch may execute a sample of its CTAs (sampling.go).
//
// On amd64 CPUs with AVX2 the blocks' code runs as threaded assembly (threads_amd64.go): one op an instruction, made by
// package asmgen, with the same results and counters as the portable lanes, which execute what it leaves.
//
// Counters do not depend on the number of workers: they are sums, and the caches replay the accesses of CTA after CTA in
// the grid's order (cache.go).
package vgpu

//go:generate go run ./lanegen/cmd
