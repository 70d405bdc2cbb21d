package nvrtc

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// ISA is a PTX ISA version; a driver loads PTX up to the version that it knows.
type ISA struct{ Major, Minor int }

func (v ISA) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

func (v ISA) less(w ISA) bool { return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor }

// leastISA is where lowering stops: the version of sm_70, whose drivers are the oldest of interest.
var leastISA = ISA{6, 0}

// targetISA is the version that introduced a target (PTX ISA, "Release Notes").
var targetISA = map[string]ISA{
	"sm_50": {4, 0}, "sm_52": {4, 1}, "sm_53": {4, 2}, "sm_60": {5, 0}, "sm_61": {5, 0}, "sm_62": {5, 0}, "sm_70": {6, 0}, "sm_72": {6, 1},
	"sm_75": {6, 3}, "sm_80": {7, 0}, "sm_86": {7, 1}, "sm_87": {7, 4}, "sm_89": {7, 8}, "sm_90": {7, 8}, "sm_90a": {8, 0},
	"sm_100": {8, 6}, "sm_100a": {8, 6}, "sm_101": {8, 6}, "sm_101a": {8, 6}, "sm_103": {8, 8}, "sm_103a": {8, 8}, "sm_120": {8, 7}, "sm_120a": {8, 7},
	"sm_121": {8, 8}, "sm_121a": {8, 8},
}

// opcodeISA is the version that introduced a base opcode; 0 stands for "before 6.0". An opcode that is not here keeps the
// compiler's version ("PTX ISA Notes" of each instruction).
var opcodeISA = sync.OnceValue(func() map[string]ISA {
	return opcodes(map[ISA]string{
		{}: "abs add addc and atom bar bfe bfi bfind bra brev call clz cnot copysign cos cvt cvta div dp2a dp4a ex2 exit fma isspacep " +
			"ld ldu lg2 lop3 mad mad24 madc max membar min mov mul mul24 neg not or pmevent popc prefetch prefetchu prmt rcp red rem ret rsqrt " +
			"sad selp set setp shf shfl shl shr sin slct sqrt st sub subc testp tex trap vote xor",
		{6, 0}: "barrier brx fence fns match wmma",
		{6, 2}: "activemask", {6, 3}: "nanosleep", {6, 4}: "mma", {6, 5}: "ldmatrix",
		{7, 0}: "cp mbarrier redux tanh",
		{7, 3}: "alloca stackrestore stacksave", {7, 4}: "applypriority createpolicy discard", {7, 6}: "bmsk szext",
		{7, 8}: "getctarank griddepcontrol mapa movmatrix stmatrix",
		{8, 0}: "elect setmaxnreg wgmma", {8, 1}: "multimem", {8, 6}: "tcgen05",
	})
})

func opcodes(byVersion map[ISA]string) map[string]ISA {
	m := map[string]ISA{}
	for v, names := range byVersion {
		for _, name := range strings.Fields(names) {
			m[name] = v
		}
	}
	return m
}

// rule raises the version of what its pattern matches.
type rule struct {
	pattern *regexp.Regexp
	version ISA
	what    string
}

