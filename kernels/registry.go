package kernels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"memwall/gpu"
)

// families are the rows of each family, its steps in order. Adding a kernel is one source and one row; a kernel that serves
// several element types has one source and a row each, with the same name, the usual type first. The steps of a ladder do the same
// job, from naive to fast: its name alone means the best step.
var families = []struct {
	rows   []*Kernel
	ladder bool
}{
	{probes, false},
	{gemvs, true},
	{batches, true},
	{gemms, true},
	{linears, true},
	{gateds, true},
	{softmaxes, true},
	{rmsnorms, true},
	{layernorms, true},
	{addnorms, true},
	{glus, true},
	{ropes, true},
	{appends, true},
	{pages, false},
	{embeds, true},
	{logsoftmaxes, true},
	{argmaxes, true},
	{penalties, false},
	{samples, true},
	{attentions, true},
	{decodes, true},
	{pageds, false},
	{kvquants, false},
	{quantizes, true},
	{scaleds, true},
	{gptqs, true},
	{awqs, true},
	{dequantizes, false},
	{qgemvs, true},
	{qgemms, true},
	{fp8gemms, true},
}

// registry holds every kernel, families together.
var registry = everyRow()

func everyRow() (all []*Kernel) {
	for _, f := range families {
		all = append(all, f.rows...)
	}
	return all
}

// ladders are the names of the families that are ladders.
var ladders = everyLadder()

func everyLadder() map[string]bool {
	names := map[string]bool{}
	for _, f := range families {
		if f.ladder {
			names[f.rows[0].Family()] = true
		}
	}
	return names
}

// Listing is a list of kernels that shows itself as a table.
type Listing []*Kernel

// List is every kernel, families together and steps in order.
func List() Listing { return unique(registry) }

// String is a line a kernel: name, arguments, what it does.
func (l Listing) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, k := range l {
		fmt.Fprintf(w, "%s\t%s\t%s\n", k.name, k.Arguments(), k.summary())
	}
	w.Flush() // into memory: cannot fail
	return b.String()
}

// MIMEBundle shows the table.
func (l Listing) MIMEBundle() map[string]any { return map[string]any{"text/plain": l.String()} }

// Get is the kernel of a name. It panics with a *gpu.Error that lists the nearest names when there is none. The name of a
// family alone ("gemv") means its last step.
func Get(name string) *Kernel {
	k, err := lookUp(name)
	if err != nil {
		panic(gpu.Failed(err))
	}
	return k
}

// Families are the names before the slash, in the registry's order.
func Families() []string {
	var names []string
	for _, k := range registry {
		if f := k.Family(); !slices.Contains(names, f) {
			names = append(names, f)
		}
	}
	return names
}

// unique leaves out the entries for further element types.
func unique(kernels []*Kernel) []*Kernel {
	var found []*Kernel
	seen := map[string]bool{}
	for _, k := range kernels {
		if !seen[k.name] {
			seen[k.name] = true
			found = append(found, k)
		}
	}
	return found
}

// variants are the entries of the kernel's name, one for each choice of element types.
func (k *Kernel) variants() []*Kernel {
	var found []*Kernel
	for _, v := range registry {
		if v.name == k.name {
			found = append(found, v)
		}
	}
	return found
}

// variantFor is the entry whose element types are those of the most arguments, of two equally near the earlier; where they
// do not all fit its checks say what is wrong.
func (k *Kernel) variantFor(args []any) *Kernel {
	best, most := k, 0
	for _, v := range k.variants() {
		if fit := v.fits(args); fit > most {
			best, most = v, fit
		}
	}
	return best
}

// fits is how many arguments have the element type of their operand, or are missing where they may be.
func (k *Kernel) fits(args []any) int {
	fit := 0
	for i, o := range k.operands[:min(len(k.operands), len(args))] {
		switch t, is := args[i].(*gpu.Tensor); {
		case is && t != nil && t.DType() == o.dtype, o.optional && (args[i] == nil || is && t == nil):
			fit++
		}
	}
	return fit
}

// types are the choices of element types of the i-th operand, "f16|bf16".
func (k *Kernel) types(i int) string {
	var list []string
	for _, v := range k.variants() {
		if t := v.operands[i].dtype.String(); !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return strings.Join(list, "|")
}

// typeNames are the element types that tell an entry from the others of its name: "bf16".
func (k *Kernel) typeNames() string {
	var list []string
	for i, o := range k.operands {
		if t := o.dtype.String(); strings.Contains(k.types(i), "|") && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return strings.Join(list, " ")
}

// elementTypes are the types of an entry's floating-point tensors, "f16", or "f32 q4_0".
func (k *Kernel) elementTypes() string {
	var list []string
	for _, o := range k.operands {
		if t := o.dtype.String(); o.dtype.Float() && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return strings.Join(list, " ")
}

// steps are the kernels of a family in order.
func steps(family string) []*Kernel {
	var found []*Kernel
	for _, k := range registry {
		if k.Family() == family {
			found = append(found, k)
		}
	}
	return unique(found)
}

func lookUp(name string) (*Kernel, error) {
	for _, k := range registry {
		if k.name == name {
			return k, nil
		}
	}
	if s := steps(name); len(s) > 0 {
		if ladders[name] {
			return s[len(s)-1], nil
		}
		return nil, &gpu.Error{What: fmt.Sprintf("kernel %q: the steps of this family do different jobs", name), How: "name one: " + strings.Join(names(s), ", ")}
	}
	return nil, &gpu.Error{What: fmt.Sprintf("no kernel %q", name), How: "did you mean " + nearest(name, slices.Sorted(maps.Keys(ladders))) + "? kernels.List() shows all"}
}

func names(kernels []*Kernel) []string {
	var all []string
	for _, k := range kernels {
		all = append(all, k.name)
	}
	return all
}

// nearest lists up to three names with the fewest changed letters, of kernels and of families that are given.
func nearest(name string, families []string) string {
	candidates := append(names(unique(registry)), families...)
	lower := strings.ToLower(name)
	score := func(candidate string) int {
		least := distance(lower, candidate)
		if _, idea, ok := strings.Cut(candidate, "_"); ok {
			least = min(least, 1+distance(lower, idea), 1+distance(lower, familyOf(candidate)+"/"+idea), 1+distance(lower, familyOf(candidate)+"_"+idea))
		}
		return least
	}
	slices.SortFunc(candidates, func(a, b string) int { return cmp.Or(cmp.Compare(score(a), score(b)), cmp.Compare(a, b)) })
	best := candidates[:1]
	for _, c := range candidates[1:3] {
		if score(c) == score(best[0]) || score(best[0]) > 1 && score(c) == score(best[0])+1 {
			best = append(best, c)
		}
	}
	return strings.Join(best, " or ")
}

// distance is the number of letters to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
