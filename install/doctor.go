package install

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Check is one line of `memwall doctor`.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`           // what was found
	Mend   string `json:"mend,omitempty"`   // how to get what is missing
	Needed string `json:"needed,omitempty"` // what does not work without it
}

// String is one line, with a second one on how to get what is missing.
func (c Check) String() string {
	if c.OK {
		return fmt.Sprintf("ok       %-11s %s", c.Name, c.Detail)
	}
	text := fmt.Sprintf("missing  %-11s %s", c.Name, c.Detail)
	if c.Needed != "" {
		text += "\n         needed for: " + c.Needed
	}
	if c.Mend != "" {
		text += "\n         get it: " + c.Mend
	}
	return text
}

// Doctor looks at what this package is responsible for, and changes nothing but a probe file in the cache.
func Doctor(ctx context.Context) []Check {
	return []Check{checkCache(), checkPython(ctx), checkEnvironment(), checkKernelSpec(), checkBrowser()}
}

func checkCache() Check {
	c := Check{Name: "cache", Needed: "everything that is fetched or compiled"}
	dir, err := Cache()
	if err == nil {
		probe := filepath.Join(dir, ".doctor")
		if err = writeFile(probe, nil, 0o644); err == nil {
			err = os.Remove(probe)
		}
	}
	if err != nil {
		c.Detail, c.Mend = err.Error(), "set MEMWALL_CACHE to a folder that memwall may write"
		return c
	}
	c.OK, c.Detail = true, dir
	return c
}

func checkPython(ctx context.Context) Check {
	c := Check{Name: "python3", Needed: "memwall lab (memwall run needs none)"}
	base, version, err := basePython(ctx)
	if err != nil {
		c.Detail, c.Mend = err.(*MissingPython).What, pythonHint()
		return c
	}
	if pythonCommand(ctx, base[0], append(base[1:], "-c", "import venv, ensurepip")...).Run() != nil {
		c.Detail, c.Mend = "Python "+version+" has no venv module", pythonHint()
		return c
	}
	c.OK, c.Detail = true, "Python "+version
	return c
}

func checkEnvironment() Check {
	c := Check{Name: "JupyterLab", Needed: "memwall lab"}
	python, ok := FindPython()
	if !ok {
		c.Detail, c.Mend = "not fetched yet", "memwall lab fetches it at its first start, or memwall doctor --fetch now"
		return c
	}
	c.OK, c.Detail = true, python
	return c
}

func checkKernelSpec() Check {
	c := Check{Name: "kernelspec", Needed: "VS Code, Notebook 7, nbclient"}
	root, err := userData()
	if err != nil {
		c.Detail, c.Mend = err.Error(), "memwall install --prefix FOLDER"
		return c
	}
	file := filepath.Join(root, "kernels", SpecName, "kernel.json")
	if _, err := os.Stat(file); err != nil {
		c.Detail, c.Mend = "not in "+root, "memwall install"
		return c
	}
	c.OK, c.Detail = true, file
	return c
}

func checkBrowser() Check {
	c := Check{Name: "browser", Needed: "the browser tests of memwall itself"}
	path, ok := FindBrowser()
	if !ok {
		c.Detail, c.Mend = "no chromium", "set MEMWALL_BROWSER, or install chromium ("+chromiumHint()+")"
		return c
	}
	c.OK, c.Detail = true, path
	return c
}

// FindBrowser returns $MEMWALL_BROWSER, or a Chromium on PATH.
func FindBrowser() (string, bool) {
	if path := os.Getenv("MEMWALL_BROWSER"); path != "" {
		_, err := os.Stat(path)
		return path, err == nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

func chromiumHint() string {
	if runtime.GOOS == "linux" {
		return "Debian: apt install chromium"
	}
	return fmt.Sprintf("any Chromium for %s", runtime.GOOS)
}