// modifierISA raises the version of an instruction whose whole spelling matches.
var modifierISA = sync.OnceValue(func() []rule {
	return []rule{
		{regexp.MustCompile(`^mma\.(sp\.)?.*\.m16n8k8\..*\.f16\.f16\.`), ISA{6, 5}, "mma m16n8k8 on f16"},
		{regexp.MustCompile(`^mma\..*\.(m8n8k16|m8n8k32)\.`), ISA{6, 5}, "integer mma"},
		{regexp.MustCompile(`^mma\..*\.(m16n8k4|m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256|m8n8k128)\.|^mma\..*\.(bf16|tf32|f64)\.`), ISA{7, 0}, "mma of sm_80"},
		{regexp.MustCompile(`^mma\.sp`), ISA{7, 1}, "sparse mma"},
		{regexp.MustCompile(`^mma\..*\.(e4m3|e5m2)`), ISA{8, 4}, "mma on fp8"},
		{regexp.MustCompile(`^mma\..*(kind::|block_scale|e2m1|e3m2|e2m3)`), ISA{8, 7}, "mma of sm_120a"},
		{regexp.MustCompile(`^wmma\..*\.(bf16|tf32|f64)`), ISA{7, 0}, "wmma of sm_80"},
		{regexp.MustCompile(`^wmma\..*\.(s8|u8|s4|u4|b1|m8n32k16|m32n8k16)`), ISA{6, 3}, "integer wmma"},
		// mma, fma, min, max, abs, neg and cvt from f32 knew bf16 from 7.0 on, the others came later.
		{regexp.MustCompile(`\.bf16(x2)?(\.|$)`), ISA{7, 0}, "bf16"},
		{regexp.MustCompile(`^(add|sub|mul|ex2|tanh|setp?|atom|red)\..*\.bf16(x2)?(\.|$)`), ISA{7, 8}, "bf16 arithmetic"},
		{regexp.MustCompile(`^cvt\..*\.bf16(\.(f16|f64|bf16|[us]\d+))?$`), ISA{7, 8}, "conversion from and between bf16"},
		{regexp.MustCompile(`^cvt\..*\.(f16x2|bf16x2|tf32)`), ISA{7, 0}, "packed conversion"},
		{regexp.MustCompile(`^cvt\..*\.(bf16)\.f32$`), ISA{7, 0}, "cvt to bf16"},
		{regexp.MustCompile(`^cvt\..*\.(e4m3x2|e5m2x2)`), ISA{8, 1}, "conversion to fp8"},
		{regexp.MustCompile(`^cvt\..*\.(e2m1|e2m3|e3m2|ue8m0)`), ISA{8, 6}, "conversion below fp8"},
		{regexp.MustCompile(`^cvt\.pack`), ISA{6, 5}, "cvt.pack"},
		{regexp.MustCompile(`^cvt\..*\.relu|^fma\..*\.relu`), ISA{7, 0}, ".relu"},
		{regexp.MustCompile(`^(min|max)\..*\.f16`), ISA{7, 0}, "min, max on f16"},
		{regexp.MustCompile(`^(min|max)\.(.*\.)?(NaN|nan|xorsign)`), ISA{7, 2}, "min, max with NaN"},
		{regexp.MustCompile(`^(ex2|tanh)\..*\.f16`), ISA{7, 0}, "ex2, tanh on f16"},
		{regexp.MustCompile(`^abs\..*f16`), ISA{6, 5}, "abs on f16"},
		{regexp.MustCompile(`^(add|sub|mul|fma)\..*\.f32x2`), ISA{8, 6}, "f32x2"},
		{regexp.MustCompile(`\.L2::(cache_hint|64B|128B|256B|evict)|\.L1::`), ISA{7, 4}, "cache hints"},
		{regexp.MustCompile(`\.L2::(evict_first|evict_last)\.v[48]|^ld\..*\.v8|^st\..*\.v8|^(ld|st)\..*\.v4\.(b64|u64|s64|f64)`), ISA{8, 8}, "256-bit accesses"},
		{regexp.MustCompile(`::(cta|cluster)`), ISA{7, 8}, "shared::cta, shared::cluster"},
		{regexp.MustCompile(`\.(cluster)(\.|$)`), ISA{7, 8}, "cluster scope"},
		{regexp.MustCompile(`\.param::`), ISA{8, 3}, ".param::entry, .param::func"},
		{regexp.MustCompile(`\.b128`), ISA{8, 3}, "b128"},
		{regexp.MustCompile(`^cp\.async\.bulk`), ISA{8, 0}, "bulk copies"},
		{regexp.MustCompile(`^cp\.(reduce|async\.mbarrier)`), ISA{8, 0}, "bulk reductions"},
		{regexp.MustCompile(`^mbarrier\.(test_wait|try_wait|expect_tx|complete_tx|arrive\.expect_tx)`), ISA{8, 0}, "mbarrier transactions"},
		{regexp.MustCompile(`^st\.async|^red\.async`), ISA{8, 1}, "st.async"},
		{regexp.MustCompile(`^st\.bulk`), ISA{8, 6}, "st.bulk"},
		{regexp.MustCompile(`^(atom|red)\..*\.v[248]`), ISA{8, 1}, "vector atomics"},
		{regexp.MustCompile(`^(atom|red)\..*\.f16(\.|$)`), ISA{6, 3}, "atomics on f16"},
		{regexp.MustCompile(`^redux\..*\.f32`), ISA{8, 6}, "redux on f32"},
		{regexp.MustCompile(`^fence\.(proxy|mbarrier_init)`), ISA{8, 0}, "proxy fences"},
		{regexp.MustCompile(`^(ld|st|atom|red)\..*\.mmio`), ISA{8, 2}, "mmio"},
		{regexp.MustCompile(`^(cvta|isspacep)\..*param`), ISA{7, 7}, "generic addresses of parameters"},
		{regexp.MustCompile(`^(stmatrix|ldmatrix)\..*\.(m16n8|m16n16|m8n16)`), ISA{8, 6}, "matrix loads of sm_100"},
	}
})

