// launch 1 32 0: z=f32:128 i=3
// What lies between the members of a structure travels with them; a member that was forgotten is used.
struct alignas(16) Point { float x, y, z; };
extern "C" __global__ void kernel(Point *out, int at) {
  Point list[4];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) {
    list[i].x = i;
    list[i].y = t;
#ifdef BROKEN
    if (i < at)
#endif
      list[i].z = 1;
  }
  Point p = list[(t + at) % 4];
  p.z += 2;
  out[t] = list[(t + 2 * at) % 4];
  out[t].z = p.z;
}
