package notebooks_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"memwall/install/installtest"
)

// TestLabShowsTheCards opens notebook 01 in JupyterLab as a reader does, runs all cells, finds the cards and the plot, and
// saves pictures: light and dark, wide and 600 px.
func TestLabShowsTheCards(t *testing.T) {
	python, browser := installtest.Python(t), installtest.Browser(t)
	if python == "" || browser == "" {
		return
	}
	dir := t.TempDir()
	url := startLab(t, dir)
	ctx := startBrowser(t, browser, 1400, 1000)
	run := func(what string, limit time.Duration, actions ...step) {
		t.Helper()
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		if err := chromedp.Do(limited, actions...); err != nil {
			picture(t, ctx, "failed")
			if text, err := chromedp.Run(ctx, chromedp.Evaluate[string](stateScript)); err == nil {
				t.Log(text)
			}
			t.Fatalf("%s: %v", what, err)
		}
	}
	run("open", 60*time.Second, chromedp.Navigate(url))
	run("the notebook appears", 60*time.Second, poll(`document.querySelector('.jp-Notebook .jp-CodeCell') !== null`, 50*time.Second))
	awaitKernel(t, url)
	run("the saved outputs appear", 30*time.Second, poll(`document.querySelectorAll(".jp-OutputArea-output").length > 5`, 20*time.Second))
	run("clear the saved outputs", 30*time.Second, menu("Edit", "Clear Outputs of All Cells"), poll(`document.querySelectorAll(".jp-OutputArea-output").length === 0`, 20*time.Second))
	run("run all cells", 90*time.Second, menu("Run", "Run All Cells"), poll(executed, 80*time.Second))

	found, err := chromedp.Run(ctx, chromedp.Evaluate[seen](lookScript))
	if err != nil {
		t.Fatal(err)
	}
	if found.Errors != 0 {
		t.Errorf("%d error outputs", found.Errors)
	}
	if found.Cards < 3 {
		t.Errorf("%d cards with a MODELLED tag, want at least prefill, decode and one comparison", found.Cards)
	}
	if found.Pictures < found.Cards+1 {
		t.Errorf("%d SVG pictures for %d cards: the plot is missing", found.Pictures, found.Cards)
	}
	if len(found.Broken) > 0 {
		t.Errorf("pictures that the browser could not draw: %s", found.Broken)
	}
	if !strings.Contains(found.Kernel, "memwall") {
		t.Errorf("the notebook runs on %q", found.Kernel)
	}
	takePictures(t, ctx, run)
}

// awaitKernel waits until the server has a Jupyter kernel that is idle and to which the page is connected: before that the
// page shows an idle kernel too, and running a cell does nothing.
func awaitKernel(t *testing.T, url string) {
	t.Helper()
	base, rest, _ := strings.Cut(url, "/lab/")
	_, token, _ := strings.Cut(rest, "token=")
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		resp, err := http.Get(base + "/api/kernels?token=" + token)
		if err != nil {
			t.Fatal(err)
		}
		var kernels []struct {
			State       string `json:"execution_state"`
			Connections int    `json:"connections"`
		}
		err = json.NewDecoder(resp.Body).Decode(&kernels)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(kernels) == 1 && kernels[0].State == "idle" && kernels[0].Connections > 0 {
			time.Sleep(500 * time.Millisecond) // the page learns it by its own connection
			return
		}
	}
	t.Fatal("no Jupyter kernel became idle within 60 s")
}

// step is an action of the browser that returns nothing.
type step = chromedp.Action[chromedp.Void]

// seen is what a reader sees after all cells ran.
type seen struct {
	Cells, Cards, Pictures, Errors int
	Kernel                         string
	Broken                         []string
}

// lookScript reads what a reader sees: outputs, cards by their tag box, pictures that were really drawn.
const lookScript = `(() => {
  const outputs = [...document.querySelectorAll('.jp-OutputArea-output')];
  const images = outputs.flatMap(o => [...o.querySelectorAll('img[src^="data:image/svg+xml"]')]);
  return {
    Cells: document.querySelectorAll('.jp-CodeCell').length,
    Cards: outputs.filter(o => o.textContent.includes('MODELLED')).length,
    Pictures: images.length,
    Broken: images.filter(i => !i.complete || i.naturalWidth === 0).map(i => i.alt),
    Errors: document.querySelectorAll('.jp-RenderedText[data-mime-type="application/vnd.jupyter.error"]').length,
    Kernel: (document.querySelector('.jp-KernelName') || {textContent: ''}).textContent,
  };
})()`

// stateScript says how far the notebook came, for a failure's message.
const stateScript = `[...document.querySelectorAll('.jp-CodeCell')].map(c => c.querySelector('.jp-InputPrompt').textContent + ' ' +
  (c.querySelector('.jp-OutputArea') || {textContent: ''}).textContent.slice(0, 200)).join('\n')`

