// Package install puts memwall where Jupyter finds it and fetches what the lab needs into the project's cache: the pinned
// Python environment (JupyterLab, NVRTC), a copy of the binary, the kernelspec, the working copy of the notebooks.
//
// Everything lives below Cache(), so that the user's home stays clean; nothing is half-written: files appear by rename, an
// environment counts only once its completion mark stands.
package install
