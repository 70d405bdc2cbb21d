//go:build !cuda

package cuda

import (
	"context"
	"testing"
	"time"

	"memwall/install"
	"memwall/install/installtest"
)

// What drives a GPU is built with a tag: its tests run here, through gorgonia.org/cu over the driver API that the virtual GPU
// answers, where a C compiler is there.
func TestWithTag(t *testing.T) {
	installtest.Sources(t)
	build, why := install.FindCUDABuild()
	if build == nil {
		t.Log("not run: " + why)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	for _, args := range [][]string{{"vet"}, {"test", "-timeout", "5m"}} {
		args = append(args, "./gpu/internal/cuda", "./gpu/internal/vdrv")
		if out, err := build.Command(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Errorf("go %s -tags %s: %v\n%s", args[0], install.CUDATag, err, out)
		}
	}
}
