//go:build cuda && cgo && linux

#include <stdlib.h>

extern void memwall_finish(void);

void memwall_at_exit(void) { atexit(memwall_finish); }
