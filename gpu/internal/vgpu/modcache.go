package vgpu

import (
	"crypto/sha256"
	"errors"
	"sync"
	"weak"

	"memwall/gpu/internal/ptx"
)

// compiled is parsed PTX, with its entries decoded where they depend on no module's variables: what loaded modules of the
// same text can share. It does not change once it is complete.
type compiled struct {
	m        *ptx.Module
	programs map[*ptx.Function]*program // nil where the module has variables: their addresses are in the code
	bytes    int
}

const (
	keptModules = 16      // compiled modules that stay although nobody uses them
	keptText    = 1 << 20 // and the bytes of their text, all together
)

// moduleCache finds compiled modules by text and name. It holds those in use weakly, so that a module that is freed gives its
// memory back, and a few small ones besides: a cell that is run again loads the same text after it has dropped the module.
type moduleCache struct {
	mu     sync.Mutex
	known  map[[sha256.Size]byte]weak.Pointer[compiled]
	recent []*compiled // the latest last
	bytes  int
	hits   int
}

func (c *moduleCache) find(key [sha256.Size]byte) *compiled {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.known[key].Value()
	if found != nil {
		c.hits++
		c.keep(found)
	}
	return found
}

// add notes a compiled module; of two that were compiled at the same time the first stays.
func (c *moduleCache) add(key [sha256.Size]byte, m *compiled) *compiled {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.known[key].Value(); other != nil {
		return other
	}
	if c.known == nil {
		c.known = map[[sha256.Size]byte]weak.Pointer[compiled]{}
	}
	for k, p := range c.known { // what was collected
		if p.Value() == nil {
			delete(c.known, k)
		}
	}
	c.known[key] = weak.Make(m)
	c.keep(m)
	return m
}

// keep makes a module the latest of those that stay.
func (c *moduleCache) keep(m *compiled) {
	if m.bytes > keptText/4 {
		return
	}
	for i, old := range c.recent {
		if old == m {
			copy(c.recent[i:], c.recent[i+1:])
			c.recent[len(c.recent)-1] = m
			return
		}
	}
	c.recent = append(c.recent, m)
	for c.bytes += m.bytes; len(c.recent) > keptModules || c.bytes > keptText; {
		c.bytes -= c.recent[0].bytes
		c.recent[0] = nil
		c.recent = c.recent[1:]
	}
}

// drop forgets everything: the device closes.
func (c *moduleCache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.recent, c.bytes = nil, nil, 0
}

// compile gives the module of a text, from the cache where it is there.
func (d *Device) compile(name, text string) (*compiled, error) {
	h := sha256.New()
	h.Write([]byte(name + "\x00"))
	h.Write([]byte(text))
	key := [sha256.Size]byte(h.Sum(nil))
	if c := d.modules.find(key); c != nil {
		return c, nil
	}
	m, err := ptx.Parse(name, text)
	if err != nil {
		return nil, firstWrong(name, text, err)
	}
	if err := d.checkTarget(m); err != nil {
		return nil, err
	}
	c := &compiled{m: m, bytes: len(text)}
	if !hasVariables(m) {
		c.programs = map[*ptx.Function]*program{}
		for _, f := range m.Functions {
			if f.Entry && f.HasBody {
				if c.programs[f], err = compile(m, f, nil, d.architecture()); err != nil {
					return nil, err
				}
			}
		}
	}
	return d.modules.add(key, c), nil
}

// firstWrong is what is wrong first in a text that cannot be read: an instruction that nobody knows may stand before the
// place at which reading ended.
func firstWrong(name, text string, err error) error {
	var e *ptx.Error
	if !errors.As(err, &e) {
		return err
	}
	for i := range e.Before {
		in := &e.Before[i]
		if in.Line > e.Line || in.Line == e.Line && in.Col > e.Col {
			break // names are looked up when the function has ended
		}
		if !isPseudo(in) && table().find(canonicalSpelling(in), in.Opcode) == nil {
			err = unsupported(&ptx.Module{Name: name, Text: text}, in)
			break
		}
	}
	e.Before = nil
	return err
}

// architecture is the compute capability as sm_ numbers it: 90.
func (d *Device) architecture() int { return 10*d.profile.Major + d.profile.Minor }

// hasVariables reports whether the module has variables in device memory.
func hasVariables(m *ptx.Module) bool {
	lists := [][]*ptx.Variable{m.Variables}
	for _, f := range m.Functions {
		lists = append(lists, f.Variables)
	}
	for _, list := range lists {
		for _, v := range list {
			if v.Space == "global" || v.Space == "const" {
				return true
			}
		}
	}
	return false
}
