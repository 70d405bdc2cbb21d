package main

import (
	"fmt"
)

type V struct{ x, y float64 }

func (v V) add(w V) V { return V{v.x + w.x, v.y + w.y} }
func sim(n int) (V, int) {
	p, v := V{0, 10}, V{1, 2}
	steps := 0
	for p.y > 0 {
		p = p.add(v)
		v.y -= 1
		steps++
		if steps > n {
			break
		}
	}
	return p, steps
}
func lcg(n int) (s uint32) {
	s = 1
	for range n {
		s = s*1664525 + 1013904223
	}
	return
}
func f32(n int) (s float32) {
	for i := range n {
		s += float32(i) / 3
	}
	return
}
func u8(n int) (s uint8) {
	for i := range n {
		s += uint8(i)
		s = s<<1 | s>>7
	}
	return
}
func c128(n int) int {
	z, c := 0i, complex(-0.5, 0.5)
	for i := range n {
		z = z*z + c
		if real(z)*real(z)+imag(z)*imag(z) > 4 {
			return i
		}
	}
	return -1
}
func i8(n int) (r []int8) {
	var s int8 = 100
	for range n {
		t := s
		s += 20
		r = append(r, t, s)
	}
	return
}
func mandel() (out string) {
	for y := -1.0; y <= 1; y += 0.5 {
		row := ""
		for x := -2.0; x <= 0.5; x += 0.25 {
			a, b, k := 0.0, 0.0, 0
			for ; k < 20 && a*a+b*b < 4; k++ {
				a, b = a*a-b*b+x, 2*a*b+y
			}
			row += string(" .:#"[k/6])
		}
		out += row + "\n"
	}
	return
}
func rec(n int) (r int) {
	defer func() {
		if recover() != nil {
			r = -r
		}
	}()
	a := []int{1, 2, 3}
	for i := 0; ; i++ {
		r += a[i]
	}
}
func lbl(n int) (s int) {
outer:
	for i := 0; i < n; i++ {
		for j := 0; ; j++ {
			if j > i {
				continue outer
			}
			if i*j > 6 {
				break outer
			}
			s = s*2 + j
			s %= 1000
		}
	}
	return
}
func dig(n int) (s string) {
	for {
		s = string(rune('0'+n%10)) + s
		n /= 10
		if n == 0 {
			return
		}
	}
}
func maxi(a []int) (mi, m int) {
	m = a[0]
	for i, x := range a {
		if x > m {
			m, mi = x, i
		}
	}
	return
}
func pw(b, e int) int {
	r := 1
	for e > 0 {
		if e&1 == 1 {
			r *= b
		}
		b *= b
		e >>= 1
	}
	return r
}
func main() {
	fmt.Println(sim(50))
	fmt.Println(lcg(10), f32(10), u8(20), c128(50), i8(3), rec(1), lbl(6), dig(9070))
	fmt.Println(maxi([]int{3, 9, 2, 9}))
	fmt.Println(pw(3, 13))
	fmt.Print(mandel())
}
