package main

import (
	"fmt"
	"math"
	"slices"
)

func fib(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
func collatz(n int) (c int) {
	for n != 1 {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
		c++
	}
	return
}
func last(n int) (p, q int) {
	for i := range n {
		p = i
		q = p*2 + q
	}
	return
}
func nest(n int) (s int) {
	for i := range n {
		for j := i; j < n; j++ {
			if j%3 == 0 {
				continue
			}
			s += i * j
			if s > 500 {
				return s
			}
		}
	}
	return s
}
func shift(n int) [4]int {
	var a, b, c, d int
	for i := 1; i <= n; i++ {
		d, c, b, a = c, b, a, a+i
	}
	return [4]int{a, b, c, d}
}
func str(n int) string {
	s, t := "", "x"
	for i := range n {
		s += t
		if i%2 == 1 {
			t = s[:1] + "y"
		}
		s = s + fmt.Sprint(i)
	}
	return s
}
func idx(a []int) (r []int) {
	for i := 0; i < len(a); i++ {
		j := i + 1
		if j < len(a) {
			r = append(r, a[j]-a[i])
		}
		i = j
		if i%2 == 0 {
			i++
		}
	}
	return
}
func two(n int) (x, y int) {
	x, y = 1, 2
	for i := 0; i < n; i++ {
		x, y = y-x, x+y
	}
	return
}
func prev(xs []float64) (m float64) {
	p := xs[0]
	for _, x := range xs[1:] {
		d := x - p
		p = x
		if d > m {
			m = d
		}
	}
	return
}
func newton(x float64) float64 {
	z := 1.0
	for i := 0; i < 20; i++ {
		n := z - (z*z-x)/(2*z)
		if math.Abs(n-z) < 1e-12 {
			return n
		}
		z = n
	}
	return z
}
func horner(c []int, x int) (r int) {
	for _, k := range c {
		r = r*x + k
	}
	return
}
func rev(s string) string {
	r := ""
	for _, c := range s {
		r = string(c) + r
	}
	return r
}
func bits(n uint) (c int) {
	for ; n != 0; n &= n - 1 {
		c++
	}
	return
}
func clos(n int) (fs []func() int) {
	s := 0
	for i := 0; i < n; i++ {
		s += i
		t := s
		fs = append(fs, func() int { t += i; return t + s })
	}
	return
}
func goton(n int) int {
	i, s := 0, 0
top:
	if i < n {
		s += i
		i++
		if i%4 == 3 {
			i++
			goto top
		}
		s *= 2
		goto top
	}
	return s + i
}
func brk(n int) (int, int) {
	i, k := 0, 0
	for {
		i++
		k += i
		if k > n {
			break
		}
		if i%5 == 0 {
			k--
		}
	}
	return i, k
}
func sw(a []int) []int {
	b := slices.Clone(a)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return b
}
func mat(n int) (t int) {
	for i := range n {
		r := 0
		for j := range n {
			r += i * j
			if r > 40 {
				r -= 7
			}
		}
		t += r
		for k := n; k > 0; k-- {
			t ^= k
		}
	}
	return
}
func sieve(n int) (c int) {
	comp := make([]bool, n+1)
	for i := 2; i <= n; i++ {
		if comp[i] {
			continue
		}
		c++
		for j := i * i; j <= n; j += i {
			comp[j] = true
		}
	}
	return
}
func carry(a, b []int) (r []int) {
	c := 0
	for i := range a {
		s := a[i] + b[i] + c
		c = s / 10
		r = append(r, s%10)
	}
	if c > 0 {
		r = append(r, c)
	}
	return
}
func oldnew(n int) (r []int) {
	x := 1
	for range n {
		y := x
		x = x * 3
		r = append(r, y, x, x-y)
	}
	return
}
func outer(n int) (r []int) {
	k := 0
	for i := range n {
		j := 0
		for ; j < i; j++ {
			k += j
		}
		r = append(r, j, k)
	}
	return
}
func main() {
	fmt.Println(fib(10), gcd(48, 18), collatz(27), nest(9), shift(5), str(4))
	fmt.Println(last(5))
	fmt.Println(idx([]int{1, 4, 9, 16, 25, 36}), prev([]float64{1, 3, 2, 8}))
	fmt.Println(two(5))
	fmt.Println(newton(2), horner([]int{1, 2, 3}, 10), rev("héy"), bits(255))
	for _, f := range clos(4) {
		fmt.Print(f(), f(), " ")
	}
	fmt.Println(goton(9))
	fmt.Println(brk(30))
	fmt.Println(sw([]int{1, 2, 3, 4}), mat(6), sieve(100), carry([]int{9, 9}, []int{1, 2}), oldnew(3), outer(4))
}
