//go:build !windows

package kernel

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"memwall/kernel/client"
)

// TestParentGone: a kernel whose Jupyter server has died leaves by itself.
func TestParentGone(t *testing.T) {
	conn, err := client.NewConnection()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "c.json")
	if err := client.WriteConnection(file, conn); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("sh", "-c", `KERNEL_ECHO="$0" JPY_PARENT_PID=$$ "$1" "$2" & wait`, t.TempDir(), self(t), file)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	c := connect(t, conn)
	mustRun(t, c, "hello", "ok")
	server.Process.Kill() // an error means that it has ended already
	server.Wait()
	ctx := limit(t, 10*time.Second)
	for {
		if _, err := c.Next(ctx, client.Control); err != nil {
			if ctx.Err() != nil {
				t.Error("the kernel stays without its server")
			}
			return
		}
	}
}
