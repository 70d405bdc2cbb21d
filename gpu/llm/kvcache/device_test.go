package kvcache

import (
	"fmt"
	"testing"

	"memwall/gpu"
)

// TestTensors: block tables, lengths and slots as paged kernels take them; a page that goes to the host and comes back
// elsewhere has what was in it.
func TestTensors(t *testing.T) {
	dev, err := gpu.Open("virtual:h200")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	tensor := must[*gpu.Tensor](t)
	c := must[*Cache](t)(New(dev, Config{Pages: 6, PageSize: 2, HostPages: 6, Layers: 2, KVHeads: 1, HeadDim: 4, DType: gpu.F32}))
	a, b := must[int](t)(c.Add(text(1, 5))), must[int](t)(c.Add(text(2, 2)))
	empty := must[int](t)(c.Add(nil))
	for _, x := range []struct {
		t    *gpu.Tensor
		want string
	}{
		{tensor(c.BlockTable(a, b, empty)), "i32 [3 3] [0 1 2 3 -1 -1 -1 -1 -1]"},
		{tensor(c.BlockTable(empty)), "i32 [1 1] [-1]"},
		{tensor(c.Lengths(b, a, empty)), "i32 [3] [2 5 0]"},
		{tensor(c.LastSlots(a, b, empty)), "i32 [3] [4 7 -1]"},
		{tensor(c.Slots(a, 1)), "i32 [4] [1 2 3 4]"},
	} {
		if got := fmt.Sprint(x.t.DType(), x.t.Shape(), x.t.Ints()); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
	}
	keys, values := tensor(c.Keys(1)), tensor(c.Values(1))
	if got := fmt.Sprint(keys.Shape(), keys.DType()); got != "[6 2 1 4] f32" {
		t.Errorf("keys %s", got)
	}
	for i := range 5 {
		values.Slice(i/2, i/2+1).Reshape(2, 4).Slice(i%2, i%2+1).Fill(float64(10 + i))
	}
	if err := c.SwapOut(a); err != nil {
		t.Fatal(err)
	}
	if _, err := c.BlockTable(b, a); err == nil || err.Error() != "kvcache: BlockTable: sequence 0 (A) is swapped out\nbring it back first: cache.SwapIn(0)" {
		t.Error(err)
	}
	other := must[int](t)(c.Add(text(3, 9))) // takes all that is left, also what is kept of a
	values.Fill(0)
	if err := c.SwapIn(a); err == nil {
		t.Fatal("there is no room for it yet")
	}
	c.Free(other)
	if err := c.SwapIn(a); err != nil {
		t.Fatal(err)
	}
	for i, row := range tensor(c.Slots(a, 0)).Ints() {
		if got := values.Reshape(12, 4).At(row, 3); got != float64(10+i) {
			t.Errorf("token %d reads %g from row %d, want %d", i, got, row, 10+i)
		}
	}
	for call, want := range map[string]string{
		"Keys":       "kvcache: Keys: layer 2 of 2\nlayers count from 0",
		"BlockTable": "kvcache: BlockTable of no sequence\ngive their numbers: cache.BlockTable(a, b)",
		"Slots":      "kvcache: Slots: from token 5 of sequence 0 (A), which has 5",
	} {
		var err error
		switch call {
		case "Keys":
			_, err = c.Keys(2)
		case "BlockTable":
			_, err = c.BlockTable()
		case "Slots":
			_, err = c.Slots(a, 5)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	counted := must[*Cache](t)(New(dev, Config{Pages: 6, PageSize: 2}))
	if _, err := counted.Values(0); err == nil || err.Error() != "kvcache: Values: this cache only counts pages: it does not know what a token takes\ngive Layers, KVHeads and HeadDim in the Config" {
		t.Error(err)
	}
	large := must[*Cache](t)(New(dev, Config{Pages: 1 << 20, PageSize: 16, Layers: 1, KVHeads: 128, HeadDim: 128}))
	if _, err := large.Keys(0); err == nil {
		t.Error("half a terabyte of keys on a device of 141 GB")
	}
	dev.Close()
	if _, err := New(dev, Config{Pages: 1, PageSize: 1}); err == nil || err.Error() != "kvcache: the device virtual:h200 is closed\nopen it again" {
		t.Error(err)
	}
}
