package libcuda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"memwall/gpu/card"
	"memwall/gpu/libcuda/record"
	"memwall/gpu/perf"
	"memwall/install"
)

// Options of Exec.
type Options struct {
	Device   string // "virtual:a100"; "" is the default profile
	HTML     string // file for the cards
	JSON     bool   // the launches as JSON instead of the text
	Sanitize bool   // watch every launch; findings are an error
	Bare     bool   // count nothing and show nothing at the end: launches take a fraction of the time
	Program  []string
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Progress func(string) // one line a step
}

// Exec runs a program whose CUDA driver is the virtual GPU, and shows at its end what its launches cost. The error of a program
// that ends with another status than 0 is an *exec.ExitError.
func Exec(ctx context.Context, o Options) error {
	if len(o.Program) == 0 {
		return errors.New("exec: which program?\nusage: memwall exec [--device virtual:a100] -- PROGRAM ARGUMENTS …")
	}
	if _, err := profileOf(o.Device); err != nil {
		return err
	}
	library, err := cached(ctx, o.Progress)
	if err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	return execWith(ctx, o, library)
}

func profileOf(device string) (*perf.Profile, error) {
	name := strings.TrimPrefix(device, "virtual:")
	if name == "" || name == "virtual" {
		name = perf.DefaultProfile
	}
	p, err := perf.ProfileByName(name)
	if err != nil {
		return nil, fmt.Errorf("exec: there is no virtual GPU %q\nthe devices are virtual:%s", device, strings.Join(perf.ProfileNames(), ", virtual:"))
	}
	return p, nil
}

// execWith is Exec with a library.
func execWith(ctx context.Context, o Options, library *Library) error {
	profile, err := profileOf(o.Device)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "memwall-exec-")
	if err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	defer os.RemoveAll(dir)
	records := filepath.Join(dir, "record")
	env := append(library.Environment(), "MEMWALL_DEVICE="+profile.Name)
	if !o.Bare {
		env = append(env, record.EnvironmentFile+"="+records)
	}
	ran := run(ctx, &o, env)
	var ended *exec.ExitError
	if ran != nil && !errors.As(ran, &ended) {
		return fmt.Errorf("exec: %w", ran)
	}
	if o.Bare {
		return ran
	}
	all, err := record.Read(records)
	if err == nil {
		err = show(&o, all, all.Launches(profile))
	}
	if all != nil && len(all.Found) > 0 && ran == nil {
		err = errors.Join(err, fmt.Errorf("exec: the sanitizer found %s", plural(len(all.Found), "fault")))
	}
	return errors.Join(ran, err)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// run runs the program. Ctrl-C reaches it as it reaches us, from the terminal; it ends when it likes.
func run(ctx context.Context, o *Options, env []string) error {
	cmd := exec.Command(o.Program[0], o.Program[1:]...)
	cmd.Env = append(os.Environ(), env...)
	if o.Sanitize {
		cmd.Env = append(cmd.Env, record.EnvironmentSanitize+"=1")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Stdin, o.Stdout, o.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Signal(os.Interrupt) })
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	return cmd.Wait()
}

// cached gives the library of this memwall, built where it is missing.
func cached(ctx context.Context, progress func(string)) (*Library, error) {
	self, err := install.Self()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(filepath.Dir(self), "libcuda")
	whole := filepath.Join(dir, "complete")
	if _, err := os.Stat(whole); err == nil {
		return &Library{dir}, nil
	}
	progress("building libcuda.so.1 (about a minute, once)")
	l, err := Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	return l, os.WriteFile(whole, nil, 0o644)
}

// show writes the card of the launches, and the faults.
func show(o *Options, all *record.Records, launches []*perf.Launch) error {
	if o.JSON {
		var findings []json.RawMessage
		if o.Sanitize {
			findings = []json.RawMessage{}
		}
		for _, f := range all.Found {
			findings = append(findings, f.Finding)
		}
		out := json.NewEncoder(o.Stdout)
		out.SetIndent("", " ")
		if err := out.Encode(struct {
			Launches []record.Entry    `json:"launches"`
			Faults   []string          `json:"faults"`
			Findings []json.RawMessage `json:"findings,omitzero"` // where the launches were watched
		}{all.Entries, all.Stopped, findings}); err != nil {
			return fmt.Errorf("exec: %w", err)
		}
	} else if len(launches) == 0 {
		fmt.Fprintln(o.Stdout, "memwall: the program launched nothing on the virtual GPU")
	} else {
		fmt.Fprintln(o.Stdout, "\n"+card.Cell(launches).Text)
	}
	if o.HTML == "" {
		return nil
	}
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>" + html.EscapeString(strings.Join(o.Program, " ")) + "</title>\n")
	b.WriteString(card.Cell(launches).HTML + "\n")
	seen := map[string]bool{}
	for _, l := range launches {
		if !seen[l.Kernel] && len(seen) < mostCards {
			seen[l.Kernel] = true
			b.WriteString(card.Launch(l).HTML + "\n")
		}
	}
	if err := os.WriteFile(o.HTML, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	return nil
}

// mostCards of single CUDA kernels are in the HTML.
const mostCards = 50
