/* C that Go cannot write: calls through function pointers, and the signal of Ctrl-C. */
#ifndef MEMWALL_VDRV_HELPERS_H
#define MEMWALL_VDRV_HELPERS_H
#include "../cuda/shim/include/cuda.h"

void *memwall_vdrv_lookup(const char *name);
void memwall_call_host(CUhostFn function, void *data);
void memwall_call_stream(CUstreamCallback function, CUstream stream, void *data);
size_t memwall_call_size(CUoccupancyB2DSize function, int threads);
/* Watches for SIGINT until the next memwall_unwatch; what handled it before still does. */
void memwall_watch(void);
void memwall_unwatch(void);
/* Whether SIGINT came since memwall_watch. */
int memwall_interrupted(void);
#endif
