// Command memwall is a Jupyter kernel and GPU lab for Go. This file is wiring: each verb calls the package that does the
// work. ARCHITECTURE.md follows one cell from `memwall kernel` to its card.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"memwall/gpu"
	"memwall/gpu/libcuda"
	"memwall/gpu/perf"
	"memwall/install"
	"memwall/kernel"
	"memwall/kernel/client"
	"memwall/kernel/notebook"
	"memwall/kernel/supervisor"
	"memwall/kernel/worker"
	"memwall/kernels"
	"memwall/notebooks"
)

const version = "0.1.0"

func main() {
	gpu.ChildMain()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(os.Stderr, "memwall: "+err.Error())
		os.Exit(1)
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memwall",
		Short: "A Jupyter kernel and GPU lab for Go that shows the memory wall of LLM inference",
		Long: "memwall runs notebooks whose cells are Go and whose CUDA kernels are real, on a virtual GPU that executes the same PTX,\n" +
			"and shows under each cell what its launches cost. Begin with: memwall lab",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.CompletionOptions.HiddenDefaultCmd = true
	cmd.AddCommand(labCommand(), runCommand(), kernelCommand(), workerCommand(), installCommand(), devicesCommand(), doctorCommand(),
		occupancyCommand(), ptxCommand(), compileCommand(), benchCommand(), sanitizeCommand(), checkCommand(), execCommand())
	return cmd
}

