package nvrtc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Attributes of a .nv.info record.
const (
	attributeFrameSize = 0x11
	attributeMinStack  = 0x12
	attributeRegisters = 0x2f
	formatSized        = 4 // the record carries a 16-bit size and that many bytes
)

// CubinFacts reads registers, stack and static shared bytes of every entry point from a cubin, which is an ELF file:
// .nv.info holds records (format byte, attribute byte, 16-bit size or value), .nv.shared.NAME is as long as the static
// shared memory. Spills are not in it; they come from the assembler's log.
func CubinFacts(cubin []byte) (map[string]Facts, error) {
	if len(cubin) >= 24 && cubin[elf.EI_CLASS] == byte(elf.ELFCLASS64) {
		// The assembler writes its own number into e_version, where ELF and debug/elf want 1.
		cubin = bytes.Clone(cubin)
		binary.LittleEndian.PutUint32(cubin[20:], uint32(elf.EV_CURRENT))
	}
	file, err := elf.NewFile(bytes.NewReader(cubin))
	if err != nil {
		return nil, fmt.Errorf("no ELF file: %w", err)
	}
	symbols, err := file.Symbols()
	if err != nil {
		return nil, fmt.Errorf("no symbol table: %w", err)
	}
	info := file.Section(".nv.info")
	if info == nil {
		return map[string]Facts{}, nil // no function at all
	}
	data, err := info.Data()
	if err != nil {
		return nil, fmt.Errorf(".nv.info: %w", err)
	}
	facts := map[string]Facts{}
	for _, s := range file.Sections {
		if name, ok := strings.CutPrefix(s.Name, ".nv.info."); ok { // one an entry
			facts[name] = Facts{}
		}
	}
	err = records(data, func(attribute byte, value []byte) {
		if len(value) < 8 {
			return
		}
		symbol := binary.LittleEndian.Uint32(value)
		if symbol == 0 || int(symbol) > len(symbols) { // elf leaves out symbol 0
			return
		}
		name := symbols[symbol-1].Name
		f, ok := facts[name]
		if !ok {
			return
		}
		n := int(binary.LittleEndian.Uint32(value[4:]))
		switch attribute {
		case attributeRegisters:
			f.Registers = n
		case attributeMinStack, attributeFrameSize:
			f.LocalBytes = max(f.LocalBytes, n)
		}
		facts[name] = f
	})
	if err != nil {
		return nil, err
	}
	reserved := reservedShared(symbols)
	for name, f := range facts {
		if s := file.Section(".nv.shared." + name); s != nil {
			f.SharedBytes = max(0, int(s.Size)-reserved)
		}
		if s := file.Section(".text." + name); s != nil && f.Registers == 0 {
			f.Registers = int(s.Info >> 24) // the count again
		}
		if f.Registers == 0 {
			return nil, fmt.Errorf("function %s has no register count", name)
		}
		facts[name] = f
	}
	return facts, nil
}

// reservedShared is what each .nv.shared section holds for the system, besides the function's own: from sm_90 on the 1 KiB
// that every CTA loses on sm_80 too, where the section leaves it out. Occupancy adds it from the device's limits.
func reservedShared(symbols []elf.Symbol) int {
	reserved := 0
	for _, s := range symbols {
		switch s.Name {
		case ".nv.reservedSmem.offset0":
			reserved = max(reserved, 1024)
		case ".nv.reservedSmem.cap":
			reserved = max(reserved, int(min(s.Value, 1<<20)))
		}
	}
	return reserved
}

// records calls f for each sized record of .nv.info.
func records(data []byte, f func(attribute byte, value []byte)) error {
	for len(data) > 0 {
		if len(data) < 4 {
			return errors.New(".nv.info ends inside a record")
		}
		format, attribute, size := data[0], data[1], int(binary.LittleEndian.Uint16(data[2:]))
		data = data[4:]
		if format != formatSized {
			continue // the 16 bits were the value itself
		}
		if size > len(data) {
			return errors.New(".nv.info ends inside a record")
		}
		f(attribute, data[:size])
		data = data[size:]
	}
	return nil
}

var (
	propertiesOf = lazy(`Function properties for (\S+)`)
	spillBytes   = lazy(`(\d+) bytes spill stores, (\d+) bytes spill loads`)
)

// addSpills reads the assembler's verbose log: `Function properties for NAME`, then `… bytes spill stores, … bytes spill loads`.
func addSpills(facts map[string]Facts, log string) {
	name := ""
	for _, line := range strings.Split(log, "\n") {
		if m := propertiesOf().FindStringSubmatch(line); m != nil {
			name = strings.Trim(m[1], "'")
		} else if m := spillBytes().FindStringSubmatch(line); m != nil {
			if f, ok := facts[name]; ok {
				stores, _ := strconv.Atoi(m[1]) // digits by the pattern
				loads, _ := strconv.Atoi(m[2])
				f.SpillBytes = stores + loads
				facts[name] = f
			}
		}
	}
}
