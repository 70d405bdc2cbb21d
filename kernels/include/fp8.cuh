// fp8.cuh: products of 8-bit floating-point elements on tensor cores, with f32 sums (sm_89), and their scales. Two neighbouring
// elements lie in memory like one of 16 bits, so that tiles are moved as those of f16 are: a step of K has twice as many. A source
// includes element.cuh and tensor.cuh before it, and hopper.cuh for wgmma.
#pragma once

// E4M3Pair and E5M2Pair are two neighbouring elements; E4M3 and E5M2 are one.
struct E4M3Pair { unsigned short bits; };
struct E5M2Pair { unsigned short bits; };
struct E4M3 { unsigned char bits; };
struct E5M2 { unsigned char bits; };

// mma of pairs adds the product of a 16 x 32 tile (row-major) and a 32 x 8 tile (column-major) to c (PTX ISA 9.7.14.5.10).
// The Go loop: for i := range 16 { for j := range 8 { for k := range 32 { c[i][j] += a[i][k] * b[j][k] } } }
#define FP8_MMA(PAIR, TYPE)                                                                                                            \
  template <>                                                                                                                         \
  __device__ __forceinline__ void mma<PAIR>(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {                         \
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." TYPE "." TYPE ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                                                     \
  }
FP8_MMA(E4M3Pair, "e4m3")
FP8_MMA(E5M2Pair, "e5m2")

#ifdef HOPPER_WGMMA
#define FP8_WGMMA(T, TYPES)                                                                                                            \
  template <>                                                                                                                         \
  __device__ __forceinline__ void wgmma<T, 256>(float (&d)[128], unsigned long long a, unsigned long long b, int add) {                \
    HOPPER_WGMMA("m64n256k32", TYPES, "", HOPPER_NAMES_128, "%128", "%129", "%130", HOPPER_64(d, 0), HOPPER_64(d, 64));                \
  }
FP8_WGMMA(E4M3, "e4m3.e4m3")
FP8_WGMMA(E5M2, "e5m2.e5m2")
#endif

// scale_of is what row or column i is multiplied by: one scale for each of n, or one for all. Behind the last it is that of the last.
static __device__ __forceinline__ float scale_of(const float *scales, int n, int i) { return scales[min(i, n - 1)]; }
