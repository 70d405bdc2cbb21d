// sample.cuh: choosing a token from a row of logits, by a CTA of 512 threads.
//
// A logit x has the mass exp((x - top) / temperature), top the largest of its row, in units of 2^-31. Whole numbers make every
// sum independent of the order in which it is added up, so that a draw depends on seed and position alone; a token whose mass is
// under half a unit is never drawn. NaN is no candidate.
#pragma once

constexpr int threads = 512;

struct Row {
  const float *logits;
  int columns;
  float top, rate;  // rate: log2(e) / temperature; infinite where only the largest counts
};

// order_key is a whole number that orders as the logits do; 0 for NaN.
static __device__ __forceinline__ unsigned order_key(float x) {
  unsigned bits = __float_as_uint(x + 0.0f);  // -0 becomes 0
  return x != x ? 0 : bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static __device__ __forceinline__ unsigned mass(const Row &row, float x) {
  if (x == row.top) return 1u << 31;
  return __float2uint_rn(exp2f((x - row.top) * row.rate) * 2147483648.0f);  // of -inf and NaN: 0
}

// cta_total adds whole numbers over the CTA; every thread has the sum.
static __device__ __forceinline__ unsigned long long cta_total(unsigned long long sum) {
  __shared__ unsigned long long part[threads / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < threads / 32; i++) sum += part[i];
  return sum;
}

// look reads a row's largest logit.
static __device__ __forceinline__ Row look(const float *logits, int columns, float temperature) {
  __shared__ float part[threads / 32];
  const float inf = __int_as_float(0x7f800000);
  float top = -inf;
  for (int c = threadIdx.x; c < columns; c += threads) top = fmaxf(top, logits[c]);  // passes over NaN
  for (int lanes = 16; lanes > 0; lanes /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, lanes));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = top;
  __syncthreads();
  for (int i = 0; i < threads / 32; i++) top = fmaxf(top, part[i]);
  __syncthreads();
  return Row{logits, columns, top, temperature > 0 ? 1.442695041f / temperature : inf};
}

// threshold is the largest key such that the candidates (keys from least on) at or above it weigh at least need; a candidate
// weighs 1, or its mass. Four rounds fix a byte of the key each, from a histogram of the byte among those that agree so far.
template <bool Mass>
static __device__ unsigned threshold(const Row &row, unsigned least, unsigned long long need) {
  __shared__ unsigned long long weight[256];
  __shared__ unsigned chosen;
  __shared__ unsigned long long above;
  unsigned prefix = 0;
  unsigned long long over = 0;  // weight above the prefix's range
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < 256; i += threads) weight[i] = 0;
    __syncthreads();
    for (int c = threadIdx.x; c < row.columns; c += threads) {
      float x = row.logits[c];
      unsigned k = order_key(x);
      if (k < least || k == 0 || shift < 24 && k >> (shift + 8) != prefix) continue;
      unsigned long long w = Mass ? mass(row, x) : 1;
      if (w) atomicAdd(&weight[k >> shift & 255], w);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned long long sum = over;
      int bin = 255;
      while (bin > 0 && sum + weight[bin] < need) sum += weight[bin--];
      chosen = bin, above = sum;
    }
    __syncthreads();
    prefix = prefix << 8 | chosen;
    over = above;
    __syncthreads();
  }
  return max(prefix, max(least, 1u));
}

// top_k keeps the k largest logits and all that equal the last of them; 0 keeps all.
static __device__ __forceinline__ unsigned top_k(const Row &row, int k) { return k > 0 && k < row.columns ? threshold<false>(row, 1, k) : 1; }

// kept_mass is the mass of the candidates.
static __device__ __forceinline__ unsigned long long kept_mass(const Row &row, unsigned least) {
  unsigned long long sum = 0;
  for (int c = threadIdx.x; c < row.columns; c += threads) {
    float x = row.logits[c];
    if (order_key(x) >= least) sum += mass(row, x);
  }
  return cta_total(sum);
}

// top_p keeps the fewest largest candidates whose mass is at least the share p of all of theirs, and what equals the last;
// p of 1 or more keeps all.
static __device__ __forceinline__ unsigned top_p(const Row &row, unsigned least, float p) {
  if (p >= 1) return least;
  unsigned long long need = static_cast<unsigned long long>(static_cast<double>(kept_mass(row, least)) * p);
  return threshold<true>(row, least, max(need, 1ull));
}

// min_p keeps candidates whose mass is at least the share p of the largest one's.
static __device__ __forceinline__ unsigned min_p(const Row &row, unsigned least, float p) {
  if (!(p > 0) || row.rate > 3e38f) return least;
  return max(least, order_key(row.top + log2f(p) / row.rate));
}

// philox is the first word of Philox4x32-10 (Salmon et al., 2011) for the counter (position, 0, 0, 0) and the key (seed, 0).
static __device__ __forceinline__ unsigned philox(unsigned seed, unsigned position) {
  unsigned c0 = position, c1 = 0, c2 = 0, c3 = 0, k0 = seed, k1 = 0;
#pragma unroll
  for (int round = 0; round < 10; round++) {
    unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0, c1 = l1, c2 = h0 ^ c3 ^ k1, c3 = l0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return c0;
}

// draw is the candidate in whose part of the total mass a random number falls, in the order of tokens; -1 without candidates.
// A warp adds up a stretch of the row; the one in whose stretch the number falls walks along it.
static __device__ int draw(const Row &row, unsigned least, unsigned random) {
  __shared__ unsigned long long part[threads / 32];
  __shared__ int token;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int stretch = (row.columns + threads - 1) / threads * 32, begin = min(row.columns, warp * stretch), end = min(row.columns, begin + stretch);
  auto at = [&](int c) -> unsigned long long { return c < end && order_key(row.logits[c]) >= least ? mass(row, row.logits[c]) : 0; };
  unsigned long long sum = 0;
  for (int c = begin + lane; c < end; c += 32) sum += at(c);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (lane == 0) part[warp] = sum;
  if (threadIdx.x == 0) token = -1;
  __syncthreads();
  unsigned long long total = 0, before = 0;
  for (int i = 0; i < threads / 32; i++) {
    if (i < warp) before += part[i];
    total += part[i];
  }
  // random * total / 2^32, without a product of more than 64 bits: total is under 2^52.
  unsigned long long target = row.rate > 3e38f ? 0 : (total >> 32) * random + ((total & 0xffffffffu) * random >> 32);
  if (target >= before && target < before + part[warp]) {
    for (int c = begin; c < end; c += 32) {
      unsigned long long own = at(c + lane), upto = own;
      for (int lanes = 1; lanes < 32; lanes *= 2) {
        unsigned long long left = __shfl_up_sync(0xffffffffu, upto, lanes);
        if (lane >= lanes) upto += left;
      }
      unsigned hit = __ballot_sync(0xffffffffu, before + upto > target);
      if (hit) {
        if (lane == 0) token = c + __ffs(hit) - 1;
        break;
      }
      before += __shfl_sync(0xffffffffu, upto, 31);
    }
  }
  __syncthreads();
  return token;
}
