// probe/8_launch: one[0] = 1, by the first of some CTAs: what a launch costs that does nothing else.
//
// Predecessor: every other probe hides the launch behind its work.
// Idea: no work; one word is written so that a check can see that it ran.
// Expect: one store of 4 bytes in one sector, whatever the number of CTAs; no loads, no FLOPs.
// A profiler should show: a few microseconds, of which the SMs are busy for less than one.
//
// The Go loop: one[0] = 1

extern "C" __global__ void probe_launch(int *__restrict__ one) {
  if (blockIdx.x == 0 && threadIdx.x == 0) one[0] = 1;
}
