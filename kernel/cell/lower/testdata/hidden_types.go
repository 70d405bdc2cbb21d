package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

func main1() {
	b := make([]byte, 8)
	o := binary.LittleEndian
	o.PutUint32(b, 7)
	fmt.Println(b, o, o.String())
	var x any = o
	_, ok := x.(binary.ByteOrder)
	fmt.Println(ok, x == any(binary.LittleEndian), x == any(binary.BigEndian))
	fmt.Printf("%T %v\n", o, o)
	f := func(bo binary.ByteOrder) uint16 { return bo.Uint16(b) }
	fmt.Println(f(o), f(binary.BigEndian))
}

type W2 struct {
	bo binary.AppendByteOrder
	n  int
}

func main2() {
	w := W2{binary.BigEndian, 1}
	fmt.Println(w.bo.AppendUint16(nil, 3), w)
	m := map[string]binary.ByteOrder{"l": binary.LittleEndian, "b": binary.BigEndian}
	for _, k := range []string{"l", "b"} {
		fmt.Println(k, m[k].Uint16([]byte{1, 0}), m[k])
	}
	fmt.Println(binary.NativeEndian.Uint16([]byte{1, 0}), binary.NativeEndian.AppendUint32(nil, 5))
}

func main3() {
	var w bytes.Buffer
	fmt.Println(binary.Write(&w, binary.LittleEndian, uint16(5)), w.Bytes())
	var v uint16
	fmt.Println(binary.Read(&w, binary.LittleEndian, &v), v)
	fmt.Println(binary.Size(uint32(1)))
	os := []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}
	for _, o := range os {
		fmt.Println(o == binary.LittleEndian, o)
	}
}

var bo4 = binary.LittleEndian

type R4 struct {
	data []byte
	off  int
}

func (r *R4) u32() uint32 { v := bo4.Uint32(r.data[r.off:]); r.off += 4; return v }
func main4() {
	r := &R4{data: bo4.AppendUint32(bo4.AppendUint32(nil, 1), 258)}
	fmt.Println(r.u32(), r.u32(), r.off)
	g := bo4.PutUint16
	b := make([]byte, 2)
	g(b, 513)
	fmt.Println(b)
}

func main() {
	main1()
	main2()
	main3()
	main4()
}