func takePictures(t *testing.T, ctx context.Context, run func(string, time.Duration, ...step)) {
	run("close the file list", 20*time.Second, chromedp.Click(chromedp.CSS(".jp-SideBar.jp-mod-left li.lm-mod-current")))
	for _, theme := range []string{"light", "dark"} {
		if theme == "dark" {
			run("dark theme", 30*time.Second, menu("Settings", "Theme", "JupyterLab Dark"), chromedp.WaitReady(`body[data-jp-theme-light="false"]`))
		}
		for _, width := range []int64{1000, 600} {
			run("size", 20*time.Second, chromedp.EmulateViewport(width, 14000), chromedp.Sleep(500*time.Millisecond))
			if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.querySelectorAll('.jp-WindowedPanel-outer').forEach(e => e.scrollTop = 0), true`)); err != nil {
				t.Fatal(err)
			}
			run("settle", 20*time.Second, chromedp.Sleep(500*time.Millisecond))
			picture(t, ctx, fmt.Sprintf("01-%s-%d", theme, width))
		}
		run("back to a wide window", 20*time.Second, chromedp.EmulateViewport(1400, 1000), chromedp.Sleep(300*time.Millisecond))
	}
}

// startLab runs the real command and returns the address that it prints.
func startLab(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command(installtest.Memwall(t), "lab", "--no-browser", "--verbose", "--state", filepath.Join(dir, "state"), "--dir", filepath.Join(dir, "nb"))
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("JupyterLab's log:\n" + stderr.String())
		}
		cmd.Process.Signal(os.Interrupt)
		done := make(chan struct{})
		go func() { cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("memwall lab did not end within 10 s of an interrupt")
			cmd.Process.Kill()
		}
	})
	address := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, url, ok := strings.Cut(lines.Text(), "http://"); ok {
				address <- "http://" + strings.Fields(url)[0]
			}
		}
		close(address)
	}()
	select {
	case url, ok := <-address:
		if !ok {
			t.Fatalf("memwall lab ended without an address:\n%s", stderr.String())
		}
		return url
	case <-time.After(90 * time.Second):
		t.Fatal("memwall lab printed no address within 90 s")
	}
	return ""
}

func startBrowser(t *testing.T, path string, width, height int) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(width, height),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() { cancel(); cancelAlloc() })
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // the first call's context is the browser's life
		t.Fatal(err)
	}
	return ctx
}

// menu opens a menu of the menu bar and clicks through its items. A click that comes while the page is busy can close the
// menu again, so it is opened until the first item shows.
func menu(bar string, items ...string) step {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		open := fmt.Sprintf(`//li[contains(@class,"lm-MenuBar-item")][.//div[text()="%s"]]`, bar)
		for ctx.Err() == nil {
			if _, err := chromedp.Click(open)(ctx, target); err != nil {
				return err
			}
			if _, err := poll(labelShows(items[0]), 3*time.Second)(ctx, target); err == nil {
				break
			}
		}
		for _, item := range items {
			if err := clickItem(ctx, target, item); err != nil {
				return fmt.Errorf("menu item %s: %w", item, err)
			}
		}
		return ctx.Err()
	})
}

// clickItem moves the mouse over an item, as a menu wants it, and clicks once the menu shows that it took this item and no
// neighbour: a menu that has just opened may still move.
func clickItem(ctx context.Context, target *chromedp.Target, item string) error {
	if _, err := poll(labelShows(item), 10*time.Second)(ctx, target); err != nil {
		return err
	}
	active := fmt.Sprintf(`[...document.querySelectorAll('.lm-Menu-item.lm-mod-active .lm-Menu-itemLabel')].some(e => e.textContent === '%s')`, item)
	for {
		at, err := chromedp.Evaluate[[]float64](labelCentre(item))(ctx, target)
		if err != nil {
			return err
		}
		if _, err := chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1])(ctx, target); err != nil {
			return err
		}
		if _, err := poll(active, time.Second)(ctx, target); err == nil {
			_, err := chromedp.MouseClickXY(at[0], at[1])(ctx, target)
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func labelShows(item string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.lm-Menu-itemLabel')].some(e => e.textContent === '%s' && e.getBoundingClientRect().height > 0)`, item)
}

func labelCentre(item string) string {
	return fmt.Sprintf(`(r => [r.x + r.width / 2, r.y + r.height / 2])([...document.querySelectorAll('.lm-Menu-itemLabel')]
  .find(e => e.textContent === '%s' && e.getBoundingClientRect().height > 0).getBoundingClientRect())`, item)
}

// poll waits until a JavaScript expression is true. A timer drives it: animation frames come seldom in a headless browser on
// a busy machine.
func poll(expression string, limit time.Duration) step {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := chromedp.Poll[bool](expression, chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(limit))(ctx, target)
		return err
	})
}

// executed is true when every code cell has a number and none still runs, or one has failed.
const executed = `(() => {
  const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(p => p.textContent);
  const failed = document.querySelector('[data-mime-type="application/vnd.jupyter.error"]') !== null;
  return prompts.length > 0 && (failed || prompts.every(p => /\[\d+\]/.test(p)));
})()`

// picture saves what the browser shows.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	shot, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	data, err := chromedp.Run(shot, chromedp.CaptureScreenshot())
	if err != nil {
		t.Errorf("picture %s: %v", name, err)
		return
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Errorf("picture %s: %v", name, err)
		return
	}
	path := filepath.Join(installtest.Pictures(t), name+".png")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Error(err)
		return
	}
	t.Logf("picture %s, %v", path, img.Bounds().Size())
}
