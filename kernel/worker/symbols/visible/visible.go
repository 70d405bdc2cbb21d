// Package visible lists the packages that cells can import beside the standard library, and the standard library's packages
// that they cannot, with the reason that a cell is told.
package visible

import "strings"

// Packages are memwall's and gonum's packages that cells can import.
var Packages = []string{
	"gonum.org/v1/gonum/blas",
	"gonum.org/v1/gonum/blas/blas64",
	"gonum.org/v1/gonum/floats",
	"gonum.org/v1/gonum/mat",
	"gonum.org/v1/gonum/stat",
	"gonum.org/v1/gonum/stat/distuv",
	"gonum.org/v1/plot",
	"gonum.org/v1/plot/font",
	"gonum.org/v1/plot/palette",
	"gonum.org/v1/plot/plotter",
	"gonum.org/v1/plot/plotutil",
	"gonum.org/v1/plot/text",
	"gonum.org/v1/plot/vg",
	"gonum.org/v1/plot/vg/draw",
	"memwall/gpu",
	"memwall/gpu/card",
	"memwall/gpu/exercise",
	"memwall/gpu/llm/kvcache",
	"memwall/gpu/perf",
	"memwall/gpu/quant",
	"memwall/kernel/display",
	"memwall/kernels",
}

// hidden are names of memwall's packages that only the worker calls.
var hidden = map[string]string{
	"memwall/gpu":            " BeginCell ChildMain CloseAll EndCell OnProgress ",
	"memwall/kernel/display": " Bundle ImageBundle Publisher SVGBundle SetPublisher ",
}

// Hidden reports the names of memwall's packages that are not offered to cells.
func Hidden(path, name string) bool { return strings.Contains(hidden[path], " "+name+" ") }

// FromSource reports whether cells lower a package of the standard library from its source.
func FromSource(path string) bool {
	switch path {
	case "cmp", "iter", "maps", "slices":
		return true
	}
	return false
}

// refusals are the reasons by path; a path that ends with a slash stands for all below it.
var refusals = map[string]string{
	"unsafe":           "the values of cells are not laid out in memory as the Go compiler lays them out",
	"syscall":          "system calls differ between operating systems; use os, os/exec or net",
	"log/syslog":       "it is not there on every operating system; use log",
	"plugin":           "it needs a compiled program",
	"embed":            "a cell has no files to embed; use os.ReadFile",
	"expvar":           "it belongs to a compiled server",
	"os/signal":        "signals belong to the Jupyter kernel: interrupt a cell by the stop button",
	"runtime/cgo":      "cells cannot use cgo",
	"runtime/coverage": "it needs a compiled program",
	"runtime/debug":    "cells run in the Jupyter kernel's process, whose memory limits and stacks it would change",
	"runtime/race":     "it needs a compiled program",
	"structs":          "the values of cells are not laid out in memory as the Go compiler lays them out",
	"testing":          "tests are compiled programs; call the functions and compare",
	"testing/":         "tests are compiled programs; call the functions and compare",
	"time/tzdata":      "the kernel uses the machine's time zones",
	"unique":           "its type is generic and tied to the compiler; use a map",
	"weak":             "its type is generic and tied to the compiler; use a map",
	"database/":        "no database driver is in the Jupyter kernel",
	"debug/":           "programs that read object files are rare in notebooks, and its tables would be large",
	"go/":              "programs that read Go source are rare in notebooks, and its tables would be large",
	"net/http/cgi":     "it belongs to a compiled server",
	"net/http/fcgi":    "it belongs to a compiled server",
	"net/http/pprof":   "it belongs to a compiled server; use runtime/pprof",
	"net/rpc":          "it reflects on methods, which the types of cells do not have; use net/http",
	"net/rpc/":         "it reflects on methods, which the types of cells do not have; use net/http",
}

// crypto lists what cells can import of crypto/…: hashes, ciphers and random numbers.
var crypto = map[string]bool{
	"crypto": true, "crypto/aes": true, "crypto/cipher": true, "crypto/hmac": true, "crypto/md5": true, "crypto/rand": true,
	"crypto/sha1": true, "crypto/sha256": true, "crypto/sha3": true, "crypto/sha512": true, "crypto/subtle": true,
}

// Refusal is why cells cannot import a package of the standard library, "" when they can.
func Refusal(path string) string {
	why := refusals[path]
	for p := path; why == ""; {
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			break
		}
		why, p = refusals[p[:i+1]], p[:i]
	}
	if why == "" && strings.HasPrefix(path, "crypto/") && !crypto[path] {
		why = "of crypto only hashes, ciphers and random numbers are in the Jupyter kernel"
	}
	if why == "" {
		return ""
	}
	return "package " + path + " is not for cells: " + why
}
