package cell

import (
	"path"
	"regexp"
	"sort"
	"strings"
)

// preferred says which package a name means when several have it.
var preferred = map[string]string{
	"draw":     "image/draw",
	"parse":    "text/template/parse",
	"pprof":    "runtime/pprof",
	"rand":     "math/rand",
	"scanner":  "text/scanner",
	"template": "text/template",
	"testing":  "testing",
	"plot":     "gonum.org/v1/plot",
	"stat":     "gonum.org/v1/gonum/stat",
	"trace":    "runtime/trace",
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// packageName guesses a package's name from its path: the last element that is not a major version.
func packageName(p string) string {
	name := path.Base(p)
	if majorVersion.MatchString(name) {
		name = path.Base(path.Dir(p))
	}
	return name
}

// autoImports maps the names that are imported on first use to paths. Where several packages have a name it is preferred's,
// else the one with the fewest path elements, memwall's before the standard library's.
func autoImports(paths []string) map[string]string {
	paths = append([]string{}, paths...)
	rank := func(p string) int {
		n := strings.Count(p, "/")
		if strings.HasPrefix(p, "memwall/") {
			return n - 10
		}
		return n
	}
	sort.Slice(paths, func(i, j int) bool {
		if a, b := rank(paths[i]), rank(paths[j]); a != b {
			return a < b
		}
		return paths[i] < paths[j]
	})
	m := map[string]string{}
	for _, p := range paths {
		n := packageName(p)
		if majorVersion.MatchString(path.Base(p)) {
			continue // the package without a version, when there is one, is what the name means
		}
		if _, ok := m[n]; !ok {
			m[n] = p
		}
	}
	have := map[string]bool{}
	for _, p := range paths {
		have[p] = true
	}
	for n, p := range preferred {
		if have[p] {
			m[n] = p
		}
	}
	return m
}
