package kernels

import (
	"embed"
	"encoding/binary"
	"slices"
	"sync"

	"memwall/gpu"
)

// Which step of a ladder a call gets. Looking at every step takes some ten microseconds, more than a small launch does, so
// what was chosen is remembered by everything that the choice depends on.

// nearlyAsFast is how much slower than the least estimate a step may be and still be taken for being higher: estimates are no better.
const nearlyAsFast = 1.05

// best is the step of a ladder that the device can run, that takes and prefers the call, and whose estimate is least; of steps
// without an estimate, or with nearly the same one, the highest. Where none prefers the call, the highest that takes it. The
// error is that of the highest step that has a row for the tensors' element types.
func best(family string, dev *gpu.Device, args []any) (*Kernel, *call, error) {
	key, keyed := choiceKey(family, dev, args)
	if k := choices.get(key); keyed && k != nil {
		c, err := k.bind(args)
		if err == nil {
			err = k.suits(c)
		}
		if err == nil {
			return k, c, nil
		} // overlapping arguments and the like: the search says whose message counts
	}
	k, c, err := search(family, dev, args)
	if err == nil && keyed {
		choices.put(key, k)
	}
	return k, c, err
}

// search is best without a memory.
func search(family string, dev *gpu.Device, args []any) (*Kernel, *call, error) {
	var cannot, refused error
	var chosen, second *Kernel
	var chosenCall, secondCall *call
	least := 0.0     // of the estimates of steps above
	fitting := false // refused is of a step with such a row
	for _, k := range slices.Backward(steps(family)) {
		v := k.variantFor(args)
		if _, err := v.targetFor(dev); err != nil {
			if cannot == nil {
				cannot = err
			}
			continue
		}
		c, err := v.bind(args)
		if err == nil {
			err = v.suits(c)
		}
		if err != nil {
			if fits := v.fits(v.withMissing(args)) == len(v.operands); refused == nil || fits && !fitting {
				refused, fitting = err, fits
			}
			continue
		}
		if v.prefer != nil && !v.prefer(c.dims) {
			if second == nil {
				second, secondCall = v, c
			}
			continue
		}
		if v.estimate == nil {
			if chosen == nil {
				return v, c, nil
			}
			continue
		}
		if t := v.estimate(c.dims); chosen == nil || t*nearlyAsFast < least {
			chosen, chosenCall, least = v, c, t
		}
	}
	switch {
	case chosen != nil:
		return chosen, chosenCall, nil
	case second != nil:
		return second, secondCall, nil
	case refused != nil:
		return nil, nil, refused
	}
	return nil, nil, cannot
}

// choices are those of calls before, for one registry: tests put others in its place.
var choices choiceMemory

type choiceMemory struct {
	mu    sync.Mutex
	first **Kernel // the registry's
	rows  int
	known map[string]*Kernel
}

// mostChoices bounds the memory; what does not fit begins it anew.
const mostChoices = 4096

// get is what was chosen for a key, nil where nothing was.
func (m *choiceMemory) get(key []byte) *Kernel {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(registry) == 0 || m.first != &registry[0] || m.rows != len(registry) {
		return nil
	}
	return m.known[string(key)]
}

func (m *choiceMemory) put(key []byte, k *Kernel) {
	if len(registry) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first != &registry[0] || m.rows != len(registry) || len(m.known) >= mostChoices {
		m.first, m.rows, m.known = &registry[0], len(registry), map[string]*Kernel{}
	}
	m.known[string(key)] = k
}

// choiceKey is everything that the choice among a ladder's steps depends on: what the device is, and of each argument the
// element type, the shape, the alignment or the number. keyed is false where it cannot be told so: sources other than the
// embedded ones, or an argument that no kernel takes.
func choiceKey(family string, dev *gpu.Device, args []any) (key []byte, keyed bool) {
	if _, own := files.(embed.FS); !own {
		return nil, false
	}
	major, minor := dev.ComputeCapability()
	key = append(make([]byte, 0, 96), family...)
	key = append(key, 0, byte(major), byte(minor))
	key = binary.AppendUvarint(key, uint64(dev.SMs()))
	for _, a := range args {
		switch v := a.(type) {
		case nil:
			key = append(key, 'n')
		case *gpu.Tensor:
			if v == nil {
				key = append(key, 'n')
				continue
			}
			shape := v.Shape()
			key = append(key, 't', byte(v.DType()), byte(v.Address()), byte(len(shape)))
			for _, n := range shape {
				key = binary.AppendUvarint(key, uint64(n))
			}
		case bool:
			key = append(key, 'f')
			if v {
				key[len(key)-1] = 'y'
			}
		default:
			n, whole := integer(a)
			if _, real := real64(a); !whole && !real {
				return nil, false
			}
			if !whole { // no choice depends on a fraction
				key = append(key, 'r')
				continue
			}
			key = binary.AppendVarint(append(key, 'i'), int64(n))
		}
	}
	return key, true
}
