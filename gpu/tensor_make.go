package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"memwall/gpu/internal/driver"
)

// Empty is a tensor with undefined contents: zero on the virtual device, whatever was there on a real one.
func (d *Device) Empty(dtype DType, shape ...int) *Tensor {
	return must(d.empty("Empty", dtype, shape))
}

// Zeros is a tensor of zeros.
func (d *Device) Zeros(dtype DType, shape ...int) *Tensor {
	if d != nil {
		if fresh, ok := d.d.(driver.ZeroFiller); ok { // pages that nothing touches cost the host nothing
			t := must(d.empty("Zeros", dtype, shape))
			if err := fresh.ZeroFilled(t.mem.base); err != nil {
				panic(wrap("Zeros", err))
			}
			return t
		}
	}
	return d.full("Zeros", dtype, 0, shape)
}

// Full is a tensor whose elements all have one value, rounded to the element type; an integer type refuses what it cannot
// hold.
func (d *Device) Full(dtype DType, value float64, shape ...int) *Tensor {
	return d.full("Full", dtype, value, shape)
}

// Arange is the vector 0, 1 … n−1, rounded to the element type.
func (d *Device) Arange(dtype DType, n int) *Tensor {
	t := must(d.emptyToFill("Arange", dtype, []int{n}))
	if !dtype.Float() {
		if _, over := dtype.limits(); float64(n) > over {
			panic(fail("use a wider type", "Arange: %s cannot hold %d", dtype, n-1))
		}
	}
	return must(t, t.upload(func(first int, dst []byte) error {
		return dtype.write(dst, min(chunk, n-first), first, func(i int) float64 { return float64(first + i) })
	}))
}

// Randn is a tensor of random numbers from N(0, 1), rounded to a float element type. The n-th call on a device gives the
// same values in each run, whatever the machine; Seed starts the sequence again.
func (d *Device) Randn(dtype DType, shape ...int) *Tensor {
	if dtype.valid() && !dtype.Float() {
		panic(fail("use gpu.F32, gpu.F16, gpu.BF16 or gpu.F64", "Randn: %s holds no fractions", dtype))
	}
	if err := checkRandom("Randn", dtype); err != nil {
		panic(err)
	}
	t := must(d.emptyToFill("Randn", dtype, shape))
	d.mu.Lock()
	seed, call := d.seed, d.randoms
	d.randoms++
	d.mu.Unlock()
	stream := streamOf(seed, call)
	return must(t, t.upload(func(first int, dst []byte) error {
		fillNormal(dtype, stream, int64(first), dst)
		return nil
	}))
}

// Seed starts the sequence of random tensors again, from another place for each n.
func (d *Device) Seed(n uint64) {
	d.mu.Lock()
	d.seed, d.randoms = n, 0
	d.mu.Unlock()
}

// From is a tensor with the values of a flat slice: []float32 gives F32, []float64 F64, []int I32 (the int of CUDA C++),
// the sized integer types their own. Without a shape it is a vector.
func (d *Device) From(values any, shape ...int) *Tensor {
	dtype, err := inferType("From", values)
	if err != nil {
		panic(err)
	}
	return d.from("From", dtype, values, shape)
}

// FromAs is From with the element type given: float types round to nearest even (fp8 saturating), integer types refuse what they
// cannot hold, and block formats (gpu.Q4_K …) encode each row of the last extent, refusing NaN and Inf.
func (d *Device) FromAs(dtype DType, values any, shape ...int) *Tensor {
	if _, err := inferType("FromAs", values); err != nil {
		panic(err)
	}
	return d.from("FromAs", dtype, values, shape)
}

func (d *Device) from(operation string, dtype DType, values any, shape []int) *Tensor {
	n := reflect.ValueOf(values).Len()
	if len(shape) == 0 {
		shape = []int{n}
	}
	if err := checkShape(operation, dtype, shape); err != nil {
		panic(err)
	}
	if product(shape) != n {
		panic(fail("give a shape of as many elements", "%s: %d values do not fill the shape %s of %d elements", operation, n, shapeText(shape), product(shape)))
	}
	t := must(d.emptyToFill(operation, dtype, shape))
	if err := t.set(operation, values); err != nil {
		t.Free()
		panic(err)
	}
	return t
}

