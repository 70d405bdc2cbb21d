package install

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// LabOptions say how the lab starts.
type LabOptions struct {
	Notebooks fs.FS        // the originals
	Dir       string       // working copy; "" is memwall-notebooks in the current folder
	State     string       // where Jupyter keeps settings and run-time files; "" is a folder of the cache
	Open      string       // notebook to open first, relative to Dir
	Port      int          // 0: the first free one from 8888 on
	Browser   bool         // open the browser
	Progress  func(string) // one line a step
	Ready     func(url string)
	Log       io.Writer // Jupyter's own log
}

// Lab runs JupyterLab on the working copy until ctx ends, and returns when the server is gone.
func Lab(ctx context.Context, o LabOptions) error {
	if o.Dir == "" {
		o.Dir = "memwall-notebooks"
	}
	python, err := Python(ctx, o.Progress)
	if err != nil {
		return err
	}
	lines, err := WorkingCopy(o.Notebooks, o.Dir)
	for _, line := range lines {
		o.Progress("notebooks: " + line)
	}
	if err != nil {
		return err
	}
	if o.State == "" {
		cache, err := Cache()
		if err != nil {
			return err
		}
		o.State = filepath.Join(cache, "jupyter")
	}
	binary, err := Binary(ctx, o.Progress)
	if err != nil {
		return err
	}
	if _, err := writeSpec(filepath.Join(o.State, "data"), binary); err != nil {
		return err
	}
	for name, text := range map[string]string{"labconfig/page_config.json": pageConfig, "jupyter_server_config.d/memwall.json": serverConfig} {
		if err := writeFile(filepath.Join(o.State, "config", filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			return fmt.Errorf("JupyterLab: %w", err)
		}
	}
	return serveLab(ctx, o, python)
}

// pageConfig keeps JupyterLab from asking whether it may fetch news: the lab works without a network.
const pageConfig = `{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}
`

// serverConfig leaves out what the lab has no use for and what makes its start slower: language servers for other languages,
// and the bridge to the classic notebook.
const serverConfig = `{"ServerApp": {"jpserver_extensions": {"jupyter_lsp": false, "notebook_shim": false}}}
`

func serveLab(ctx context.Context, o LabOptions, python string) error {
	port, err := freePort(o.Port)
	if err != nil {
		return err
	}
	var secret [24]byte
	rand.Read(secret[:]) // never fails (crypto/rand)
	token := hex.EncodeToString(secret[:])
	o.Progress("JupyterLab: starting")
	cmd := labCommand(ctx, o, python, port, token)
	log := &tailWriter{next: o.Log}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("JupyterLab: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	address := "http://127.0.0.1:" + strconv.Itoa(port)
	if err := awaitServer(ctx, address, token, ended); err != nil {
		if ctx.Err() != nil {
			<-ended
			return nil
		}
		cmd.Cancel()
		return fmt.Errorf("JupyterLab: %w\n%s", err, log.tail())
	}
	url := address + "/lab?token=" + token
	if o.Open != "" {
		url = address + "/lab/tree/" + o.Open + "?token=" + token
	}
	o.Ready(url)
	if o.Browser {
		openBrowser(url)
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		o.Progress("JupyterLab: stopping")
		<-ended
		return nil
	}
	if err != nil {
		return fmt.Errorf("JupyterLab ended: %w\n%s", err, log.tail())
	}
	return nil
}

// labCommand keeps Jupyter's files in the cache and raises the iopub limits, which would cut a cell's long output.
func labCommand(ctx context.Context, o LabOptions, python string, port int, token string) *exec.Cmd {
	args := []string{"-m", "jupyterlab", "--no-browser",
		"--ServerApp.ip=127.0.0.1", "--ServerApp.port=" + strconv.Itoa(port), "--ServerApp.port_retries=0",
		"--ServerApp.root_dir=" + o.Dir,
		"--ZMQChannelsWebsocketConnection.iopub_data_rate_limit=1000000000", "--ZMQChannelsWebsocketConnection.iopub_msg_rate_limit=1000000",
		"--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.news_url=None",
		"--KernelSpecManager.ensure_native_kernel=False", "--KernelSpecManager.allowed_kernelspecs=" + SpecName,
		"--MultiKernelManager.default_kernel_name=" + SpecName,
	}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-root")
	}
	cmd := pythonCommand(ctx, python, args...)
	cmd.Env = append(withoutVariables(cmd.Env, "JUPYTER_PATH", "JUPYTER_CONFIG_PATH"),
		"JUPYTER_TOKEN="+token, // not an argument: arguments are visible to every user of the machine
		"JUPYTER_CONFIG_DIR="+filepath.Join(o.State, "config"),
		"JUPYTER_DATA_DIR="+filepath.Join(o.State, "data"),
		"JUPYTER_RUNTIME_DIR="+filepath.Join(o.State, "runtime"),
		"JUPYTERLAB_SETTINGS_DIR="+filepath.Join(o.State, "config", "lab", "user-settings"),
		"JUPYTERLAB_WORKSPACES_DIR="+filepath.Join(o.State, "config", "lab", "workspaces"),
		"IPYTHONDIR="+filepath.Join(o.State, "ipython"),
		"JUPYTER_PLATFORM_DIRS=0")
	ownGroup(cmd)
	cmd.Cancel = func() error { return terminate(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// freePort returns the wanted port, or the first free one from 8888 on.
func freePort(want int) (int, error) {
	if want < 0 || want > 65535 {
		return 0, fmt.Errorf("port %d: a port is a number from 1 to 65535", want)
	}
	first, last := 8888, 8988
	if want != 0 {
		first, last = want, want
	}
	var err error
	for port := first; port <= last; port++ {
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return port, l.Close()
		}
	}
	if want != 0 {
		return 0, fmt.Errorf("port %d is taken: give another one with --port, or none", want)
	}
	return 0, fmt.Errorf("no free port between %d and %d: %w", first, last, err)
}

// awaitServer asks until the server answers with our token.
func awaitServer(ctx context.Context, address, token string, ended <-chan error) error {
	client := &http.Client{Timeout: 2 * time.Second}
	deadline := time.After(60 * time.Second)
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return errors.Join(errors.New("the server ended while it started"), err)
		case <-deadline:
			return errors.New("the server did not answer within 60 s")
		case <-tick.C:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/status", nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "token "+token)
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
}

// tailWriter hands a log on and keeps its end for an error message.
type tailWriter struct {
	mu   sync.Mutex
	last []byte
	next io.Writer
}

func (w *tailWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = append(w.last, p...)
	w.last = w.last[max(0, len(w.last)-8192):]
	if w.next != nil {
		return w.next.Write(p)
	}
	return len(p), nil
}

func (w *tailWriter) tail() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return tail(w.last, 12)
}
