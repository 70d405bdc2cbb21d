package gpu

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"memwall/gpu/perf"
)

// DeviceInfo is one row of Devices. Roofs are the datasheet's, for dense arithmetic.
type DeviceInfo struct {
	Name               string      `json:"name"`  // to open it by: "virtual:h200"
	Model              string      `json:"model"` // "H200 SXM5 141 GB"
	Virtual            bool        `json:"virtual"`
	ComputeCapability  string      `json:"compute_capability"` // "9.0"
	SMs                int         `json:"sms"`
	MemoryBytes        int64       `json:"memory_bytes"`
	L2Bytes            int64       `json:"l2_bytes"`
	DRAMBytesPerSecond float64     `json:"dram_bytes_per_second"`
	FP32FLOPs          float64     `json:"fp32_flops"`   // FLOP/s
	TensorFLOPs        float64     `json:"tensor_flops"` // FLOP/s, f16 or bf16 with f32 accumulation
	RidgeFP32          float64     `json:"ridge_fp32"`   // FLOP/B
	RidgeTensor        float64     `json:"ridge_tensor"` // FLOP/B
	Default            bool        `json:"default"`      // what OpenDefault gives
	Sources            []string    `json:"sources,omitempty"`
	Unavailable        string      `json:"unavailable,omitempty"` // why it cannot be opened
	tags               [3]perf.Tag // of the roofs of DRAM, FP32 and tensor
	own                bool        // a user's profile, whose sources are shown with it
}

// DeviceList is what there is to open.
type DeviceList []DeviceInfo

// Devices lists every device that Open knows: NVIDIA GPUs and the profiles of the virtual one, with roofs and sources.
func Devices() DeviceList {
	var out DeviceList
	chosen := ""
	if d, err := OpenDefault(); err == nil {
		chosen = d.name
	}
	for _, p := range perf.Profiles() {
		info := infoOf("virtual:"+p.Name, p)
		info.Virtual, info.Default = true, info.Name == chosen
		out = append(out, info)
	}
	return append(out, cudaDevices(chosen)...)
}

func infoOf(name string, p *perf.Profile) DeviceInfo {
	return DeviceInfo{
		Name: name, Model: p.Model, ComputeCapability: p.ComputeCapability(), SMs: p.SMs, MemoryBytes: p.MemoryBytes,
		L2Bytes: int64(p.L2Bytes), DRAMBytesPerSecond: p.DRAMBytesPerSecond, FP32FLOPs: p.FP32FLOPs, TensorFLOPs: p.TensorFLOPs,
		RidgeFP32: p.Ridge(perf.FLOPF32), RidgeTensor: p.Ridge(perf.FLOPTensor), Sources: p.AllSources(), own: p.Origin != nil, tags: [3]perf.Tag{p.TagOf("dram_bytes_per_second"), p.TagOf("fp32_flops"), p.TagOf("tensor_flops")},
	}
}

// Info is the device's row of Devices.
func (d *Device) Info() DeviceInfo {
	info := infoOf(d.name, d.profile)
	info.Virtual = d.props.Virtual
	return info
}

var deviceColumns = []string{"device", "model", "CC", "SMs", "memory", "L2", "DRAM", "FP32", "tensor", "ridge FP32", "ridge tensor"}

func (i DeviceInfo) cells() []string {
	if i.Unavailable != "" {
		return []string{i.Name, i.Unavailable, "", "", "", "", "", "", "", "", ""}
	}
	name := i.Name
	if i.Default {
		name += " *"
	}
	return []string{name, i.Model, i.ComputeCapability, fmt.Sprint(i.SMs), perf.Format(float64(i.MemoryBytes), "B"),
		perf.FormatCapacity(float64(i.L2Bytes)), perf.Format(i.DRAMBytesPerSecond, "B/s"), perf.Format(i.FP32FLOPs, "FLOP/s"),
		perf.Format(i.TensorFLOPs, "FLOP/s"), perf.Format(i.RidgeFP32, "FLOP/B"), perf.Format(i.RidgeTensor, "FLOP/B")}
}

func (l DeviceList) rows() [][]string {
	rows := [][]string{deviceColumns}
	for _, i := range l {
		rows = append(rows, i.cells())
	}
	return rows
}

// sources is one line a device.
func (l DeviceList) sources() []string {
	var out []string
	for _, i := range l {
		if len(i.Sources) > 0 {
			out = append(out, i.Name+": "+strings.Join(i.Sources, "; "))
		}
	}
	return out
}

