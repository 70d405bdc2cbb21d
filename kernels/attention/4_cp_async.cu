// attention/4_cp_async: o = softmax(scale*q*k^T, masked)*v for each head, fused, on tensor cores, with the next tile in flight.
//
// targets: sm_80
// Predecessor: 3_mma asks for a tile when it needs it and waits; and its warps of 16 queries read every piece of K and V from
//   shared memory for two mma only, so that the load/store unit is busier than the tensor cores.
// Idea: two buffers; cp.async fills one while the other is multiplied, with one barrier a tile. A warp has 32 queries, so
//   that a piece of K or V serves four mma and K and V are read half as often; the registers for that are Q's, which is read
//   again from shared memory. The result is scaled only when a maximum has risen. Rows fill all banks; piece p of row r lies at p ^ (r % 8) instead of padding.
// Expect: K and V read ceil(Sq/128) times (64 where D > 128), half as often as in 3_mma; the same FLOPs; an ldmatrix
//   of K or V for four mma in place of two; one barrier a tile in place of two; no bank conflicts; 16 bytes a store.
// A profiler should show: tensor pipe above a half for long prompts, hardly a stall on memory.
//
// The Go loop: 3_mma's; the copy of tile t + 1 is begun before tile t is multiplied.

#include "element.cuh"
#include "tensor.cuh"
#include "async.cuh"
#include "attention.cuh"
#include "attention_tensor.cuh"
#include "attention_async.cuh"

template <typename T, int DP, int MT, int BN>
static __device__ __forceinline__ void attend(const Call<T> &c) {
  Prefill<T, DP, MT, BN, false> work{c};
  // Long tiles first: with a causal mask the last queries see most.
  if (!work.tile.find(c, work.BM, c.cu_q == nullptr ? gridDim.x - 1 - blockIdx.x : blockIdx.x)) return;
  work.rows = {nullptr, 0, work.tile.k_row, 1};
  work.q = c.q + work.tile.q_row * c.d;
  work.o = c.o + work.tile.q_row * c.d;
  work.step = c.d;
  work.wide = ((reinterpret_cast<size_t>(c.q) | reinterpret_cast<size_t>(c.k) | reinterpret_cast<size_t>(c.v) | reinterpret_cast<size_t>(c.o) |
                static_cast<size_t>(c.d) * 2) & 15) == 0;
  work.run();
}

#define ASYNC(NAME, T, DP, MT, BN)                                                                                         \
  extern "C" __global__ void __launch_bounds__(128, 2) NAME(ATTENTION_PARAMETERS(T)) { attend<T, DP, MT, BN>(ATTENTION_CALL(T)); }

// Shared memory: 48, 64 and 96 KiB; every device since sm_80 has 99.
ASYNC(attention_async_64, __half, 64, 2, 64)
ASYNC(attention_async_128, __half, 128, 2, 32)
ASYNC(attention_async_256, __half, 256, 1, 32)
ASYNC(attention_async_64_bf16, __nv_bfloat16, 64, 2, 64)
ASYNC(attention_async_128_bf16, __nv_bfloat16, 128, 2, 32)
ASYNC(attention_async_256_bf16, __nv_bfloat16, 256, 1, 32)