func labCommand() *cobra.Command {
	var o install.LabOptions
	var noBrowser, verbose bool
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Open JupyterLab on a working copy of the notebooks",
		Long: "lab fetches JupyterLab into the project's cache at its first start, lays out a working copy of the notebooks that is\n" +
			"never overwritten, and opens notebook 01 in the browser. Ctrl-C ends it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Notebooks, o.Open = notebooks.Files, notebooks.First
			o.Browser = !noBrowser && install.HasDesktop()
			o.Progress = func(line string) { fmt.Fprintln(cmd.OutOrStdout(), line) }
			o.Ready = func(url string) {
				fmt.Fprintf(cmd.OutOrStdout(), "JupyterLab: %s\nCtrl-C ends it\n", url)
			}
			if verbose {
				o.Log = cmd.ErrOrStderr()
			}
			return install.Lab(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address and open no browser")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "show JupyterLab's own log")
	cmd.Flags().IntVar(&o.Port, "port", 0, "port of the server (default: the first free one from 8888 on)")
	cmd.Flags().StringVar(&o.Dir, "dir", "memwall-notebooks", "folder of the working copy")
	cmd.Flags().StringVar(&o.State, "state", "", "folder for Jupyter's settings and run-time files (default: in the cache)")
	return cmd
}

func runCommand() *cobra.Command {
	var output, html, device string
	var keepGoing bool
	cmd := &cobra.Command{
		Use:   "run NOTEBOOK.ipynb",
		Short: "Execute a notebook without Jupyter and write it",
		Long: "run executes the code cells in order, in pure Go, and writes the notebook with its outputs: to --output, else in place.\n" +
			"A cell error ends the run and the exit status is 1; what ran until then is written.",
		Args: one("notebook"),
		RunE: func(cmd *cobra.Command, args []string) error {
			nb, opts, err := notebookAndWorker(cmd, args[0], device)
			if err != nil {
				return err
			}
			if output == "" {
				output = args[0]
			}
			if html != "" && (sameFile(html, output) || sameFile(html, args[0])) {
				return fmt.Errorf("run: --html %s would replace the notebook: give the page a name of its own", html)
			}
			evaluator := supervisor.Start(opts)
			defer evaluator.Shutdown(false)
			ran := notebook.Run(cmd.Context(), nb, evaluator, notebook.Options{
				Progress:    func(p notebook.Progress) { fmt.Fprintln(cmd.ErrOrStderr(), p) },
				AllowErrors: keepGoing,
				StripCounts: !nb.HasCounts(),
				OutputDir:   opts.OutputDir,
			})
			err = notebook.Write(output, nb)
			if err == nil && html != "" {
				err = notebook.WriteHTML(html, nb)
			}
			return errors.Join(ran, err)
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "notebook to write (default: in place)")
	cmd.Flags().StringVar(&html, "html", "", "HTML page to write as well")
	cmd.Flags().StringVar(&device, "device", "", "device of the notebook, as `virtual:t4` (default: $MEMWALL_DEVICE, else virtual:h200)")
	cmd.Flags().BoolVar(&keepGoing, "allow-errors", false, "go on after a cell error; the exit status is still 1")
	return cmd
}

// sanitizedCell is what `memwall sanitize` says of a cell that launched something or failed.
type sanitizedCell struct {
	Cell     int             `json:"cell"` // 1-based, of the code cells
	Findings json.RawMessage `json:"sanitizer,omitempty"`
	Error    string          `json:"error,omitempty"`
	text     string
}

func sanitizeCommand() *cobra.Command {
	var device string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sanitize NOTEBOOK.ipynb",
		Short: "Run a notebook and look for races, accesses out of bounds, uninitialised reads and barriers that not all reach",
		Long: "sanitize executes the code cells in order, every launch watched, and prints what it finds by cell. The notebook is not\n" +
			"changed. The exit status is 0 only when nothing was found and no cell failed.",
		Args: one("notebook"),
		RunE: func(cmd *cobra.Command, args []string) error {
			nb, opts, err := notebookAndWorker(cmd, args[0], device, gpu.EnvironmentSanitize+"=1")
			if err != nil {
				return err
			}
			evaluator := supervisor.Start(opts)
			defer evaluator.Shutdown(false)
			ran := notebook.Run(cmd.Context(), nb, evaluator, notebook.Options{
				Progress: func(p notebook.Progress) { fmt.Fprintln(cmd.ErrOrStderr(), p) }, AllowErrors: true, OutputDir: opts.OutputDir})
			cells, wrong := sanitizedCells(nb)
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), cells)
			} else {
				for _, c := range cells {
					fmt.Fprintf(cmd.OutOrStdout(), "cell %d: %s\n", c.Cell, c.text)
				}
			}
			if wrong > 0 {
				ran = errors.Join(fmt.Errorf("sanitize: %d findings", wrong), ran)
			}
			return errors.Join(ran, err)
		},
	}
	cmd.Flags().StringVar(&device, "device", "", "virtual device of the notebook, as `virtual:t4` (default: $MEMWALL_DEVICE, else virtual:h200)")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func execCommand() *cobra.Command {
	var o libcuda.Options
	cmd := &cobra.Command{
		Use:   "exec [flags] -- PROGRAM [ARGUMENT …]",
		Short: "Run somebody else's CUDA program on the virtual GPU: Numba, Triton, tinygrad",
		Long: "exec runs a program whose libcuda.so.1 is the virtual GPU, and prints at its end what its launches cost. Nothing of the\n" +
			"program is changed. What has no PTX in it, as PyTorch and CuPy, cannot run. Linux, with a C compiler. The exit status is the\n" +
			"program's; where it is 0 and --sanitize found something, 1.",
		Args: some("program"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Program, o.Stdin, o.Stdout, o.Stderr = args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			o.Progress = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
			err := libcuda.Exec(cmd.Context(), o)
			var ended *exec.ExitError
			if errors.As(err, &ended) { // the program has said why
				os.Exit(max(ended.ExitCode(), 1))
			}
			return err
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&o.Device, "device", "", "virtual device of the program, as `virtual:a100` (default: virtual:h200)")
	cmd.Flags().StringVar(&o.HTML, "html", "", "HTML page to write with the cards")
	cmd.Flags().BoolVar(&o.Bare, "bare", false, "count nothing and print nothing at the end: launches take a fraction of the time")
	cmd.Flags().BoolVar(&o.Sanitize, "sanitize", false, "watch every launch for races, accesses out of bounds and the like; the exit status is 0 only when nothing is found")
	jsonFlag(cmd, &o.JSON)
	return cmd
}

// sanitizedCells collects what the cells of a notebook have shown, and how many findings are among it.
func sanitizedCells(nb *notebook.Notebook) (cells []sanitizedCell, wrong int) {
	cells = []sanitizedCell{}
	n := 0
	for _, c := range nb.Cells {
		if c.Type != notebook.Code {
			continue
		}
		n++
		for _, o := range c.Outputs {
			if raw, ok := o.Data[gpu.FindingsType].(json.RawMessage); ok {
				var found struct{ Findings []json.RawMessage }
				text, _ := o.Data["text/plain"].(string)
				if err := json.Unmarshal(raw, &found); err != nil {
					text = err.Error()
				}
				cells = append(cells, sanitizedCell{Cell: n, Findings: raw, text: text})
				wrong += len(found.Findings)
			} else if o.Type == notebook.ErrorOutput {
				cells = append(cells, sanitizedCell{Cell: n, Error: o.EName + ": " + o.EValue, text: o.EName + ": " + o.EValue})
			}
		}
	}
	return cells, wrong
}

// one wants exactly one argument.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s: one %s is needed, %d given\nusage: %s", cmd.Name(), what, len(args), cmd.UseLine())
		}
		return nil
	}
}

