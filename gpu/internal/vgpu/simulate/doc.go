// Package simulate predicts how long a launch takes on a GPU: a cycle simulation of one SM on traces of the CTAs that it would
// run. PTX becomes machine code path by path (unrolled, address arithmetic folded, neighbouring shared loads merged, list
// scheduled); four schedulers issue it oldest warp first under a scoreboard; a load/store unit, an L1, and the SM's share of L2
// and DRAM answer. What one SM took is extended to the whole grid at the steady rate.
//
// The parameters are data: of a GPU in perf.Profile, of an architecture in machines. Everything is a count of cycles of a
// model, deterministic for the same input.
package simulate
