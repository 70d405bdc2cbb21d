// async.cuh: copies from global to shared memory that nobody waits for until the data are needed (sm_80). PTX ISA 9.7.9.25.
#pragma once

// copy16 starts copying 16 bytes to shared memory, or 16 zeros where the source is not to be read.
static __device__ __forceinline__ void copy16(unsigned shared, const void *global, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(inside ? 16 : 0) : "memory");
}

// commit ends a group of copies; wait_all_but waits until no more than the last PENDING groups are under way.
static __device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING>
static __device__ __forceinline__ void wait_all_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
