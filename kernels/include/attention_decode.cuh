// attention_decode.cuh: what decode attention on tensor cores shares: one query a sequence, and the query heads that share a KV
// head as the rows of an mma. Needs element.cuh, piece.cuh, words.cuh, tensor.cuh, async.cuh, attention.cuh and
// attention_tensor.cuh.
#pragma once

extern __shared__ __align__(128) unsigned char ring[];

// Result is where up to 16 heads' results go, the first being head `first` of all: to o, or as one of several parts, with the logarithm,
// base 2, of its sum of weights, to part_o [heads, parts, d] and part_lse [heads, parts].
template <typename T>
struct Result {
  T *o;
  float *part_o, *part_lse;
  size_t first;
  int d, part, parts;

  __device__ __forceinline__ void put(int head, int x, float value) const {
    if (parts == 1) store(o + (first + head) * d + x, value);
    else part_o[((first + head) * parts + part) * d + x] = value;
  }
  __device__ __forceinline__ void put_sum(int head, float logarithm) const {
    if (parts > 1) part_lse[(first + head) * parts + part] = logarithm;
  }
};

// row_floats is the length of a row of DP floats in shared memory, so that rows lie on other banks.
template <int DP>
constexpr int row_floats = DP + 8;

// join_warps joins what the warps of a CTA have found of up to 16 heads: their weighted sums of values, results [WARPS, 16,
// row_floats<DP>], and of each its largest exponent and its sum of weights, stats [WARPS, 16, 2].
template <int DP, int WARPS, typename T>
static __device__ __forceinline__ void join_warps(const float *results, const float *stats, int heads, int d, const Result<T> &result) {
#pragma unroll 1
  for (int i = threadIdx.x; i < heads * DP; i += 32 * WARPS) {
    int head = i / DP, x = i % DP;
    if (x >= d) continue;
    float top = -infinity(), sum = 0, value = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) top = fmaxf(top, stats[(w * 16 + head) * 2]);
    float base = top == -infinity() ? 0 : top;  // -inf - -inf would be NaN
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
      float weight = ex2(stats[(w * 16 + head) * 2] - base);
      sum = fmaf(weight, stats[(w * 16 + head) * 2 + 1], sum);
      value = fmaf(weight, results[(w * 16 + head) * row_floats<DP> + x], value);
    }
    result.put(head, x, sum == 0 ? 0 : value / sum);
    if (x == 0) result.put_sum(head, sum == 0 ? -infinity() : base + __log2f(sum));
  }
}

// GroupDecoder is a CTA's work: up to 16 query heads against keys from to to - 1. Each warp takes every WARPS-th tile of 16
// tokens and has STAGES buffers of its own for them, so that warps wait for nobody until their results meet.
template <typename T, int DP, int WARPS, int STAGES, bool PAGED>
struct GroupDecoder {
  static constexpr int TOKENS = 16, STRIDE = WARPS * TOKENS, TILE = TOKENS * DP * 2;  // bytes of K, and of V, in a buffer
  static constexpr int LONG = row_floats<DP>;

  const T *__restrict__ k, *__restrict__ v;
  int d;
  Rows<PAGED> rows;
  int from, to;  // the tokens that count

  // at is the address of piece p (8 elements) of row r in this warp's buffer.
  static __device__ __forceinline__ unsigned at(int stage, int r, int p) {
    return shared_address(ring) + ((threadIdx.x / 32 * STAGES + stage) * 2 * TOKENS + r) * (DP * 2) + ((p ^ (r & 7)) << 4);
  }

  // row is that of token j + lane % 16, 0 where that token does not count: no entry of the table behind the last is read.
  __device__ __forceinline__ size_t row(int j) const {
    j += threadIdx.x % 16;
    return PAGED && j < to ? rows.at(j) : 0;
  }

  // copy starts copying tokens j to j + 15 into a buffer; there are the lanes' row(j).
  __device__ __forceinline__ void copy(int stage, int j, size_t there) const {
    int lane = threadIdx.x % 32;
    bool wide = ((reinterpret_cast<size_t>(k) | reinterpret_cast<size_t>(v) | static_cast<size_t>(d) * 2) & 15) == 0;
    if (wide) {
#pragma unroll
      for (int i = lane; i < TOKENS * (DP / 8) + lane; i += 32) {
        int r = i / (DP / 8), p = i % (DP / 8);
        size_t source = (PAGED ? __shfl_sync(0xffffffffu, there, r) : rows.first + j + r) * d + p * 8;
        bool inside = j + r < to && p * 8 < d;
        copy16(at(stage, r, p), inside ? k + source : k, inside);
        copy16(at(stage, r, p) + TILE, inside ? v + source : v, inside);
      }
    } else {
      copy_words<DP, 2 * TOKENS, 1, true>(
          0, d, words(k, v, d), k, [&](int r, int i) { return at(stage, r, i / 4) + i % 4 * 4; },  // K, and V behind it
          [&](int r) {
            int token = r % TOKENS;
            size_t source = PAGED ? __shfl_sync(0xffffffffu, there, token) : rows.first + j + token;
            return j + token < to ? (r < TOKENS ? k : v) + source * d : nullptr;
          });
    }
  }

  // first_token is where this warp's first tile begins.
  __device__ __forceinline__ int first_token() const { return from / TOKENS * TOKENS + threadIdx.x / 32 * TOKENS; }

  // start asks for the first STAGES - 1 tiles.
  __device__ __forceinline__ void start() const {
#pragma unroll
    for (int s = 0, j = first_token(); s < STAGES - 1; s++, j += STRIDE) {
      if (j < to) copy(s, j, row(j));
      commit();
    }
  }

