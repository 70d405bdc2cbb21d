/* The driver shim: every function of the CUDA driver API, forwarded at its first call to the NVIDIA driver, which is opened then, or to
 * the virtual GPU. A program that is linked with it starts on machines that have no driver. */
#ifndef MEMWALL_SHIM_H
#define MEMWALL_SHIM_H

#include "include/cuda.h"

typedef struct {
  const char *name; /* cuMemAlloc_v2 */
  const char *base; /* cuMemAlloc */
  int since;        /* CUDA version from which on cuGetProcAddress gives this variant */
  void *function;
} memwall_function;

typedef struct {
  int code;
  const char *name, *text;
} memwall_result;

/* Generated from api.txt and results.txt. */
extern const int memwall_n;
extern const memwall_function memwall_functions[];
extern void *memwall_table[];          /* what the forwarders call; 0: not looked for yet */
extern unsigned long memwall_calls[];  /* how often each was called */
extern const memwall_result memwall_results[];
extern const int memwall_result_count;

extern int memwall_forked; /* set in a child of a process that had opened the driver: neither Go nor a real driver survives fork() */

/* Where opening the driver ended. */
enum { MEMWALL_OPENED, MEMWALL_NOT_LOADED, MEMWALL_NO_SYMBOL, MEMWALL_INIT_FAILED };
typedef struct {
  int stage;
  int code;          /* what cuInit answered */
  char path[512];    /* of the library */
  char detail[512];  /* dlerror's text, or the symbol that is missing */
} memwall_outcome;

/* Opens the driver, once. */
const memwall_outcome *memwall_open(void);
/* Makes functions that lookup finds by name answer instead of a driver. Call it before the first driver call. */
void memwall_use(void *(*lookup)(const char *name));
/* Finds what forwarder i calls. */
CUresult memwall_resolve(int i);
/* What cuInit is. */
CUresult memwall_init(unsigned flags);
/* The next call of a function answers code instead of doing anything; 0 where there is no such function. */
int memwall_inject(const char *name, int code);
/* Whether an injected answer still waits. */
int memwall_injected(void);

/* What the virtual driver answers in C: results, version, contexts, look-ups by name. */
void *memwall_virtual(const char *name);

#endif
