// Package cache replays what the CTAs of a launch touched in global memory through the caches of a GPU: one L1 an SM, and one
// L2 over DRAM.
//
// Each CTA leaves a trace (entry.go). Traces are replayed in the grid's order, whoever executed them: CTA i runs on SM i mod
// SMs; the CTAs that are resident together, a wave, take turns of a few lines (replay.go). Loads look at the L1 of their SM
// first (first.go); what misses there, stores and atomics go to one L2, which writes back (second.go). Lines have 128 bytes in
// sectors of 32; L1 fetches the sectors that are asked for, L2 fetches from DRAM in pairs of 64 bytes. A sector that stores have
// filled only in part is completed from DRAM before it is written back. Both replace the least recently used line of a set;
// eviction hints of PTX choose who leaves first.
//
// Waiting for the host's memory is what a replay costs, so it keeps together what is used together. The SMs of a wave go through
// their L1 one after the other, each with its own small state, on as many workers as there are; only what misses is then put
// into the wave's order for L2. And as long as no set of L2 has had more lines than ways, nothing can have been evicted: then a
// line's state is looked up by its address, beside those of its neighbours, and no set is searched (lines.go, sets.go).
//
// The counts do not depend on any of this: a test compares them with those of a plain replay, line by line.
package cache
