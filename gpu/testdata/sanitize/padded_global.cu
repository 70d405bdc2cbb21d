// launch 1 32 0: e=f32:128 z=f32:128 i=3
// The same in device memory: a launch's own tensor, written by members, copied whole.
struct alignas(16) Point { float x, y, z; };
extern "C" __global__ void kernel(Point *own, Point *out, int at) {
  int t = threadIdx.x;
  own[t].x = t;
  own[t].y = at;
#ifdef BROKEN
  if (t > 7)
#endif
    own[t].z = 1;
  __syncthreads();
  Point p = own[(t + at) % 32];
  out[t] = p;
#ifdef BROKEN
  out[t].x = p.z + 1;
#endif
}