// some wants at least one argument.
func some(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s: which %s?\nusage: %s", cmd.Name(), what, cmd.UseLine())
		}
		return nil
	}
}

// sameFile says whether two paths mean one file, also one that is not there yet.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// notebookAndWorker reads a notebook and says how to start the worker that runs it, on a device that is known to open, or on
// the default one where the name is empty.
func notebookAndWorker(cmd *cobra.Command, file, device string, env ...string) (*notebook.Notebook, supervisor.Options, error) {
	if device != "" {
		if _, err := gpu.Open(device); err != nil {
			return nil, supervisor.Options{}, err
		}
		env = append(env, gpu.EnvironmentDevice+"="+device)
	}
	nb, err := notebook.Read(file)
	if err != nil {
		return nil, supervisor.Options{}, err
	}
	opts, err := workerOptions(env, cmd.ErrOrStderr())
	return nb, opts, err
}

// workerOptions start the worker process: this program again, so that user code never runs where the sockets are.
func workerOptions(env []string, log io.Writer) (supervisor.Options, error) {
	self, err := os.Executable()
	if err != nil {
		return supervisor.Options{}, fmt.Errorf("start the worker: %w", err)
	}
	outputs, err := install.Outputs()
	if err != nil {
		return supervisor.Options{}, err
	}
	return supervisor.Options{Argv: []string{self, "worker"}, Env: env, OutputDir: outputs, Log: log}, nil
}

func kernelCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "kernel -f CONNECTION",
		Short: "Serve one Jupyter session; Jupyter starts it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts, err := workerOptions(nil, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			// Jupyter interrupts by a message or by SIGINT: Serve answers both, so the signal must not end the process.
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			return kernel.Serve(ctx, kernel.Options{
				ConnectionFile: file,
				Start:          func() (kernel.Evaluator, error) { return supervisor.Start(opts), nil },
				Version:        version,
				Banner:         "memwall " + version + ": Go cells, real CUDA kernels, and what they cost. %help lists what a cell can do.",
				OutputDir:      opts.OutputDir,
				Log:            cmd.ErrOrStderr(),
			})
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "connection file, written by Jupyter")
	cmd.MarkFlagRequired("file")
	return cmd
}

func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Run cells for `memwall kernel`, which starts it",
		Args:   cobra.NoArgs,
		Hidden: true,
		Run:    func(*cobra.Command, []string) { os.Exit(worker.Main()) },
	}
}

func installCommand() *cobra.Command {
	var place install.Place
	var user bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Put a kernelspec where any Jupyter finds it",
		Long: "install writes a kernelspec for VS Code, Notebook 7, nbclient and every other client: into the user's Jupyter folder,\n" +
			"into the active Python environment (--sys-prefix) or below a prefix. It points at a copy of memwall in the cache.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if user && (place.SysPrefix || place.Prefix != "") {
				return errors.New("install: --user excludes --sys-prefix and --prefix: give one")
			}
			binary, err := install.Binary(cmd.Context(), func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) })
			if err != nil {
				return err
			}
			dir, err := install.KernelSpec(cmd.Context(), place, binary)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), "kernelspec memwall: "+dir)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&user, "user", false, "into the user's Jupyter folder (the default)")
	cmd.Flags().BoolVar(&place.SysPrefix, "sys-prefix", false, "into the prefix of the python3 on PATH")
	cmd.Flags().StringVar(&place.Prefix, "prefix", "", "into PREFIX/share/jupyter")
	return cmd
}

func devicesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List devices and profiles with their roofs and the sources of these",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show(cmd, asJSON, gpu.Devices())
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func doctorCommand() *cobra.Command {
	var asJSON, fetch bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is there, what is missing and how to get it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fetch {
				if _, err := install.Python(cmd.Context(), func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }); err != nil {
					return err
				}
			}
			compiler := install.Check{Name: "NVRTC", OK: true, Detail: "CompileCUDA works", Needed: "dev.CompileCUDA (shipped CUDA kernels need none)"}
			if err := gpu.CompilerAvailable(); err != nil {
				compiler.OK, compiler.Detail = false, err.Error()
			}
			nvidia := install.Check{Name: "NVIDIA GPU", OK: true, Detail: "gpu.Open(\"cuda\") works", Needed: "MEASURED times (virtual GPUs model them)"}
			if err := gpu.CUDAAvailable(); err != nil {
				nvidia.OK = false
				nvidia.Detail, nvidia.Mend, _ = strings.Cut(strings.TrimPrefix(err.Error(), "NVIDIA GPU: "), "\n")
			}
			checks := append(install.Doctor(cmd.Context()), compiler, nvidia)
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), checks)
			}
			fmt.Fprintln(cmd.OutOrStdout(), "memwall "+version+", "+goVersion())
			for _, c := range checks {
				fmt.Fprintln(cmd.OutOrStdout(), c)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&fetch, "fetch", false, "first fetch JupyterLab and NVRTC into the cache, as lab does")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return "Go version unknown"
}

// mostStatic are the bytes that CUDA C++ can declare as a CTA's __shared__ (PTX ISA 5.1.6; beyond them memory is dynamic).
const mostStatic = 48 << 10

func occupancyCommand() *cobra.Command {
	var q perf.OccupancyQuery
	var tsv, asJSON bool
	cmd := &cobra.Command{
		Use:   "occupancy",
		Short: "CTAs an SM and what limits them",
		Long: "occupancy answers for one CTA shape, or with --tsv for rows of cc, threads, registers, static and dynamic shared bytes\n" +
			"on standard input, after a header line, in the same columns plus the answer's.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tsv {
				return perf.OccupancyTSV(cmd.InOrStdin(), cmd.OutOrStdout())
			}
			answer, err := q.Answer()
			if err != nil {
				return err
			}
			err = show(cmd, asJSON, answer)
			if q.Static > mostStatic {
				fmt.Fprintf(cmd.ErrOrStderr(), "the assembler refuses static shared memory of more than %d B: declare it extern __shared__, and give it as --dynamic\n", mostStatic)
			}
			if err == nil && answer.Fails() {
				err = errors.New("occupancy: the launch fails: not one CTA fits an SM")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&q.CC, "cc", "9.0", "compute capability")
	cmd.Flags().IntVar(&q.Threads, "threads", 256, "threads of a CTA")
	cmd.Flags().IntVar(&q.Registers, "regs", 32, "registers of a thread")
	cmd.Flags().IntVar(&q.Static, "static", 0, "static shared bytes of a CTA")
	cmd.Flags().IntVar(&q.Dynamic, "dynamic", 0, "dynamic shared bytes of a CTA")
	cmd.Flags().BoolVar(&tsv, "tsv", false, "read rows from standard input")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// ptxVerdict is what `memwall ptx` says of one file.
type ptxVerdict struct {
	File   string `json:"file"`
	Loads  bool   `json:"loads"`
	Reason string `json:"reason,omitempty"` // "file:line:column: instruction: what is wrong; how to mend it"
}

func ptxCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ptx FILE…",
		Short: "Say of each PTX file whether it loads, else line, column and reason",
		Args:  some("PTX file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			failed := 0
			verdicts := make([]ptxVerdict, len(args))
			for i, name := range args {
				verdicts[i] = checkPTX(name)
				if !verdicts[i].Loads {
					failed++
				}
				if !asJSON {
					fmt.Fprintln(cmd.OutOrStdout(), verdicts[i])
				}
			}
			if asJSON {
				if err := writeJSON(cmd.OutOrStdout(), verdicts); err != nil {
					return err
				}
			}
			if failed > 0 {
				return fmt.Errorf("%d of %d files do not load", failed, len(args))
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func checkPTX(name string) ptxVerdict {
	text, err := os.ReadFile(name)
	if err == nil {
		err = gpu.CheckPTX(name, string(text))
	}
	if err == nil {
		return ptxVerdict{File: name, Loads: true}
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) >= 3 && strings.TrimSpace(lines[2]) == "^" { // the source line and its caret need more than one line
		lines = slices.Delete(lines, 1, 3)
	}
	return ptxVerdict{File: name, Reason: strings.Join(lines, "; ")}
}

// String is one line.
func (v ptxVerdict) String() string {
	if v.Loads {
		return v.File + ": loads"
	}
	if strings.HasPrefix(v.Reason, v.File) {
		return v.Reason
	}
	return v.File + ": " + v.Reason
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// show prints a value as JSON or as its text.
func show(cmd *cobra.Command, asJSON bool, v any) error {
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), v)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), v)
	return err
}

