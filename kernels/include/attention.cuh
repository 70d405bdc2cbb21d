// attention.cuh: what the attention kernels share: which keys a query sees, how a product becomes a weight, and where a
// CTA's queries and keys lie. Needs element.cuh.
#pragma once

// ex2 is 2^x; -inf gives 0 (ex2.approx: 2 ulp).
static __device__ __forceinline__ float ex2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

static __device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

// Scores turns the product of a query and a key into the base-2 logarithm of a weight.
struct Scores {
  float scale, cap;

  // A scale of 0 means 1/sqrt(d); a cap of 0 means none.
  __device__ __forceinline__ Scores(float scale, float cap, int d) {
    constexpr float log2e = 1.4426950408889634f;
    if (scale == 0) scale = 1 / sqrtf(static_cast<float>(d));
    this->cap = cap * log2e;
    this->scale = cap > 0 ? 2 * log2e * scale / cap : log2e * scale;
  }

  // The Go loop: s = scale * dot; if cap > 0 { s = cap * math.Tanh(s/cap) }; return s * math.Log2E
  // tanh(x) = 1 - 2/(e^2x + 1), which tanh.approx would give with 11 bits only.
  __device__ __forceinline__ float operator()(float dot) const {
    float s = dot * scale;
    return cap > 0 ? cap - __fdividef(2 * cap, ex2(s) + 1) : s;
  }
};

// Rows says where the tokens of one sequence and KV head lie: token j is row at(j) of K and of V. In pages, [pages, page, hkv,
// d], the block table gives the page of each page tokens.
template <bool PAGED>
struct Rows {
  const int *table;  // of this sequence, where there are pages
  int page;
  size_t first, step;

  __device__ __forceinline__ size_t at(int j) const {
    if constexpr (PAGED) return (static_cast<size_t>(table[j / page]) * page + j % page) * step + first;
    return first + j;
  }
};

// Call is what every prefill step is given: o and q [b, hq, sq, d], k and v [b, hkv, sk, d]. With cu_q and cu_k, which hold
// sequences + 1 starts each, b is 1 and the sequences lie one after the other along sq and sk.
template <typename T>
struct Call {
  T *__restrict__ o;
  const T *__restrict__ q, *__restrict__ k, *__restrict__ v;
  const int *cu_q, *cu_k;
  int b, hq, hkv, sq, sk, d, sequences;
  float scale;
  int causal, window;
  float cap;
};

// Tile is the part of one sequence that a CTA computes for query head blockIdx.y of batch blockIdx.z.
struct Tile {
  int first;          // of its queries, within the sequence
  int queries, keys;  // of the sequence
  size_t q_row, k_row;  // rows of q and o, and of k and v, where sequence and head begin

  // from and to bound the keys that queries first to first + rows - 1 see; shift aligns the last query with the last key.
  int shift, from, to;

  // find gives tile number tile, false where there is none.
  template <typename T>
  __device__ __forceinline__ bool find(const Call<T> &c, int rows, int tile) {
    int h = blockIdx.y, batch = blockIdx.z, n = 0, q_first = 0, k_first = 0;
    queries = c.sq;
    keys = c.sk;
    first = tile * rows;
    if (c.cu_q != nullptr) {
      if (!search(c.cu_q, c.sequences, rows, tile, n, q_first)) return false;
      k_first = c.cu_k[n];
      keys = c.cu_k[n + 1] - k_first;
    }
    q_row = (static_cast<size_t>(batch) * c.hq + h) * c.sq + q_first;
    k_row = (static_cast<size_t>(batch) * c.hkv + h / (c.hq / c.hkv)) * c.sk + k_first;
    bound(c, rows);
    return true;
  }

  // search finds the sequence of a tile: sequences of different lengths are cut into tiles one after the other, and a grid has
  // room for any lengths.
  __device__ __forceinline__ bool search(const int *starts, int sequences, int rows, int tile, int &n, int &start) {
    for (n = 0; n < sequences; n++) {
      start = starts[n];
      queries = starts[n + 1] - start;
      first = tile * rows;
      int tiles = (queries + rows - 1) / rows;
      if (tile < tiles) return true;
      tile -= tiles;
    }
    return false;
  }

  // bound sets shift, from and to.
  template <typename T>
  __device__ __forceinline__ void bound(const Call<T> &c, int rows) {
    shift = keys - queries;
    from = c.window > 0 ? max(0, first + shift - c.window + 1) : 0;
    to = c.causal ? min(keys, min(first + rows, queries) + shift) : keys;
  }

  // sees says whether query i of the sequence looks at key j.
  template <typename T>
  __device__ __forceinline__ bool sees(const Call<T> &c, int i, int j) const {
    return j < keys && (!c.causal || j <= i + shift) && (c.window == 0 || j > i + shift - c.window);
  }

  // sees_all says whether every query of rows from i on sees keys j to j + n - 1.
  template <typename T>
  __device__ __forceinline__ bool sees_all(const Call<T> &c, int i, int rows, int j, int n) const {
    return j + n <= keys && (!c.causal || j + n - 1 <= i + shift) && (c.window == 0 || j > i + rows - 1 + shift - c.window);
  }
};

// The parameters of an entry of a prefill step, and the Call that they are.
#define ATTENTION_PARAMETERS(T)                                                                                            \
  T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,                            \
      const int *__restrict__ cu_q, const int *__restrict__ cu_k, int b, int hq, int hkv, int sq, int sk, int d,           \
      int sequences, float scale, int causal, int window, float cap
#define ATTENTION_CALL(T) (Call<T>{o, q, k, v, cu_q, cu_k, b, hq, hkv, sq, sk, d, sequences, scale, causal, window, cap})
