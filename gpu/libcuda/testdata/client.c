/* A program of somebody else's: linked with -lcuda, it knows nothing of the virtual GPU. Its argument says what it does. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda.h"

static const char *ptx =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry count(.param .u64 p) { .reg .b64 %d<3>; .reg .b32 %r<3>; ld.param.u64 %d1, [p]; atom.global.add.u32 %r1, [%d1], 1; ret; }\n"
    ".visible .entry spin() { .reg .b32 %r<2>; L: add.s32 %r1, %r1, 1; bra L; }\n"
    ".visible .entry race(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; add.u32 %r2, %r1, 1;\n"
    "st.global.u32 [%d1], %r2;\n"
    "ret; }\n";

static CUcontext context;
static CUfunction count, spin, race;
static CUdeviceptr word;

static void must(CUresult e, const char *what) {
  const char *text = "?";
  if (!e) return;
  cuGetErrorString(e, &text);
  printf("%s: %d: %s\n", what, (int)e, text);
  exit(1);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static CUresult launch(CUfunction f) {
  void *arguments[] = {&word};
  return cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0);
}

static void start(void) {
  CUdevice device;
  CUmodule module;
  must(cuInit(0), "cuInit");
  must(cuDeviceGet(&device, 0), "cuDeviceGet");
  must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  must(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
  must(cuModuleGetFunction(&count, module, "count"), "cuModuleGetFunction");
  must(cuModuleGetFunction(&spin, module, "spin"), "cuModuleGetFunction");
  must(cuModuleGetFunction(&race, module, "race"), "cuModuleGetFunction");
  must(cuMemAlloc(&word, 4), "cuMemAlloc");
  must(cuMemsetD32(word, 0, 1), "cuMemsetD32");
}

static unsigned counted(void) {
  unsigned n;
  must(cuMemcpyDtoH(&n, word, 4), "cuMemcpyDtoH");
  return n;
}

static void *thread(void *unused) {
  must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  for (int i = 0; i < 500; i++) must(launch(count), "launch");
  return unused;
}

static int child(int (*run)(void)) {
  int status;
  pid_t id = fork();
  if (!id) _exit(run());
  waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int initialize(void) { return cuInit(0); }
static int synchronize(void) { return cuCtxSynchronize(); }

static int destroyed;
static void destroy(void *by) { destroyed += *(int *)by; }

/* Prints how often the user objects of graphs were destroyed: while a clone, then an instantiated graph, still holds them, and at
   the end; then whether a clone's node, and the graph of a node, are found and run. */
static void graphs(void) {
  CUgraph graph, clone, outer, inner;
  CUgraphExec exec;
  CUgraphNode node, twin, child;
  CUuserObject object;
  int one = 1;
  void *arguments[] = {&word};
  CUDA_KERNEL_NODE_PARAMS p = {0, 1, 1, 1, 32, 1, 1, 0, arguments, 0};
  start();
  p.func = count;
  must(cuGraphCreate(&graph, 0), "cuGraphCreate");
  must(cuGraphAddKernelNode(&node, graph, 0, 0, &p), "cuGraphAddKernelNode");
  must(cuUserObjectCreate(&object, &one, destroy, 2, 1), "cuUserObjectCreate");
  must(cuGraphRetainUserObject(graph, object, 1, 1), "cuGraphRetainUserObject");
  must(cuGraphClone(&clone, graph), "cuGraphClone");
  must(cuGraphNodeFindInClone(&twin, node, clone), "cuGraphNodeFindInClone");
  must(cuGraphInstantiateWithFlags(&exec, clone, 0), "cuGraphInstantiate");
  must(cuGraphDestroy(graph), "cuGraphDestroy");
  must(cuUserObjectRelease(object, 1), "cuUserObjectRelease");
  printf("%d ", destroyed);
  must(cuGraphCreate(&outer, 0), "cuGraphCreate");
  must(cuGraphAddChildGraphNode(&child, outer, 0, 0, clone), "cuGraphAddChildGraphNode");
  must(cuGraphChildGraphNodeGetGraph(child, &inner), "cuGraphChildGraphNodeGetGraph");
  must(cuGraphDestroy(clone), "cuGraphDestroy");
  must(cuGraphDestroy(outer), "cuGraphDestroy");
  printf("%d ", destroyed);
  must(cuGraphLaunch(exec, 0), "cuGraphLaunch");
  must(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
  printf("%d %d %u %d\n", destroyed, twin != node && inner != clone, counted(), (int)cuUserObjectRelease(object, 1));
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "fork")) {
    printf("before: %d\n", child(initialize));
    start();
    printf("after: %d %d\n", child(synchronize), child(initialize));
    printf("parent: %d\n", (int)launch(count));
  } else if (!strcmp(what, "threads")) {
    pthread_t threads[8];
    start();
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, thread, 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
    printf("%u\n", counted());
  } else if (!strcmp(what, "spin")) {
    start();
    printf("spinning\n");
    fflush(stdout);
    double began = seconds();
    CUresult launched = launch(spin), after = cuCtxSynchronize();
    printf("%d %d\n", (int)launched, (int)after);
    return seconds() - began > 30;
  } else if (!strcmp(what, "race")) {
    start();
    CUresult launched = launch(race), after = cuCtxSynchronize();
    printf("%d %d\n", (int)launched, (int)after);
  } else if (!strcmp(what, "million")) {
    start();
    for (int i = 0; i < 1000000; i++) must(launch(count), "launch");
    printf("%u\n", counted());
  } else if (!strcmp(what, "cubin")) {
    CUmodule module;
    start();
    printf("%d\n", (int)cuModuleLoadData(&module, "\x7f" "ELF\2\1\1"));
  } else if (!strcmp(what, "graphs")) {
    graphs();
  } else if (!strcmp(what, "tables")) {
    const void *table;
    CUuuid id = {{0x6b, (char)0xd5, (char)0xfb, 0x6c}};
    must(cuInit(0), "cuInit");
    printf("%d\n", (int)cuGetExportTable(&table, &id));
  } else if (!strcmp(what, "fault")) {
    CUdeviceptr good = word;
    start();
    good = word;
    word = 64;
    CUresult launched = launch(count), after = cuCtxSynchronize();
    word = good;
    printf("%d %d %d\n", (int)launched, (int)after, (int)launch(count));
  }
  return 0;
}