func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

func compileCommand() *cobra.Command {
	var arch, ptxFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compile FILE.cu [-- NVRTC OPTIONS]",
		Short: "Compile CUDA C++: PTX, registers, spills, occupancy",
		Long: "Compile CUDA C++ with NVRTC for one architecture, and say of each __global__ its registers, spills, shared bytes and the\n" +
			"occupancy of CTAs of 256 threads. Which architectures there are is told by the error for one that is not. Options of\n" +
			"NVRTC stand behind --: memwall compile scale.cu --arch sm_80 -- -use_fast_math",
		Args: some("CUDA C++ file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			compiled, err := gpu.Compile(filepath.Base(args[0]), string(source), arch, args[1:]...)
			if err != nil {
				return err
			}
			if ptxFile != "" {
				if err := os.WriteFile(ptxFile, []byte(compiled.PTX), 0o644); err != nil {
					return err
				}
			}
			return show(cmd, asJSON, compiled)
		},
	}
	cmd.Flags().StringVar(&arch, "arch", "sm_90", "architecture, as `sm_80`")
	cmd.Flags().StringVar(&ptxFile, "ptx", "", "write the PTX to this file")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func checkCommand() *cobra.Command {
	var devices []string
	var asJSON bool
	o := kernels.ConformanceOptions{}
	cmd := &cobra.Command{
		Use:   "check [FAMILY]",
		Short: "Check the CUDA kernels: results, counters, sanitizer, on every device present",
		Long: "check runs every case of the kernels of a family (gemv), of a step (gemv/2_warp) or of all: results against float64\n" +
			"references, counters against their closed forms, and cases of moderate size again under the sanitizer. It prints a line a\n" +
			"kernel and device, and what is wrong below it. The exit status is 0 only when all is well. For --device cuda it also times the\n" +
			"probes and ladders beside their roofs and targets, in at most ten minutes; a target that is missed is told, and is no failure.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Filter, o.Devices = strings.Join(args, ""), devices
			if !cmd.Flags().Changed("seed") {
				o.Seed = uint64(time.Now().UnixNano())
			}
			if len(devices) == 1 && strings.HasPrefix(devices[0], "cuda") {
				return suite(cmd, kernels.SuiteOptions{Filter: o.Filter, Device: devices[0], Seed: o.Seed}, asJSON)
			}
			if !asJSON {
				o.Each = func(l *kernels.ConformanceLine) { fmt.Fprintln(cmd.OutOrStdout(), l) }
			}
			report, err := kernels.Conformance(cmd.Context(), o)
			if asJSON && report != nil {
				err = errors.Join(err, writeJSON(cmd.OutOrStdout(), report))
			}
			if n := report.Failures(); n > 0 {
				err = errors.Join(fmt.Errorf("check: %d of %d kernels are wrong; --seed %d repeats it", n, len(report), o.Seed), err)
			}
			return err
		},
	}
	cmd.Flags().StringArrayVar(&devices, "device", nil, "device, as `virtual:t4`; may be repeated (default: the default device, h200, a100, t4)")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 0, "seed of the test data (default: a fresh one)")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// suite is check for an NVIDIA GPU.
