// penalty/1_repetition: lowers the logits of tokens that a sequence has already: x = x > 0 ? x/r : x*r, then x - presence.
//
// Predecessor: none; the definition (Keskar et al., 2019), with the presence penalty of OpenAI's interface.
// Idea: a CTA a row notes each token of the history in a bitmap in shared memory; only the thread that set the bit changes the
//   logit, so that a token that stands there twice is lowered once, and no two threads meet.
// Expect: the history is read once; a load and a store of 4 bytes for each different token, a sector each where they lie apart.
// A profiler should show: nothing worth mending: some microseconds of launch.
//
// The Go loop: for b { for t := range unique(history[b]) { x := &logits[b][t]; if *x > 0 { *x /= r } else { *x *= r }; *x -= presence } }

extern "C" __global__ void __launch_bounds__(256) penalty_repetition(float *__restrict__ logits, const int *__restrict__ history,
                                                                     int columns, int length, float repetition, float presence) {
  extern __shared__ unsigned seen[];
  for (int i = threadIdx.x; i < (columns + 31) / 32; i += 256) seen[i] = 0;
  __syncthreads();
  float *row = logits + static_cast<size_t>(blockIdx.x) * columns;
  const int *tokens = history + static_cast<size_t>(blockIdx.x) * length;
  for (int i = threadIdx.x; i < length; i += 256) {
    int token = tokens[i];
    if (token < 0) continue;  // padding
    unsigned bit = 1u << token % 32;
    if (atomicOr(&seen[token / 32], bit) & bit) continue;
    float x = row[token];
    row[token] = (x > 0 ? x / repetition : x * repetition) - presence;
  }
}
