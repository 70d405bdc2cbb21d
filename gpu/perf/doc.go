// Package perf is the shared vocabulary of memwall's numbers: figures with their source, counters with units and formulas,
// device profiles as data, occupancy, roofline, the time model and the rules of advice.
package perf