// inferType is the element type of a slice's values; nested slices and other types are refused.
func inferType(operation string, values any) (DType, error) {
	v := reflect.ValueOf(values)
	if !v.IsValid() || v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return 0, fail("give a slice: dev.From([]float32{1, 2, 3})", "%s: %T is no slice", operation, values)
	}
	switch v.Type().Elem().Kind() {
	case reflect.Float64:
		return F64, nil
	case reflect.Float32:
		return F32, nil
	case reflect.Int, reflect.Int32:
		return I32, nil
	case reflect.Int64:
		return I64, nil
	case reflect.Int16:
		return I16, nil
	case reflect.Int8:
		return I8, nil
	case reflect.Uint, reflect.Uint32:
		return U32, nil
	case reflect.Uint64:
		return U64, nil
	case reflect.Uint16:
		return U16, nil
	case reflect.Uint8:
		return U8, nil
	case reflect.Slice, reflect.Array:
		return 0, fail("append the rows to one flat slice and give the shape: dev.From(flat, rows, columns)", "%s: %T is nested", operation, values)
	}
	return 0, fail("use a slice of float32, float64, int or a sized integer", "%s: %T holds no numbers", operation, values)
}

func (d *Device) empty(operation string, dtype DType, shape []int) (*Tensor, error) {
	if err := checkShape(operation, dtype, shape); err != nil {
		return nil, err
	}
	t := &Tensor{shape: append([]int(nil), shape...), dtype: dtype}
	mem, err := d.allocate(t.Bytes())
	if err != nil {
		return nil, err
	}
	t.mem = mem
	return t, nil
}

// emptyToFill is empty for contents that take the host's memory at once: what that has not is refused before the work.
func (d *Device) emptyToFill(operation string, dtype DType, shape []int) (*Tensor, error) {
	t, err := d.empty(operation, dtype, shape)
	if err != nil {
		return nil, err
	}
	if host, ok := d.d.(driver.HostMemory); ok {
		if err := host.HostMemory(t.Bytes()); err != nil {
			t.Free() // it has just been made
			return nil, &Error{What: fmt.Sprintf("%s %s: out of memory: %v", operation, t.describe(), err),
				How: "make it smaller; dev.Zeros and dev.Empty take memory as it is touched, dev.Procedural makes its pages as they are read", Cause: err}
		}
	}
	return t, nil
}

func (d *Device) full(operation string, dtype DType, value float64, shape []int) *Tensor {
	t := must(d.emptyToFill(operation, dtype, shape))
	if err := t.fill(operation, value); err != nil {
		t.Free()
		panic(err)
	}
	return t
}

// Fill gives every element one value.
func (t *Tensor) Fill(value float64) error { return t.fill("Fill", value) }

func (t *Tensor) fill(operation string, value float64) error {
	if err := t.mem.writable(operation, "tensor "+t.describe()); err != nil {
		return err
	}
	block := t.dtype.Block()
	pattern := make([]byte, t.dtype.Size(block))
	if err := t.dtype.write(pattern, block, 0, func(int) float64 { return value }); err != nil {
		e := during(operation, err)
		e.What = strings.Replace(e.What, ": element 0: ", ": ", 1)
		return e
	}
	if t.Len() == 0 {
		return nil
	}
	if !t.dtype.plain() { // devices repeat elements, not blocks
		err := t.upload(func(_ int, dst []byte) error {
			for len(dst) > 0 {
				dst = dst[copy(dst, pattern):]
			}
			return nil
		})
		if err == nil {
			t.written()
		}
		return err
	}
	ctx, step := records.context(), fillBytes/len(pattern)
	for first := 0; first < t.Len(); first += step {
		if ctx.Err() != nil {
			return wrap(operation, ctx.Err())
		}
		if err := t.mem.dev.d.Fill(t.address()+addressOf(int(t.dtype.Size(first))), pattern, int64(min(step, t.Len()-first)), nil); err != nil {
			return wrap(operation+" "+t.describe(), err)
		}
	}
	t.written()
	return nil
}

// fillBytes are filled at a time; an interrupt of the cell comes between.
const fillBytes = 1 << 28

