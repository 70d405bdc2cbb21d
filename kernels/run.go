package kernels

import (
	"math"
	"math/rand/v2"

	"memwall/gpu"
)

// Run launches a kernel and waits for its end. The name is a step ("gemv/1_naive") or a ladder ("gemv": the best step that
// the device can run and that takes these shapes; the card says which). Arguments are as Kernel.Arguments lists them, outputs
// first; optional tensors may be nil. Shapes, element types, devices, alignment and overlap are checked before the launch. A
// step of several launches allocates its workspaces and frees them.
func Run(step string, args ...any) error { return run(step, nil, args) }

// run is Run; poison fills workspaces with garbage first.
func run(step string, poison *rand.Rand, args []any) error {
	k, call, err := resolve(step, args)
	if err == nil {
		err = k.validated(call)
	}
	if err != nil {
		return gpu.Failed(err)
	}
	return k.launch(call, poison)
}

// resolve finds the step that a name means for a call, and checks its arguments.
func resolve(step string, args []any) (*Kernel, *call, error) {
	if dev := deviceOf(args); dev != nil && ladders[step] {
		return best(step, dev, args)
	}
	k, err := lookUp(step)
	if err != nil {
		return nil, nil, err
	}
	k = k.variantFor(args)
	c, err := k.bind(args)
	if err == nil {
		err = k.suits(c)
	}
	return k, c, err
}

// deviceOf is where the first tensor lies, nil where there is none.
func deviceOf(args []any) *gpu.Device {
	for _, a := range args {
		if t, is := a.(*gpu.Tensor); is && t != nil {
			return t.Device()
		}
	}
	return nil
}

// launch runs the stages of a checked call.
func (k *Kernel) launch(c *call, poison *rand.Rand) (err error) {
	module, err := k.load(c.dev)
	if err != nil {
		return gpu.Failed(err)
	}
	made, err := k.prepare(c, poison)
	defer free(made)
	if err != nil {
		return gpu.Failed(err)
	}
	first := true
	for _, part := range k.shares(c.dims) {
		name, config := part.stage.entry(c.dims)
		function, err := module.Function(name)
		if err != nil {
			return gpu.Failed(err)
		}
		values, err := k.arrange(&part.stage, c)
		if err != nil {
			return gpu.Failed(err)
		}
		err = function.LaunchWith(gpu.LaunchSpec{Name: k.stageName(&part.stage), Config: config, MinimumBytes: part.bytes, FormulaFLOPs: part.flops,
			OwnBytes: part.own, Continues: !first}, values...)
		if err != nil {
			return err
		}
		first = false
	}
	return nil
}

// arrange gives the arguments of a launch as its entry takes them, and makes the tensor maps among them.
func (k *Kernel) arrange(s *stage, c *call) (values []any, err error) {
	for _, argument := range k.argumentOrder(s) {
		value := c.values[argument]
		for _, m := range k.maps {
			if t, is := c.values[m.of].(*gpu.Tensor); is && m.name == argument {
				if value, err = c.dev.TensorMapOf(t, m.config(c.dims)); err != nil {
					return nil, err
				}
			}
		}
		values = append(values, value)
	}
	return values, nil
}

// stageName is what the card calls a launch: "gemv/1_naive", "attention/1_naive: softmax".
func (k *Kernel) stageName(s *stage) string {
	if s.idea == "" {
		return k.name
	}
	return k.name + ": " + s.idea
}

// prepare makes the workspaces of a call. What it made must be freed, also after an error.
func (k *Kernel) prepare(c *call, poison *rand.Rand) (made []*gpu.Tensor, err error) {
	defer caught(&err)
	for _, w := range k.workspaces {
		var t *gpu.Tensor
		switch shape := c.dims.extents(w.shape); {
		case w.zero:
			t = c.dev.Zeros(w.dtype, shape...)
		case poison != nil:
			t = c.dev.Full(w.dtype, garbage(w.dtype, poison), shape...)
		default:
			t = c.dev.Empty(w.dtype, shape...)
		}
		made = append(made, t)
		c.values[w.name] = t
	}
	return made, nil
}

// garbage is what outputs and workspaces hold before a check: NaN, or an integer that nobody can expect.
func garbage(dtype gpu.DType, random *rand.Rand) float64 {
	if dtype.Float() {
		return math.NaN()
	}
	return float64(1 + random.IntN(126))
}

// part is one launch of a call with its part of the step's closed forms.
type part struct {
	stage             stage
	bytes, flops, own float64
}

// shares divides bytes and FLOPs of a step among its launches. An operand's bytes belong to the launch that touches it
// first, so that the sum is the step's own minimum: what goes through workspaces is the price of several launches. own is
// what a launch has to move by itself, 0 for a step of one launch.
func (k *Kernel) shares(d dims) []part {
	all := k.launches()
	if len(all) == 1 {
		return []part{{stage: all[0], bytes: k.bytes.of(d), flops: k.flops.of(d)}}
	}
	var parts []part
	touched := map[string]bool{}
	firsts, claimed, main := 0.0, 0.0, -1
	for _, s := range all {
		if s.when != nil && !s.when(d) {
			continue
		}
		p := part{stage: s}
		for _, m := range k.touched(&s, d) {
			p.own += m.traffic(d)
			if !m.workspace && !touched[m.name] {
				touched[m.name] = true
				p.bytes += m.traffic(d)
				firsts += m.traffic(d)
			}
		}
		if s.flops != nil {
			p.flops = s.flops(d)
			claimed += p.flops
		}
		if s.main {
			main = len(parts)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil
	}
	if main < 0 {
		main = len(parts) - 1
	}
	if len(parts) == 1 {
		parts[0].own = 0
	}
	parts[main].flops += k.flops.of(d) - claimed
	for i := range parts {
		if firsts > 0 {
			parts[i].bytes *= k.bytes.of(d) / firsts
		}
	}
	return parts
}
