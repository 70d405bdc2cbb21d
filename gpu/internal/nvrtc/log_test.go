package nvrtc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"
)

func TestParseLog(t *testing.T) {
	source := "line one\n\tx[i] = foo;\nline three\n"
	log := "k.cu(2): error: identifier \"foo\" is undefined\n  \tx[i] = foo;\n  \t       ^\n\n" +
		"k.cu(1): warning #177-D: variable \"v\" was declared but never referenced\n  line one\n       ^\n\nRemark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n" +
		"/home/me/include/cuda_fp16.hpp(123): error: static assertion failed\n    detected during instantiation of \"f\" at line 2 of k.cu\n\n" +
		"k.cu(99999999999999999999): error: far away\n" +
		"nvrtc: error: unrecognized option --bogus found\n" +
		"ptxas application ptx input, line 28; error   : Not a name of any known instruction: 'bogus'\nptxas fatal   : Ptx assembly aborted due to errors\n" +
		"ptxas error   : Entry function 'st' uses too much shared data (0xea60 bytes, 0xc000 max)\n" +
		"ptxas info    : 0 bytes gmem\n1 error detected in the compilation of \"k.cu\".\n"
	want := []string{
		"k.cu:2:9: error: identifier \"foo\" is undefined\n\tx[i] = foo;\n\t       ^",
		"k.cu:1:6: warning: variable \"v\" was declared but never referenced [#177-D]\nline one\n     ^",
		"cuda_fp16.hpp:123: error: static assertion failed\ndetected during instantiation of \"f\" at line 2 of k.cu",
		"k.cu:9223372036854775807: error: far away",
		"k.cu: error: unrecognized option --bogus found",
		"k.cu: error: assembler: Not a name of any known instruction: 'bogus'",
		"k.cu: error: 60,000 B of static shared memory, a CTA has 49,152 B\n" +
			"declare it extern __shared__ float s[], and give the bytes of a launch as gpu.Config{Shared: …}: that may take all that an SM lets a CTA have",
		"info: assembler: 0 bytes gmem",
	}
	got := parseLog(log, "k.cu", source)
	if len(got) != len(want) {
		t.Fatalf("%d messages: %v", len(got), got)
	}
	for i := range want {
		if got[i].String() != want[i] {
			t.Errorf("message %d:\n%s\nwant\n%s", i, got[i], want[i])
		}
	}
	if got[5].ptxLine != 28 {
		t.Errorf("PTX line %d", got[5].ptxLine)
	}
	long := newCompileError("k.cu", &reply{Log: ""}, parseLog(strings.Repeat("k.cu(1): error: again\n", 12), "k.cu", source)).Error()
	if strings.Count(long, "error: again") != 8 || !strings.HasSuffix(long, "\nand 4 more errors") {
		t.Errorf("twelve errors:\n%s", long)
	}
	if got := newCompileError("k.cu", &reply{Problem: "nvrtcCompileProgram: INTERNAL"}, nil).Error(); got != "k.cu: error: nvrtcCompileProgram: INTERNAL" {
		t.Errorf("no log: %s", got)
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add("k.cu(2): error: x\n  abc\n    ^\n", "a\nabc")
	f.Add("ptxas application ptx input, line 2; error   : x", "")
	f.Fuzz(func(t *testing.T, log, source string) {
		for _, d := range parseLog(log, "k.cu", source) {
			_ = d.String()
		}
	})
}

func TestOwnLines(t *testing.T) {
	ptx := ".version 8.8\n\t.loc\t1 26 0\n\tadd;\n\t.loc\t2 100 5, function_name $L__info_string0, inlined_at 1 38 5\n\tsub;\n" +
		"\t.loc\t2 7 5, function_name $L__info_string1, inlined_at 2 9 5\n\t.loc\t1 19 5, function_name $L__info_string0, inlined_at 1 38 5\n\tmul;\n" +
		"\t.file\t1 \"/somewhere/cell 7\"\n\t.file\t2 \"/usr/include/cuda_fp16.hpp\"\n\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 95\n\n\t}\n"
	want := ".version 8.8\n\t.loc\t1 26 0\n\tadd;\n\t.loc\t1 38 5\n\tsub;\n\n\t.loc\t1 19 5\n\tmul;\n\t.file\t1 \"cell 7\"\n\t.file\t2 \"cuda_fp16.hpp\"\n"
	if got := ownLines(ptx, "cell 7"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if other := ".version 8.8\n\t.loc\t1 26 0, function_name x, inlined_at 1 2 3\n"; ownLines(other, "k.cu") != other {
		t.Error("PTX of another source was changed")
	}
}

func FuzzOwnLines(f *testing.F) {
	f.Add("\t.loc\t1 26 0\n\t.file\t1 \"k.cu\"\n\t.section .debug_str\n{\n}")
	f.Fuzz(func(t *testing.T, ptx string) { ownLines(ptx, "k.cu") })
}

// smallCubin is an ELF file as the assembler writes it, with one function f: 24 registers, 8 B of stack, 512 B shared.
func smallCubin() []byte {
	sections := []struct {
		name string
		kind elf.SectionType
		data []byte
		size uint64
		info uint32
		link uint32
	}{
		{"", elf.SHT_NULL, nil, 0, 0, 0},
		{".shstrtab", elf.SHT_STRTAB, nil, 0, 0, 0},
		{".strtab", elf.SHT_STRTAB, []byte("\x00f\x00"), 0, 0, 0},
		{".symtab", elf.SHT_SYMTAB, append(make([]byte, 24), 1, 0, 0, 0, 0x12, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 1, 2},
		{".nv.info", elf.SHT_PROGBITS, []byte{4, 0x2f, 8, 0, 1, 0, 0, 0, 24, 0, 0, 0, 3, 0x10, 9, 9, 4, 0x12, 8, 0, 1, 0, 0, 0, 8, 0, 0, 0}, 0, 0, 0},
		{".text.f", elf.SHT_PROGBITS, []byte{0}, 0, 24 << 24, 0},
		{".nv.info.f", elf.SHT_PROGBITS, nil, 0, 0, 0},
		{".nv.shared.f", elf.SHT_NOBITS, nil, 512, 0, 0},
	}
	var names []byte
	offsets := make([]uint32, len(sections))
	for i, s := range sections {
		offsets[i] = uint32(len(names))
		names = append(append(names, s.name...), 0)
	}
	sections[1].data = names
	var body bytes.Buffer
	headers := make([]elf.Section64, len(sections))
	for i, s := range sections {
		size := s.size
		if s.data != nil {
			size = uint64(len(s.data))
		}
		headers[i] = elf.Section64{Name: offsets[i], Type: uint32(s.kind), Off: uint64(64 + body.Len()), Size: size, Info: s.info, Link: s.link, Addralign: 1, Entsize: 24}
		body.Write(s.data)
	}
	var file bytes.Buffer
	header := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: 190, Version: 0x81, Shoff: uint64(64 + body.Len()), Ehsize: 64, Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: 1}
	copy(header.Ident[:], "\x7fELF\x02\x01\x01")
	binary.Write(&file, binary.LittleEndian, header) // into memory: cannot fail
	file.Write(body.Bytes())
	binary.Write(&file, binary.LittleEndian, headers)
	return file.Bytes()
}

func TestCubinFacts(t *testing.T) {
	facts, err := CubinFacts(smallCubin())
	if want := (Facts{Registers: 24, SharedBytes: 512, LocalBytes: 8}); err != nil || facts["f"] != want {
		t.Fatalf("got %+v, %v; want %+v", facts, err, want)
	}
	addSpills(facts, "ptxas info    : Function properties for f\nptxas         .     8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n")
	if facts["f"].SpillBytes != 28 {
		t.Errorf("spills %d, want 12 + 16", facts["f"].SpillBytes)
	}
	for i := range smallCubin() { // truncated anywhere: an error or the facts, never a panic
		CubinFacts(smallCubin()[:i])
	}
	if _, err := CubinFacts([]byte("hello")); err == nil {
		t.Error("text is taken for a cubin")
	}
}

func FuzzCubinFacts(f *testing.F) {
	f.Add(smallCubin())
	f.Fuzz(func(t *testing.T, data []byte) { CubinFacts(data) })
}