// written notes that the window has been overwritten: when it is the whole allocation, nothing incomplete is left.
func (t *Tensor) written() {
	if t.Bytes() == t.mem.bytes {
		t.mem.state.mark("")
	}
}

// CopyFrom replaces the elements by those of a flat slice of as many numbers.
func (t *Tensor) CopyFrom(values any) error {
	if _, err := inferType("CopyFrom", values); err != nil {
		return err
	}
	if n := reflect.ValueOf(values).Len(); n != t.Len() {
		return fail("give as many values as there are elements, or copy into a part: t.Slice(from, to)", "CopyFrom: %d values do not fill %s of %d elements", n, t.describe(), t.Len())
	}
	return t.set("CopyFrom", values)
}

// set converts values to the element type and copies them in.
func (t *Tensor) set(operation string, values any) error {
	if err := t.mem.writable(operation, "tensor "+t.describe()); err != nil {
		return err
	}
	v := reflect.ValueOf(values)
	size, n := t.dtype.Bytes(), t.Len()
	err := t.upload(func(first int, dst []byte) error {
		count := min(chunk, n-first)
		if floats, ok := values.([]float32); ok && t.dtype == F32 {
			for i, f := range floats[first : first+count] {
				binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(f))
			}
			return nil
		}
		if !t.dtype.plain() {
			if err := t.dtype.write(dst, count, first, func(i int) float64 { return floatOf(v.Index(first + i)) }); err != nil {
				return during(operation, err)
			}
			return nil
		}
		for i := range count {
			if err := t.dtype.putValue(dst[i*size:], v.Index(first+i)); err != nil {
				return during(fmt.Sprintf("%s: element %d", operation, first+i), err)
			}
		}
		return nil
	})
	if err == nil {
		t.written()
	}
	return err
}

// floatOf is a number of any kind.
func floatOf(v reflect.Value) float64 {
	switch {
	case v.CanFloat():
		return v.Float()
	case v.CanInt():
		return float64(v.Int())
	}
	return float64(v.Uint())
}

// putValue writes a number of any kind; 64-bit integers stay exact.
func (t DType) putValue(dst []byte, v reflect.Value) error {
	switch {
	case v.CanFloat():
		return t.put(dst, v.Float())
	case v.CanInt() && (t == I64 || t == U64 && v.Int() >= 0):
		putInteger(dst, 8, uint64(v.Int()))
		return nil
	case v.CanInt():
		return t.put(dst, float64(v.Int()))
	case t == U64 || t == I64 && v.Uint() <= math.MaxInt64:
		putInteger(dst, 8, v.Uint())
		return nil
	}
	return t.put(dst, float64(v.Uint()))
}

// chunk is how many elements are converted and copied at a time, a multiple of every block.
const chunk = 1 << 18

// upload fills the tensor chunk by chunk, on all cores; produce writes the elements from index first on into dst.
func (t *Tensor) upload(produce func(first int, dst []byte) error) error {
	return forChunks(t.Len(), func(first, count int) error {
		dst := make([]byte, t.dtype.Size(count))
		if err := produce(first, dst); err != nil {
			return err
		}
		if err := t.mem.dev.d.CopyIn(t.address()+addressOf(int(t.dtype.Size(first))), dst, nil); err != nil {
			return wrap("copy to "+t.describe(), err)
		}
		return nil
	})
}

// forChunks calls work for consecutive chunks of n elements, on all cores, and gives the error of the first chunk that
// failed. An interrupt of the cell ends it between chunks.
func forChunks(n int, work func(first, count int) error) error {
	chunks := (n + chunk - 1) / chunk
	errs := make([]error, chunks)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), chunks) {
		wg.Go(func() {
			for i := range next {
				errs[i] = work(i*chunk, min(chunk, n-i*chunk))
			}
		})
	}
	ctx := records.context()
	interrupted := false
	for i := range chunks {
		if interrupted = ctx.Err() != nil; interrupted {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if interrupted {
		return wrap("copy", ctx.Err())
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// must gives the value or panics with the error.
func must(t *Tensor, err error) *Tensor {
	if err != nil {
		panic(err)
	}
	return t
}
