package gpu

import (
	"testing"

	"memwall/gpu/internal/cuda"
)

// Without a driver, or in a build without one, opening an NVIDIA GPU says why, and Devices has one row that says it too.
func TestNoCUDA(t *testing.T) {
	why := cuda.Available()
	if why == nil {
		t.Log("this machine has an NVIDIA GPU: the refusals are tested in gpu/internal/cuda")
		return
	}
	_, err := Open("cuda")
	wantError(t, err, "open \"cuda:0\": "+why.Error())
	wantError(t, CUDAAvailable(), "NVIDIA GPU: "+why.Error())
	list := Devices()
	if last := list[len(list)-1]; last.Name != "cuda" || last.Unavailable == "" {
		t.Errorf("the last row of the devices is %+v", last)
	}
}