// textISA raises the version by directives and special registers anywhere in a statement.
var textISA = sync.OnceValue(func() []rule {
	return []rule{
		{regexp.MustCompile(`inlined_at|function_name`), ISA{7, 2}, ".loc of inlined functions"},
		{regexp.MustCompile(`^\s*\.alias`), ISA{6, 3}, ".alias"},
		{regexp.MustCompile(`\.noreturn`), ISA{6, 4}, ".noreturn"},
		{regexp.MustCompile(`\.(explicitcluster|reqnctapercluster|maxclusterrank)`), ISA{7, 8}, "cluster directives"},
		{regexp.MustCompile(`\.b128`), ISA{8, 3}, "b128"},
		{regexp.MustCompile(`%(cluster|nclusterid|is_explicit_cluster)`), ISA{7, 8}, "cluster registers"},
		{regexp.MustCompile(`%reserved_smem_offset`), ISA{7, 6}, "%reserved_smem_offset"},
		{regexp.MustCompile(`%aggr_smem_size`), ISA{8, 1}, "%aggr_smem_size"},
		{regexp.MustCompile(`%current_graph_exec`), ISA{8, 0}, "%current_graph_exec"},
		{regexp.MustCompile(`used_bytes_mask`), ISA{8, 3}, "pragma used_bytes_mask"},
		{regexp.MustCompile(`\.(abi_preserve|blocksareclusters|enable_smem_spilling)`), ISA{8, 8}, "newer directives"},
		{regexp.MustCompile(`\.attribute|\.common|\.unified`), ISA{7, 7}, "attributes"},
	}
})

var (
	versionLine = lazy(`(?m)^\.version[ \t]+(\d+)\.(\d+)[ \t\r]*$`)
	targetLine  = lazy(`(?m)^\.target[ \t]+(sm_\w+)`)
	comment     = lazy(`//[^\n]*`)
	wholeLine   = lazy(`(?m)^\s*\.(version|target|address_size|loc|file)\b[^\n]*$`)
	label       = lazy(`^\s*[A-Za-z_$%][\w$]*:`)
	guard       = lazy(`^@!?%?[\w$]+\s+`)
	opcode      = lazy(`^[a-z][\w.:]*`)
)

// LeastISA is the least PTX ISA version that the target and every instruction of a module need, at least 6.0, and what needs
// it. An instruction that the tables do not know needs the version that the module has.
func LeastISA(ptx string) (ISA, string, error) {
	own := versionLine().FindStringSubmatch(ptx)
	target := targetLine().FindStringSubmatch(ptx)
	if own == nil || target == nil {
		return ISA{}, "", fmt.Errorf("nvrtc: PTX without a .version or .target line")
	}
	var have ISA
	have.Major, _ = strconv.Atoi(own[1]) // digits by the pattern
	have.Minor, _ = strconv.Atoi(own[2])
	least, why := leastISA, "the least of interest"
	need := func(v ISA, what string) {
		if least.less(v) {
			least, why = v, what
		}
	}
	if v, ok := targetISA[target[1]]; ok {
		need(v, target[1])
	} else {
		return have, "target " + target[1], nil
	}
	for _, line := range strings.Split(ptx, "\n") {
		if strings.Contains(line, "inlined_at") {
			need(ISA{7, 2}, ".loc of inlined functions")
		}
	}
	for _, statement := range statements(ptx) {
		for _, r := range textISA() {
			if r.pattern.MatchString(statement) {
				need(r.version, r.what)
			}
		}
		op := opcode().FindString(statement)
		if op == "" {
			continue
		}
		base, _, _ := strings.Cut(op, ".")
		v, ok := opcodeISA()[base]
		if !ok {
			return have, op, nil
		}
		need(v, op)
		for _, r := range modifierISA() {
			if r.pattern.MatchString(op) {
				need(r.version, r.what)
			}
		}
	}
	if have.less(least) {
		return have, "the compiler's own", nil
	}
	return least, why, nil
}

// LowerVersion writes the least version into a module, so that older drivers load it.
func LowerVersion(ptx string) (string, error) {
	least, _, err := LeastISA(ptx)
	if err != nil {
		return "", err
	}
	return versionLine().ReplaceAllLiteralString(ptx, ".version "+least.String()), nil
}

// statements parts PTX text at semicolons and at the braces of scopes; the braces of a vector operand stay inside their
// statement. Labels and guards are taken off.
func statements(ptx string) []string {
	text := wholeLine().ReplaceAllString(comment().ReplaceAllString(ptx, ""), "")
	var all []string
	var b strings.Builder
	vector := false
	flush := func() {
		s := strings.TrimSpace(b.String())
		b.Reset()
		for label().MatchString(s) {
			s = strings.TrimSpace(label().ReplaceAllString(s, ""))
		}
		if s = guard().ReplaceAllString(s, ""); s != "" {
			all = append(all, s)
		}
	}
	for _, r := range text {
		switch {
		case r == '{' && !vector:
			if s := strings.TrimSpace(b.String()); s != "" && !strings.HasPrefix(s, ".") && !strings.HasSuffix(s, ":") {
				vector = true
				b.WriteRune(r)
			} else {
				flush()
			}
		case r == '}' && vector:
			vector = false
			b.WriteRune(r)
		case r == '}' || r == ';':
			vector = false
			flush()
		default:
			b.WriteRune(r)
		}
	}
	flush()
	return all
}