func suite(cmd *cobra.Command, o kernels.SuiteOptions, asJSON bool) error {
	if !asJSON {
		o.Each = func(part fmt.Stringer) { fmt.Fprintln(cmd.OutOrStdout(), part) }
	}
	report, err := kernels.Suite(cmd.Context(), o)
	if asJSON {
		err = errors.Join(err, writeJSON(cmd.OutOrStdout(), report))
	}
	if n := report.Wrong(); n > 0 {
		err = errors.Join(fmt.Errorf("check: %d kernels or ceilings are wrong; --seed %d repeats it", n, o.Seed), err)
	}
	return err
}

func benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure memwall, side by side with a peer",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(benchCellsCommand(), benchVGPUCommand(), benchKernelsCommand())
	return cmd
}

func benchKernelsCommand() *cobra.Command {
	var asJSON bool
	o := kernels.BenchOptions{}
	cmd := &cobra.Command{
		Use:   "kernels [FAMILY]",
		Short: "Time of each step of the CUDA kernels beside its roof: predicted on a virtual GPU, measured on a real one",
		Long: "kernels runs the shapes of a family (gemv), of a step (gemv/2_warp) or of all, large ones as samples, and prints for each\n" +
			"step its time, what bounds it and which share of the roof that is; an arrow marks the step that the ladder's name means.\n" +
			"kernels probe shows what the device does at best, kernels published the ladders beside what others have measured; an aim that\n" +
			"is missed is told, and leaves the exit status 0.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Filter = strings.Join(args, "")
			if !asJSON {
				o.Each = func(table fmt.Stringer) { fmt.Fprintln(cmd.OutOrStdout(), table) }
			}
			report, err := kernels.BenchKernels(cmd.Context(), o)
			if asJSON && report != nil {
				err = errors.Join(err, writeJSON(cmd.OutOrStdout(), report))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&o.Device, "device", "", "device, as `virtual:a100` (default: the default device)")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func benchVGPUCommand() *cobra.Command {
	var asJSON, fetch bool
	cmd := &cobra.Command{
		Use:   "vgpu [FILTER]",
		Short: "Speed of the virtual GPU on every lane path, all counters on; PoCL and ptoxide on the same jobs",
		Long: "vgpu measures the jobs whose name contains FILTER: CPU time on one core, the least of several runs, each result checked\n" +
			"against a float64 reference; then what counting costs and what a second core brings. Peers that have been fetched do the\n" +
			"same jobs in the same run.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			progress := func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
			report, err := kernels.BenchVirtual(cmd.Context(), strings.Join(args, ""),
				gpu.PoCLPeer(func(ctx context.Context) (string, error) { return install.PeerPython(ctx, fetch, progress) }),
				gpu.PtoxidePeer(func(ctx context.Context, name string, files map[string][]byte) (string, error) {
					return install.PeerCrate(ctx, name, files, fetch, progress)
				}))
			if err != nil {
				return err
			}
			return show(cmd, asJSON, report)
		},
	}
	cmd.Flags().BoolVar(&fetch, "peers", false, "fetch or build the peers first where they are missing")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func benchCellsCommand() *cobra.Command {
	var asJSON bool
	var o client.BenchOptions
	cmd := &cobra.Command{
		Use:   "cells",
		Short: "Latency of cells, start, printing, completion, interrupt; ipykernel by the same harness",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			o.Stderr = cmd.ErrOrStderr()
			results := map[string]client.Figures{}
			results["memwall"], err = client.Bench(cmd.Context(), []string{self, "kernel", "-f", "{connection_file}"}, client.GoWorkload, o)
			if python, ok := install.FindPython(); ok {
				argv := []string{python, "-m", "ipykernel_launcher", "-f", "{connection_file}"}
				var peer error
				results["ipykernel"], peer = client.Bench(cmd.Context(), argv, client.PythonWorkload, o)
				err = errors.Join(err, peer)
			} else {
				fmt.Fprintln(cmd.ErrOrStderr(), "ipykernel is not measured: the Python environment is not there (memwall lab fetches it)")
			}
			if asJSON { // what was measured before a failure is shown all the same
				return errors.Join(err, writeJSON(cmd.OutOrStdout(), results))
			}
			for _, name := range slices.Sorted(maps.Keys(results)) {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", name, results[name])
			}
			return err
		},
	}
	cmd.Flags().IntVar(&o.Cells, "cells", 0, "trivial cells (default 1000)")
	jsonFlag(cmd, &asJSON)
	return cmd
}
