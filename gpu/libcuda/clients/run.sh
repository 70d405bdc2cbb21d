#!/usr/bin/env bash
# Other people's CUDA programs, unmodified from the Python package index, on the virtual GPU by `memwall exec`.
# usage: gpu/libcuda/clients/run.sh [triton | tinygrad | numba [MODULE …] | all]    (default: all, in under 5 minutes on two idle cores)
# The clients are fetched once, pinned, into the project's cache: $MEMWALL_CACHE, else ~/.cache/memwall.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${MEMWALL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/memwall}/clients
what=${1:-all}
[ $# -gt 0 ] && shift

python=$cache/py/bin/python
if ! cmp -s "$here/requirements.txt" "$cache/installed.txt"; then
  mkdir -p "$cache"
  [ -x "$python" ] || python3 -m venv "$cache/py"
  "$python" -m pip -q install --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$cache/installed.txt"
fi
memwall=$cache/memwall
(cd "$here/../../.." && go build -o "$memwall" .)
# tinygrad looks for NVRTC on the loader's path.
nvrtc=$(echo "$cache"/py/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib)
export LD_LIBRARY_PATH=$nvrtc${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} TRITON_CACHE_DIR=$cache/triton PYTHONWARNINGS=ignore
run() { # DEVICE PROGRAM …: the tests' own refusals are no news
  local device=$1
  shift
  MEMWALL_QUIET=1 "$memwall" exec --bare --device "virtual:$device" -- "$python" "$@"
}

case $what in
triton | all)
  run a100 "$here/triton_kernels.py"
  run h100 "$here/triton_kernels.py"
  ;;&
tinygrad | all) run h100 "$here/tinygrad_examples.py" ;;&
numba | all) run h100 "$here/numba_tests.py" "$@" ;;&
triton | tinygrad | numba | all) ;;
*)
  echo "run.sh: what is $what? triton, tinygrad, numba or all" >&2
  exit 2
  ;;
esac
