"""Sits in an endless CUDA kernel until Ctrl-C, and says what Python made of it."""
import ctypes
import time

PTX = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry spin() { .reg .b32 %r<2>; L: add.s32 %r1, %r1, 1; bra L; }\n"

cuda = ctypes.CDLL("libcuda.so.1")
context, module, spin, device = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
for result in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
               cuda.cuCtxSetCurrent(context), cuda.cuModuleLoadData(ctypes.byref(module), PTX),
               cuda.cuModuleGetFunction(ctypes.byref(spin), module, b"spin")):
    assert result == 0, result
try:
    print("spinning", flush=True)
    cuda.cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, None, None, None)
    cuda.cuCtxSynchronize()
    time.sleep(60)
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
