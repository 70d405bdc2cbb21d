//go:build cuda && cgo && linux

/* The part of the virtual driver that needs no Go: results, version, contexts, look-ups by name. */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A context is a number: its device in the lowest four bits. Device d's primary context is PRIMARY + d, others lie above MADE. */
#define PRIMARY 0x6d770000u
#define MADE 0x6d780000u
#define DEEPEST 64

static __thread CUcontext stack[DEEPEST];
static __thread int depth;
static unsigned long made;

/* $MEMWALL_DEVICES: how many GPUs there are, 1 to 15; they share one memory. */
static int devices(void) {
  const char *text = getenv("MEMWALL_DEVICES");
  int n = text ? atoi(text) : 0;
  return n > 0 && n < 16 ? n : 1;
}

static CUcontext current(void) { return depth ? stack[depth - 1] : 0; }
static int device_of(CUcontext context) { return (int)((uintptr_t)context & 15); }

static const memwall_result *result_of(CUresult code) {
  for (int i = 0; i < memwall_result_count; i++)
    if (memwall_results[i].code == (int)code) return &memwall_results[i];
  return 0;
}

static CUresult get_error_name(CUresult code, const char **name) {
  const memwall_result *r = result_of(code);
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = r ? r->name : 0;
  return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult get_error_string(CUresult code, const char **text) {
  const memwall_result *r = result_of(code);
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = r ? r->text : 0;
  return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* $MEMWALL_CUDA_VERSION: the CUDA version that the driver says it is of, 12090 for 12.9. */
static CUresult driver_get_version(int *version) {
  const char *text = getenv("MEMWALL_CUDA_VERSION");
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = text && atoi(text) ? atoi(text) : 12090;
  return CUDA_SUCCESS;
}

/* The newest variant of a name that a caller of a version knows. Status: 0 found, 1 no such name, 2 the version is too old. */
static CUresult get_proc(const char *symbol, void **function, int version, cuuint64_t flags, void *status) {
  int best = -1, known = 0;
  (void)flags;
  if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
  if (!strcmp(symbol, "cuGraphInstantiate") && version >= 12000) symbol = "cuGraphInstantiateWithFlags"; /* other arguments since then */
  for (int i = 0; i < memwall_n; i++) {
    const memwall_function *f = &memwall_functions[i];
    if (!strcmp(f->name, symbol) && strcmp(f->base, symbol)) {
      best = i;
      break;
    }
    if (!strcmp(f->base, symbol)) {
      known = 1;
      if (f->since <= version) best = i;
    }
  }
  *function = best < 0 ? 0 : memwall_functions[best].function;
  if (status) *(int *)status = best >= 0 ? 0 : known ? 2 : 1;
  return best < 0 && !status ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

static CUresult get_proc_without_status(const char *symbol, void **function, int version, cuuint64_t flags) {
  return get_proc(symbol, function, version, flags, 0);
}

/* Tables of the driver that no document describes. NVIDIA's CUDA runtime library, linked into PyTorch and CuPy, cannot do without
 * those that begin so; other libraries ask for others and go on. */
static const unsigned char runtime_tables[][4] = {{0xf8, 0xcf, 0xf9, 0x51}, {0x6b, 0xd5, 0xfb, 0x6c}};

static CUresult get_export_table(const void **table, const CUuuid *id) {
  static int said;
  int needed = 0;
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  *table = 0;
  for (unsigned i = 0; i < sizeof runtime_tables / sizeof *runtime_tables; i++) needed |= !memcmp(id->bytes, runtime_tables[i], 4);
  if (needed && !said++) {
    fprintf(stderr, "memwall: this program asks the driver for an undocumented table (cuGetExportTable ");
    for (int i = 0; i < 16; i++) fprintf(stderr, "%02x", (unsigned char)id->bytes[i]);
    fprintf(stderr, "), as NVIDIA's CUDA runtime library does: programs built with it cannot run on the virtual GPU\n");
  }
  return CUDA_ERROR_NOT_FOUND;
}

static CUresult ctx_set(CUcontext context) {
  if (depth) depth--;
  if (context) stack[depth++] = context;
  return CUDA_SUCCESS;
}

static CUresult ctx_get(CUcontext *context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current();
  return CUDA_SUCCESS;
}

static CUresult ctx_push(CUcontext context) {
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (depth >= DEEPEST) return CUDA_ERROR_INVALID_VALUE;
  stack[depth++] = context;
  return CUDA_SUCCESS;
}

static CUresult ctx_pop(CUcontext *context) {
  if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
  depth--;
  if (context) *context = stack[depth];
  return CUDA_SUCCESS;
}

static CUresult ctx_create(CUcontext *context, unsigned flags, CUdevice device) {
  (void)flags;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (device < 0 || device >= devices()) return CUDA_ERROR_INVALID_DEVICE;
  *context = (CUcontext)(uintptr_t)(MADE + 16 * __sync_add_and_fetch(&made, 1) + device);
  return ctx_push(*context);
}

static CUresult ctx_create_params(CUcontext *context, void *params, unsigned flags, CUdevice device) {
  (void)params;
  return ctx_create(context, flags, device);
}

static CUresult ctx_destroy(CUcontext context) {
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (current() == context) depth--;
  return CUDA_SUCCESS;
}

static CUresult ctx_device(CUdevice *device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
  *device = device_of(current());
  return CUDA_SUCCESS;
}

static CUresult ctx_device_of(CUdevice *device, CUcontext context) {
  if (!context) return ctx_device(device);
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = device_of(context);
  return CUDA_SUCCESS;
}

static CUresult ctx_id(CUcontext context, unsigned long long *id) {
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  if (!context && !depth) return CUDA_ERROR_INVALID_CONTEXT;
  *id = (uintptr_t)(context ? context : current());
  return CUDA_SUCCESS;
}

static CUresult primary_retain(CUcontext *context, CUdevice device) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (device < 0 || device >= devices()) return CUDA_ERROR_INVALID_DEVICE;
  *context = (CUcontext)(uintptr_t)(PRIMARY + device);
  return CUDA_SUCCESS;
}

void *memwall_virtual(const char *name) {
  static const struct {
    const char *name;
    void *function;
  } answers[] = {
      {"cuGetErrorName", get_error_name},
      {"cuGetErrorString", get_error_string},
      {"cuDriverGetVersion", driver_get_version},
      {"cuGetProcAddress_v2", get_proc},
      {"cuGetProcAddress", get_proc_without_status},
      {"cuGetExportTable", get_export_table},
      {"cuCtxSetCurrent", ctx_set},
      {"cuCtxGetCurrent", ctx_get},
      {"cuCtxPushCurrent_v2", ctx_push},
      {"cuCtxPopCurrent_v2", ctx_pop},
      {"cuCtxCreate_v2", ctx_create},
      {"cuCtxCreate_v4", ctx_create_params},
      {"cuCtxDestroy_v2", ctx_destroy},
      {"cuCtxGetDevice", ctx_device},
      {"cuCtxGetDevice_v2", ctx_device_of},
      {"cuCtxGetId", ctx_id},
      {"cuDevicePrimaryCtxRetain", primary_retain},
  };
  for (unsigned i = 0; i < sizeof answers / sizeof *answers; i++)
    if (!strcmp(answers[i].name, name)) return answers[i].function;
  return 0;
}
