//go:build cuda && cgo && linux

#define _GNU_SOURCE
#include "helpers.h"

#include <signal.h>
#include <string.h>

void memwall_call_host(CUhostFn function, void *data) { function(data); }

void memwall_call_stream(CUstreamCallback function, CUstream stream, void *data) { function(stream, CUDA_SUCCESS, data); }

size_t memwall_call_size(CUoccupancyB2DSize function, int threads) { return function(threads); }

/* A program that sits inside a launch sees no signal: Python's handler only sets a flag. So a launch that takes long has SIGINT
 * shown to it first. */
static struct sigaction before;
static volatile sig_atomic_t watching, interrupted;

static void on_interrupt(int number, siginfo_t *info, void *context) {
  interrupted = 1;
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(number);
  else if (before.sa_handler == SIG_DFL) {
    sigaction(SIGINT, &before, 0);
    raise(SIGINT);
  }
}

void memwall_watch(void) {
  struct sigaction ours;
  if (watching) return;
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  interrupted = 0;
  watching = !sigaction(SIGINT, &ours, &before);
}

void memwall_unwatch(void) {
  if (watching) sigaction(SIGINT, &before, 0);
  watching = 0;
}

int memwall_interrupted(void) { return interrupted; }