  // run leaves the sums of this warp's tiles in acc and online; q are the fragments of the heads' queries. It gives the factor
  // of the maxima.
  __device__ __forceinline__ float run(const unsigned (&q)[DP / 16][4], const Scores &score, float (&acc)[DP / 8][4], Online &online) const {
    int lane = threadIdx.x % 32, reading = 0, writing = STAGES - 1;
    int begin = first_token();
    size_t there = row(begin + (STAGES - 1) * STRIDE);  // asked for one tile ahead
    float factor = score.cap > 0 ? 1 : score.scale;
#pragma unroll 1
    for (int j = begin; j < to; j += STRIDE) {
      wait_all_but<STAGES - 2>();
      __syncwarp();  // for all lanes; and the buffer to be written has been used
      int next = j + (STAGES - 1) * STRIDE;
      if (next < to) copy(writing, next, there);
      commit();
      there = row(next + STRIDE);
      float s[2][4] = {};
#pragma unroll
      for (int x = 0; x < DP / 16; x++) {
        unsigned b[4];
        ldmatrix_x4(b, at(reading, lane / 16 * 8 + lane % 8, x * 2 + lane / 8 % 2));
        mma<T>(s[0], q[x], b[0], b[1]);
        mma<T>(s[1], q[x], b[2], b[3]);
      }
#pragma unroll
      for (int n = 0; n < 8; n++) {
        float &value = s[n / 4][n % 4];
        if (score.cap > 0) value = score(value);
        int token = j + n / 4 * 8 + lane % 4 * 2 + n % 2;
        if (token < from || token >= to) value = -infinity();
      }
      float fade[2];
      online.weigh(s, factor, fade);
      unsigned p[4];
      weight_fragment<T>(p, s, 0);
#pragma unroll
      for (int x = 0; x < DP / 8 * 4; x++) acc[x / 4][x % 4] *= fade[x % 4 / 2];
#pragma unroll
      for (int x = 0; x < DP / 16; x++) {
        unsigned b[4];
        ldmatrix_x4_transposed(b, at(reading, lane % 16, x * 2 + lane / 16) + TILE);
        mma<T>(acc[2 * x], p, b[0], b[1]);
        mma<T>(acc[2 * x + 1], p, b[2], b[3]);
      }
      reading = reading + 1 == STAGES ? 0 : reading + 1;
      writing = writing + 1 == STAGES ? 0 : writing + 1;
    }
    wait_all_but<0>();
    return factor;
  }

  // load_queries reads the fragments of heads' queries, zeros behind the last.
  static __device__ __forceinline__ void load_queries(unsigned (&fragment)[DP / 16][4], const T *q, int heads, int d) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int x = 0; x < DP / 16; x++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int head = lane / 4 + i % 2 * 8, column = x * 16 + i / 2 * 8 + lane % 4 * 2;
        const T *p = q + static_cast<size_t>(head) * d + column;
        float low = head < heads && column < d ? to_float(p[0]) : 0, high = head < heads && column + 1 < d ? to_float(p[1]) : 0;
        fragment[x][i] = pack(low, high, T());
      }
  }

  // decode does it all.
  __device__ __forceinline__ void decode(const T *q, int heads, const Scores &score, const Result<T> &result) const {
    start();
    unsigned fragment[DP / 16][4];
    load_queries(fragment, q, heads, d);
    float acc[DP / 8][4] = {};
    Online online;
    float factor = run(fragment, score, acc, online);
    float *results = reinterpret_cast<float *>(ring), *stats = results + WARPS * TOKENS * LONG;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    __syncthreads();  // all tiles have been used
#pragma unroll
    for (int r = 0; r < 2; r++) {
      int head = lane / 4 + r * 8;
      float *to = results + (warp * TOKENS + head) * LONG + lane % 4 * 2;
#pragma unroll
      for (int x = 0; x < DP / 8; x++) *reinterpret_cast<float2 *>(to + x * 8) = make_float2(acc[x][2 * r], acc[x][2 * r + 1]);
      float sum = quad_sum(online.sum[r]);
      if (lane % 4 == 0) *reinterpret_cast<float2 *>(stats + (warp * TOKENS + head) * 2) = make_float2(online.top[r] * factor, sum);
    }
    __syncthreads();
    join_warps<DP, WARPS>(results, stats, heads, d, result);
  }
};

// part_range narrows from and to to one of parts parts, whole steps of STEP tokens each; parts behind the last token are empty.
template <int STEP>
static __device__ __forceinline__ void part_range(int &from, int &to, int part, int parts) {
  int first = from / STEP, steps = max(0, (to + STEP - 1) / STEP - first), each = (steps + parts - 1) / parts;
  int end = min(to, (first + (part + 1) * each) * STEP);
  from = max(from, (first + part * each) * STEP);
  to = max(end, from);
}

// combine adds the parts of the result of head blockIdx.x, weighted by the logarithms of their sums.
template <typename T>
static __device__ __forceinline__ void combine(T *__restrict__ o, const float *__restrict__ part_o, const float *__restrict__ part_lse, int parts, int d) {
  size_t head = blockIdx.x;
  part_o += head * parts * d;
  part_lse += head * parts;
  float top = -infinity();
  for (int p = 0; p < parts; p++) top = fmaxf(top, part_lse[p]);
  if (top == -infinity()) top = 0;  // -inf - -inf would be NaN
  for (int x = threadIdx.x; x < d; x += 128) {
    float sum = 0, value = 0;
#pragma unroll 4
    for (int p = 0; p < parts; p++) {
      float weight = ex2(part_lse[p] - top);
      sum += weight;
      value = fmaf(weight, part_o[static_cast<size_t>(p) * d + x], value);
    }
    store(o + head * d + x, sum == 0 ? 0 : value / sum);
  }
}
