"""CUDA C++ to PTX by NVRTC 12.9, for the generators of the corpus."""
import ctypes, glob, sys

SITE = [p for p in sys.path if p.endswith("site-packages")][0]
lib = ctypes.CDLL(glob.glob(SITE + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")[0])
INCLUDE = [SITE + "/nvidia/cuda_runtime/include", SITE + "/nvidia/cuda_cccl/include", SITE + "/nvidia/cuda_nvcc/include"]


def compile(source, arch, options):
    prog = ctypes.c_void_p()
    assert lib.nvrtcCreateProgram(ctypes.byref(prog), source.encode(), b"k.cu", 0, None, None) == 0
    opts = [f"-arch=sm_{arch}", "-std=c++17", "-default-device", "--device-int128"] + [f"-I{i}" for i in INCLUDE] + list(options)
    r = lib.nvrtcCompileProgram(prog, len(opts), (ctypes.c_char_p * len(opts))(*[o.encode() for o in opts]))
    n = ctypes.c_size_t()
    if r:
        lib.nvrtcGetProgramLogSize(prog, ctypes.byref(n))
        log = ctypes.create_string_buffer(n.value)
        lib.nvrtcGetProgramLog(prog, log)
        raise RuntimeError(log.value.decode())
    lib.nvrtcGetPTXSize(prog, ctypes.byref(n))
    text = ctypes.create_string_buffer(n.value)
    lib.nvrtcGetPTX(prog, text)
    return text.value.decode()


def cases_of(producer, sources, usual=("80",)):
    """Gives case(…), which compiles a source of the module `sources` for each architecture, once, and adds a case for
    each; usual are the architectures where none are named."""
    seen = {}

    def case(name, source, entry, grid, block, args, archs=usual, options=(), shared=0, error=None, print=None):
        for arch in archs:
            full = f"{name}_sm{arch}"
            key = (source, arch, tuple(options))
            if key not in seen:
                try:
                    text = compile(source, arch, options)
                except RuntimeError as e:
                    sys.stderr.write(f"{full}: {str(e)[:1500]}\n")
                    continue
                which = [k for k in dir(sources) if getattr(sources, k) is source][0].lower()
                seen[key] = producer.ptx(f"{which}_sm{arch}" + "".join(o.strip("-").replace("_", "") and "_" + o.strip("-") for o in options), text)
            producer.case(full, seen[key], entry, grid, block, args, shared, 0, error, print)

    return case