const deviceCaption = "Roofs: DATASHEET, dense arithmetic. Ridge = roof ÷ DRAM bandwidth: FORMULA. * is the default."

// textColumns are the widths of the columns of the text, 77 in all.
var textColumns = []int{-17, 5, 5, 6, 6, 7, 8, 8, 7, 8}

// String is the table as text of 80 columns: what each device can do, then where its roofs come from.
func (l DeviceList) String() string {
	var b strings.Builder
	line := func(cells ...string) {
		var row strings.Builder
		for i, c := range cells {
			fmt.Fprintf(&row, "%*s", textColumns[i], c)
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	line("", "", "", "memory", "L2", "DRAM", "FP32", "tensor", "ridges", "")
	line("device", "CC", "SMs", "GB", "MiB", "TB/s", "TFLOP/s", "TFLOP/s", "FP32", "tensor")
	b.WriteString(strings.Repeat("-", 77) + "\n")
	for _, i := range l {
		if i.Unavailable != "" {
			b.WriteString(i.Name + ": " + i.Unavailable + "\n")
			continue
		}
		name := i.Name
		if i.Default {
			name += " *"
		}
		number := func(v float64) string { return strings.TrimSuffix(perf.Significant(v), ".") }
		line(name, i.ComputeCapability, fmt.Sprint(i.SMs), number(float64(i.MemoryBytes)/1e9), perf.Trimmed(float64(i.L2Bytes)/(1<<20)),
			number(i.DRAMBytesPerSecond/1e12), number(i.FP32FLOPs/1e12), number(i.TensorFLOPs/1e12), number(i.RidgeFP32), number(i.RidgeTensor))
	}
	b.WriteString("\n* the default. DRAM, FP32 and tensor (f16, dense) are the roofs: DATASHEET.\n" +
		"Ridge, in FLOP/B: roof ÷ DRAM, FORMULA. Below it DRAM is the limit, above it the\narithmetic.\n\nSources\n")
	for _, i := range l {
		if len(i.Sources) > 0 {
			b.WriteString(wrapped(i.Name+", "+i.Model+": "+strings.Join(i.Sources, "; "), 80, "  "))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// wrapped breaks a text between words into lines of at most so many columns, later ones behind an indent.
func wrapped(text string, columns int, indent string) string {
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > columns:
			b.WriteString("\n" + indent)
			used = len(indent)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String() + "\n"
}

// MIMEBundle shows the table.
func (l DeviceList) MIMEBundle() map[string]any {
	return map[string]any{"text/plain": l.String(), "text/html": htmlTable(l.rows(), deviceCaption, l.sources())}
}

// String is "virtual:h200: H200 SXM5 141 GB, 132 SMs, compute capability 9.0, DRAM 4.80 TB/s, …".
func (i DeviceInfo) String() string {
	if i.Unavailable != "" {
		return i.Name + ": " + i.Unavailable
	}
	text := fmt.Sprintf("%s: %s, compute capability %s, %d SMs, %s memory, %s L2\n%s; ridges %s and %s",
		i.Name, i.Model, i.ComputeCapability, i.SMs, perf.Format(float64(i.MemoryBytes), "B"), perf.FormatCapacity(float64(i.L2Bytes)),
		i.roofs(), perf.Format(i.RidgeFP32, "FLOP/B"), perf.Format(i.RidgeTensor, "FLOP/B"))
	if i.own {
		text += "\n" + strings.Join(i.Sources, "\n")
	}
	return text
}

// roofs are DRAM, FP32 and tensor, each behind its tag where that is not the one before it.
func (i DeviceInfo) roofs() string {
	var b strings.Builder
	for k, v := range []string{"DRAM " + perf.Format(i.DRAMBytesPerSecond, "B/s"), "FP32 " + perf.Format(i.FP32FLOPs, "FLOP/s"), "tensor " + perf.Format(i.TensorFLOPs, "FLOP/s")} {
		switch {
		case k == 0:
			b.WriteString(string(i.tags[k]) + ": ")
		case i.tags[k] != i.tags[k-1]:
			b.WriteString("; " + string(i.tags[k]) + ": ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(v)
	}
	return b.String()
}

// MIMEBundle shows the row.
func (i DeviceInfo) MIMEBundle() map[string]any { return map[string]any{"text/plain": i.String()} }

// String is the device's row of Devices as text.
func (d *Device) String() string {
	if d == nil {
		return "no device"
	}
	return d.Info().String()
}

// MIMEBundle shows the device.
func (d *Device) MIMEBundle() map[string]any { return map[string]any{"text/plain": d.String()} }
