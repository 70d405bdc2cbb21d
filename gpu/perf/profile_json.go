package perf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strings"
)

// jsonField is one key of a profile's JSON text: its type, and where it goes.
type jsonField struct {
	key    string
	number func(*Profile) *float64
	whole  func(*Profile) *int
	text   func(*Profile) *string
}

// jsonFields are the keys of a profile's JSON text beside like, compute_capability, memory_bytes and sources.
var jsonFields = []jsonField{
	{key: "name", text: func(p *Profile) *string { return &p.Name }},
	{key: "model", text: func(p *Profile) *string { return &p.Model }},
	{key: "sms", whole: func(p *Profile) *int { return &p.SMs }},
	{key: "boost_hz", number: func(p *Profile) *float64 { return &p.BoostHz }},
	{key: "dram_bytes_per_second", number: func(p *Profile) *float64 { return &p.DRAMBytesPerSecond }},
	{key: "fp32_flops", number: func(p *Profile) *float64 { return &p.FP32FLOPs }},
	{key: "fp16_flops", number: func(p *Profile) *float64 { return &p.FP16FLOPs }},
	{key: "fp64_flops", number: func(p *Profile) *float64 { return &p.FP64FLOPs }},
	{key: "tensor_flops", number: func(p *Profile) *float64 { return &p.TensorFLOPs }},
	{key: "model_hz", number: func(p *Profile) *float64 { return &p.ModelHz }},
	{key: "l1_bytes", whole: func(p *Profile) *int { return &p.L1Bytes }},
	{key: "l2_bytes", whole: func(p *Profile) *int { return &p.L2Bytes }},
	{key: "dram_reach", number: func(p *Profile) *float64 { return &p.DRAMReach }},
	{key: "dram_copy_reach", number: func(p *Profile) *float64 { return &p.DRAMCopyReach }},
	{key: "l2_bytes_per_second", number: func(p *Profile) *float64 { return &p.L2BytesPerSecond }},
	{key: "l1_latency_cycles", number: func(p *Profile) *float64 { return &p.L1Latency }},
	{key: "l2_latency_cycles", number: func(p *Profile) *float64 { return &p.L2Latency }},
	{key: "dram_latency_cycles", number: func(p *Profile) *float64 { return &p.DRAMLatency }},
	{key: "shared_latency_cycles", number: func(p *Profile) *float64 { return &p.SharedLatency }},
	{key: "tensor_macs_per_sm_cycle", number: func(p *Profile) *float64 { return &p.TensorMACsPerSMCycle }},
	{key: "lsu_cycles", number: func(p *Profile) *float64 { return &p.LSUCycles }},
	{key: "launch_seconds", number: func(p *Profile) *float64 { return &p.LaunchSeconds }},
}

// ProfileKeys are the keys that ParseProfile knows, in the order in which its errors list them.
func ProfileKeys() []string {
	keys := []string{"like", "compute_capability", "memory_bytes", "sources"}
	for i := range jsonFields {
		keys = append(keys, jsonFields[i].key)
	}
	return keys
}

