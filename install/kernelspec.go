package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// SpecName is the name of the kernelspec: `jupyter console --kernel memwall`.
const SpecName = "memwall"

// Place says where a kernelspec goes; the zero value is the user's Jupyter folder.
type Place struct {
	SysPrefix bool   // into the prefix of the python3 on PATH: an active virtual or conda environment
	Prefix    string // into PREFIX/share/jupyter
}

// KernelSpec writes the kernelspec so that Jupyter, VS Code and nbclient find it, and returns its folder. The spec starts
// binary, which must be a file that stays: the result of Binary.
func KernelSpec(ctx context.Context, place Place, binary string) (string, error) {
	root, err := place.root(ctx)
	if err != nil {
		return "", err
	}
	return writeSpec(root, binary)
}

// root is the Jupyter data folder of a place (docs: "Jupyter's common directories").
func (p Place) root(ctx context.Context) (string, error) {
	switch {
	case p.SysPrefix && p.Prefix != "":
		return "", errors.New("install: --sys-prefix and --prefix exclude each other: give one")
	case p.Prefix != "":
		abs, err := filepath.Abs(p.Prefix)
		return filepath.Join(abs, "share", "jupyter"), err
	case p.SysPrefix:
		base, _, err := basePython(ctx)
		if err != nil {
			return "", err
		}
		out, err := pythonCommand(ctx, base[0], append(base[1:], "-c", "import sys; print(sys.prefix)")...).Output()
		if err != nil {
			return "", fmt.Errorf("install: ask %s for sys.prefix: %w", base[0], err)
		}
		return filepath.Join(strings.TrimSpace(string(out)), "share", "jupyter"), nil
	}
	return userData()
}

func userData() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("install: no home folder: %w: use --prefix", err)
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Jupyter"), nil
	case "windows":
		if dir := os.Getenv("APPDATA"); dir != "" {
			return filepath.Join(dir, "jupyter"), nil
		}
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

// spec is kernel.json (jupyter_client docs: "Kernel specs").
type spec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
	Metadata      map[string]any    `json:"metadata"`
}

func writeSpec(root, binary string) (string, error) {
	dir := filepath.Join(root, "kernels", SpecName)
	s := spec{
		Argv:          []string{binary, "kernel", "-f", "{connection_file}"},
		DisplayName:   "Go + GPU (memwall)",
		Language:      "go",
		InterruptMode: "message",
		Env:           map[string]string{},
		Metadata:      map[string]any{"debugger": false},
	}
	if dir := os.Getenv("MEMWALL_CACHE"); dir != "" { // the Jupyter server may run without the variable
		abs, err := Cache()
		if err != nil {
			return "", err
		}
		s.Env["MEMWALL_CACHE"] = abs
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return "", err
	}
	files := map[string][]byte{
		"logo-svg.svg":   []byte(logoSVG),
		"logo-32x32.png": logoPNG(32),
		"logo-64x64.png": logoPNG(64),
		"kernel.json":    append(text, '\n'),
	}
	for _, name := range []string{"logo-svg.svg", "logo-32x32.png", "logo-64x64.png", "kernel.json"} { // the spec counts once kernel.json stands
		if err := writeFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return "", fmt.Errorf("install: %w: use --prefix with a folder that you may write", err)
		}
	}
	return dir, nil
}

// logoSVG is a roofline: a slope in the colour of bytes, a flat roof in the colour of FLOPs (look/SPEC.md, Colours).
const logoSVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><path d="M6 56 34 18" fill="none" stroke="#27c" stroke-width="8" stroke-linecap="round"/><path d="M34 18H58" fill="none" stroke="#b60" stroke-width="8" stroke-linecap="round"/></svg>
`

// logoPNG draws the same picture for clients that take no SVG.
func logoPNG(size int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	unit := float64(size) / 64
	stroke := func(x0, y0, x1, y1 float64, c color.NRGBA) {
		const steps = 200
		for i := 0; i <= steps; i++ {
			t := float64(i) / steps
			x, y, r := (x0+t*(x1-x0))*unit, (y0+t*(y1-y0))*unit, 4*unit
			for py := int(y - r); py <= int(y+r); py++ {
				for px := int(x - r); px <= int(x+r); px++ {
					if dx, dy := float64(px)-x, float64(py)-y; dx*dx+dy*dy <= r*r && image.Pt(px, py).In(img.Bounds()) {
						img.SetNRGBA(px, py, c)
					}
				}
			}
		}
	}
	stroke(6, 56, 34, 18, color.NRGBA{0x22, 0x77, 0xcc, 0xff})
	stroke(34, 18, 58, 18, color.NRGBA{0xbb, 0x66, 0x00, 0xff})
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil { // a bytes.Buffer does not fail
		panic(err)
	}
	return buf.Bytes()
}
