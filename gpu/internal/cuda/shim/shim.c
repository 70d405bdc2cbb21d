//go:build cuda && cgo && linux

/* What stands behind the forwarders: libcuda, opened at the first call, or the virtual GPU. With MEMWALL_LIBCUDA defined this
 * file is part of our own libcuda.so.1, whose second half, in Go, is loaded by cuInit and not before: a program may import its CUDA
 * library and fork, at no cost. */
#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *(*provider)(const char *);
static void *library;
static int opened;
static memwall_outcome outcome;
int memwall_forked;

void memwall_use(void *(*lookup)(const char *)) { provider = lookup; }

static void forked(void) {
  if (opened) memwall_forked = 1;
}

/* $MEMWALL_CALLS names a file to which the calls are appended at exit: name and count. */
static void write_calls(void) {
  const char *path = getenv("MEMWALL_CALLS");
  FILE *file = path && *path ? fopen(path, "a") : 0;
  if (!file) return;
  for (int i = 0; i < memwall_n; i++)
    if (memwall_calls[i]) fprintf(file, "%s %lu\n", memwall_functions[i].name, memwall_calls[i]);
  fclose(file);
}

static void note(int stage, const char *path, const char *detail) {
  outcome.stage = stage;
  if (path != outcome.path) snprintf(outcome.path, sizeof outcome.path, "%s", path);
  snprintf(outcome.detail, sizeof outcome.detail, "%s", detail ? detail : "");
}

#ifdef MEMWALL_LIBCUDA
static int load(void) {
  Dl_info self;
  char path[1024];
  const char *slash = 0;
  if (dladdr((void *)load, &self)) slash = strrchr(self.dli_fname, '/');
  snprintf(path, sizeof path, "%.*s/libmemwall-vdrv.so", slash ? (int)(slash - self.dli_fname) : 1, slash ? self.dli_fname : ".");
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); /* Go cannot be unloaded */
  if (!library) return note(MEMWALL_NOT_LOADED, path, dlerror()), 0;
  provider = (void *(*)(const char *))dlsym(library, "memwall_vdrv_lookup");
  if (!provider) return note(MEMWALL_NO_SYMBOL, path, "memwall_vdrv_lookup"), 0;
  return 1;
}

CUresult memwall_init(unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  const memwall_outcome *o = memwall_open();
  if (memwall_forked) return CUDA_ERROR_NOT_INITIALIZED;
  if (o->stage == MEMWALL_NOT_LOADED || o->stage == MEMWALL_NO_SYMBOL) fprintf(stderr, "memwall: %s: %s\n", o->path, o->detail);
  return o->stage == MEMWALL_OPENED ? CUDA_SUCCESS : o->code ? (CUresult)o->code : CUDA_ERROR_NO_DEVICE;
}
#else
static int load(void) {
  static const char *const places[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "libcuda.so"};
  const char *own = getenv("MEMWALL_LIBCUDA");
  const char *path = own && *own ? own : 0;
  for (unsigned i = 0; i < (path ? 1 : sizeof places / sizeof *places) && !library; i++) {
    const char *place = path ? path : places[i];
    library = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (library) {
      note(MEMWALL_OPENED, place, 0);
      break;
    }
    const char *detail = dlerror();
    /* of several failures the one that says most: a library that is there and does not load */
    if (!outcome.stage || (strstr(outcome.detail, "No such file") && !strstr(detail, "No such file"))) note(MEMWALL_NOT_LOADED, place, detail);
  }
  if (!library) return 0;
  static const char *const needed[] = {"cuInit", "cuLaunchKernel"};
  for (unsigned i = 0; i < 2; i++)
    if (!dlsym(library, needed[i])) return note(MEMWALL_NO_SYMBOL, outcome.path, needed[i]), 0;
  return 1;
}

/* gorgonia.org/cu calls cuInit before main and exits on an error: it gets success, and memwall_open says what is so. */
CUresult memwall_init(unsigned flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
#endif

static void *find(const char *name) {
  void *function = 0;
  if (provider) {
    function = memwall_virtual(name);
    return function ? function : provider(name);
  }
  return library ? dlsym(library, name) : 0;
}

const memwall_outcome *memwall_open(void) {
  pthread_mutex_lock(&mutex);
  if (!opened) {
    if (provider || load()) {
      CUresult (*init)(unsigned) = (CUresult(*)(unsigned))find("cuInit");
      outcome.code = init(0);
      outcome.stage = outcome.code ? MEMWALL_INIT_FAILED : MEMWALL_OPENED;
    }
    pthread_atfork(0, 0, forked);
    atexit(write_calls);
    opened = 1;
  }
  pthread_mutex_unlock(&mutex);
  return &outcome;
}

CUresult memwall_resolve(int i) {
  const char *name = memwall_functions[i].name;
#ifdef MEMWALL_LIBCUDA
  void *early = memwall_virtual(name); /* needs no Go */
  if (early) {
    memwall_table[i] = early;
    return CUDA_SUCCESS;
  }
  if (!opened) return CUDA_ERROR_NOT_INITIALIZED;
#endif
  const memwall_outcome *o = memwall_open();
  if (o->stage != MEMWALL_OPENED) return o->code ? (CUresult)o->code : CUDA_ERROR_NO_DEVICE;
  void *function = find(name);
  if (!function) return provider ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_NOT_FOUND;
  memwall_table[i] = function;
  return CUDA_SUCCESS;
}

/* One injected answer at a time: the function's place in the table leads here, once. */
static int injected_at = -1;
static CUresult injected_code;
static void *injected_over;

static CUresult injected(void) {
  memwall_table[injected_at] = injected_over;
  injected_at = -1;
  return injected_code;
}

int memwall_inject(const char *name, int code) {
  if (injected_at >= 0) injected();
  for (int i = 0; i < memwall_n; i++) {
    if (strcmp(memwall_functions[i].name, name)) continue;
    injected_at = i;
    injected_code = (CUresult)code;
    injected_over = memwall_table[i];
    memwall_table[i] = (void *)injected;
    return 1;
  }
  return 0;
}

int memwall_injected(void) { return injected_at >= 0; }
