package kvcache

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkOperations is a server's mix: 64 sequences of up to 1,000 tokens in a cache that is too small for all of them, a
// token appended at a time, beginnings shared, forks, swaps.
func BenchmarkOperations(b *testing.B) {
	c := open(b, Config{Pages: 2048, PageSize: 16, HostPages: 512})
	r := rand.New(rand.NewPCG(1, 1))
	prompts := make([][]int32, 16)
	for i := range prompts {
		prompts[i] = text(i%4, 64+8*i)
	}
	var live []int
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		switch {
		case i%256 == 0 && len(live) < 64:
			if id, err := c.Add(prompts[r.IntN(len(prompts))]); err == nil {
				live = append(live, id)
			}
		case i%512 == 1 && len(live) > 0 && len(live) < 64:
			if id, err := c.Fork(live[r.IntN(len(live))]); err == nil {
				live = append(live, id)
			}
		case len(live) > 0:
			at := i % len(live)
			if s := c.sequences[live[at]]; s.length >= 1000 || c.pool.available() < 2 {
				c.Free(live[at])
				live[at] = live[len(live)-1]
				live = live[:len(live)-1]
				continue
			}
			if _, err := c.Append(live[at], int32(i)); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkAppend is one token.
func BenchmarkAppend(b *testing.B) {
	c := open(b, Config{Pages: 4096, PageSize: 16})
	id := must[int](b)(c.Add(nil))
	for i := 0; b.Loop(); i++ {
		if i%32768 == 32767 {
			c.Free(id)
			id, _ = c.Add(nil)
		}
		if _, err := c.Append(id, int32(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAddFree is a prompt of 64 tokens whose pages are found, and its end.
func BenchmarkAddFree(b *testing.B) {
	c := open(b, Config{Pages: 4096, PageSize: 16})
	prompt := text(1, 64)
	for b.Loop() {
		id, err := c.Add(prompt)
		if err != nil {
			b.Fatal(err)
		}
		c.Free(id)
	}
}

// BenchmarkForkWrite is a fork of 64 tokens, a token that makes it copy its last page, and its end.
func BenchmarkForkWrite(b *testing.B) {
	c := open(b, Config{Pages: 4096, PageSize: 16})
	id := must[int](b)(c.Add(text(1, 60)))
	for b.Loop() {
		f, err := c.Fork(id)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Append(f, 1); err != nil {
			b.Fatal(err)
		}
		c.Free(f)
	}
}

// BenchmarkMillionPages is a token in a cache of a million pages in use, of 1,000 sequences in turn.
func BenchmarkMillionPages(b *testing.B) {
	c := open(b, Config{Pages: 1 << 20, PageSize: 16})
	for i := range 1000 {
		must[int](b)(c.Add(text(i, 16*1000)))
	}
	for i := 0; b.Loop(); i++ {
		if c.pool.available() == 0 {
			b.StopTimer()
			for id := range 500 {
				c.Free(id)
				delete(c.sequences, id)
			}
			b.StartTimer()
		}
		if _, err := c.Append(500+i%500, int32(i)); err != nil {
			b.Fatal(err)
		}
	}
}
