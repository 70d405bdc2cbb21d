"""What the generators of the corpus share: a case is one CUDA kernel as a compiler emits it, the arguments of a launch, and
what numpy says must stand in its buffers afterwards.

A producer writes PRODUCER/NAME.ptx.gz (the compiler's text without debug sections) and PRODUCER/cases.json.gz:

    {"blobs": {name: base64 of bytes}, "cases": [case]}
    case: name, ptx, entry, grid, block, shared (dynamic bytes), arch (compute capability that it needs; 0: any), error (what the
          launch must say; absent: nothing), print (what it must print; absent: not compared), args: [argument]
    argument: {"value": blob}, a parameter's bytes
        | {"type": numpy type, "n": elements, "data": blob (absent: zeros), "expect": blob (absent: not compared), "rtol": r, "atol": a}

A buffer with neither tolerance is compared bit by bit; with one, as floating-point numbers: |have - want| <= atol + rtol*|want|,
and a NaN only where a NaN is expected.
"""
import base64, gzip, hashlib, json, os, re
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


blobs = {}


def blob(a):
    """Stores bytes once and gives their name."""
    b = a if isinstance(a, bytes) else np.ascontiguousarray(a).tobytes()
    name = hashlib.sha256(b).hexdigest()[:12]
    blobs[name] = base64.b64encode(b).decode()
    return name


def trim(ptx):
    """Drops debug sections, comments and blank lines; .file and .loc stay."""
    out, depth = [], 0
    for line in ptx.splitlines():
        s = line.strip()
        if s.startswith(".section"):
            depth = 1
            continue
        if depth:
            if s.startswith("}"):
                depth = 0
            continue
        if not s or s.startswith("//"):
            continue
        line = re.sub(r"\s*//.*$", "", line.rstrip())
        out.append(re.sub(r"^[ \t]+", "\t", line))
    return "\n".join(out) + "\n"


class In:
    """A buffer: its contents, and what must stand there afterwards (None: not compared)."""

    def __init__(self, a, expect=None, rtol=None, atol=None):
        self.a, self.expect, self.rtol, self.atol = np.ascontiguousarray(a), expect, rtol, atol

    def row(self):
        a = self.a
        r = {"type": np.dtype(a.dtype).str.lstrip("<|"), "n": int(a.size)}
        if any(a.tobytes()):
            r["data"] = blob(a)
        if self.expect is not None:
            e = np.asarray(self.expect).astype(a.dtype) if np.asarray(self.expect).dtype != a.dtype else np.asarray(self.expect)
            assert e.size == a.size, (e.shape, a.shape)
            r["expect"] = blob(e)
        if self.rtol is not None or self.atol is not None:
            r["rtol"], r["atol"] = float(self.rtol or 0), float(self.atol or 0)
        return r


def Out(expect, rtol=None, atol=None, fill=0):
    e = np.ascontiguousarray(expect)
    a = np.full(e.shape, fill, e.dtype)
    return In(a, e, rtol, atol)


class Val:
    """A parameter by value: a numpy scalar or array."""

    def __init__(self, v):
        self.v = v

    def row(self):
        return {"value": blob(self.v)}


class Producer:
    def __init__(self, name):
        self.dir, self.cases = os.path.join(HERE, name), []
        os.makedirs(self.dir, exist_ok=True)
        for f in os.listdir(self.dir):
            os.unlink(os.path.join(self.dir, f))

    def ptx(self, name, text):
        with open(os.path.join(self.dir, name + ".ptx.gz"), "wb") as f:
            f.write(gzip.compress(trim(text).encode(), 9, mtime=0))
        return name

    def case(self, name, ptx, entry, grid, block, args, shared=0, arch=0, error=None, print=None):
        grid, block = [list(x) if isinstance(x, (tuple, list)) else [x] for x in (grid, block)]
        self.cases.append({"name": name, "ptx": ptx, "entry": entry, "grid": (grid + [1, 1])[:3], "block": (block + [1, 1])[:3],
                           "shared": shared, "arch": arch, "args": [a.row() for a in args]})
        if error is not None:
            self.cases[-1]["error"] = error
        if print is not None:
            self.cases[-1]["print"] = print

    def write(self):
        lines = lambda l: ",\n".join(l)
        text = '{"blobs": {\n' + lines(f'"{k}": "{v}"' for k, v in blobs.items()) + '\n}, "cases": [\n' + lines(json.dumps(c, sort_keys=True) for c in self.cases) + "\n]}\n"
        with open(os.path.join(self.dir, "cases.json.gz"), "wb") as f:
            f.write(gzip.compress(text.encode(), 9, mtime=0))
        size = sum(os.path.getsize(os.path.join(self.dir, f)) for f in os.listdir(self.dir))
        print(f"{self.dir}: {len(self.cases)} cases, {size} B")