// profileName is what a profile may be called: it stands behind "virtual:".
var profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// ParseProfile reads a GPU from JSON text: one object whose keys are those of ProfileKeys. "like" names a profile of the
// table whose figures hold where the text gives none; without it every figure must be given. Units are in the keys: bytes,
// seconds, Hz, FLOP/s, cycles. sources says where the figures come from and must not be empty. An unknown key, a key twice, a
// value of another type, text after the object, a name that the table has and a figure that cannot be are errors; file stands
// before each.
func ParseProfile(file string, text []byte) (*Profile, error) {
	fail := func(format string, args ...any) (*Profile, error) {
		return nil, fmt.Errorf("profile %s: "+format, append([]any{file}, args...)...)
	}
	keys, values, err := objectOf(text)
	if err != nil {
		return fail("%s", jsonTrouble(text, err))
	}
	p := &Profile{}
	if raw, ok := values["like"]; ok {
		var like string
		if err := decode(raw, &like); err != nil {
			return fail("like: %s", err)
		}
		base, err := ProfileByName(like)
		if err != nil || like == "" {
			return fail("like: no device profile named %q\nuse one of %s", like, strings.Join(ProfileNames(), ", "))
		}
		*p = *base
		p.Name, p.Model, p.Sources = "", "", nil
		p.Origin = &Origin{Like: base.Name, base: base.Sources}
	}
	if p.Origin == nil {
		p.Origin = &Origin{}
	}
	p.Origin.File, p.Origin.Given = filepath.Base(file), map[string]bool{}
	for _, key := range keys {
		p.Origin.Given[key] = true
	}
	for _, key := range keys {
		if err := p.setJSON(key, values[key]); err != nil {
			return fail("%s: %s", key, err)
		}
	}
	if !profileName.MatchString(p.Name) {
		return fail("name is %q: give one of small letters, digits, dots and hyphens", p.Name)
	}
	for _, known := range ProfileNames() {
		if known == p.Name {
			return fail("name %q is that of a profile of the table: choose another", p.Name)
		}
	}
	if p.Model == "" {
		p.Model = p.Name
	}
	if err := p.Check(); err != nil {
		hint := ""
		if _, ok := values["like"]; !ok {
			hint = "\ngive it, or name a profile that is similar: \"like\": \"h100\""
		}
		return fail("%s%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("profile %q: ", p.Name)), hint)
	}
	return p, nil
}

// setJSON sets one figure.
func (p *Profile) setJSON(key string, raw json.RawMessage) error {
	switch key {
	case "like":
		return nil
	case "sources":
		return decode(raw, &p.Sources)
	case "memory_bytes":
		return whole(raw, func(v float64) { p.MemoryBytes = int64(v) })
	case "compute_capability":
		var cc string
		if err := decode(raw, &cc); err != nil {
			return err
		}
		l, err := ParseComputeCapability(cc)
		if err != nil {
			return err
		}
		p.Major, p.Minor = l.Major, l.Minor
		return nil
	}
	for i := range jsonFields {
		f := &jsonFields[i]
		switch {
		case f.key != key:
		case f.text != nil:
			return decode(raw, f.text(p))
		case f.whole != nil:
			return whole(raw, func(v float64) { *f.whole(p) = int(v) })
		default:
			return decode(raw, f.number(p))
		}
	}
	return fmt.Errorf("no such key\nthe keys are %s", strings.Join(ProfileKeys(), ", "))
}

// whole reads a number without a fraction, which may be written 80e9.
func whole(raw json.RawMessage, set func(float64)) error {
	var v float64
	if err := decode(raw, &v); err != nil {
		return err
	}
	if v != math.Trunc(v) || math.Abs(v) > 1<<52 {
		return fmt.Errorf("%s is not a whole number", raw)
	}
	set(v)
	return nil
}

// decode reads one value; null is no value.
func decode(raw json.RawMessage, into any) error {
	want := map[string]string{"*string": "a text", "*float64": "a number", "*[]string": "a list of texts"}[fmt.Sprintf("%T", into)]
	if bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, into) != nil {
		return fmt.Errorf("%s is not %s", clip(string(raw), 40), want)
	}
	return nil
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// objectOf splits a JSON object into its keys, in order, and their raw values.
func objectOf(text []byte) (keys []string, values map[string]json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	open, err := d.Token()
	if err != nil {
		return nil, nil, err
	}
	if open != json.Delim('{') {
		return nil, nil, errors.New("the text is not a JSON object: begin with {")
	}
	values = map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		key, _ := token.(string)
		if _, twice := values[key]; twice {
			return nil, nil, fmt.Errorf("key %q stands twice", key)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, nil, err
		}
		keys, values[key] = append(keys, key), raw
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("text stands behind the object")
	}
	return keys, values, nil
}

// jsonTrouble says on which line of the text JSON's grammar is broken.
func jsonTrouble(text []byte, err error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the text ends inside the object"
	case errors.As(err, &syntax):
		before := text[:min(max(int(syntax.Offset), 0), len(text))]
		return fmt.Sprintf("line %d: this is not JSON", bytes.Count(before, []byte("\n"))+1)
	}
	return err.Error()
}
