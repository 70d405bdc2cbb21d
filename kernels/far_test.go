package kernels

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFarCaseFindsNarrowOffsets computes the offset of a row in 32 bits, which the case beyond 4 GiB must notice, and makes
// that case too small, which it must notice too.
func TestFarCaseFindsNarrowOffsets(t *testing.T) {
	dev := open(t, "virtual:a100")
	k := *Get("gemv/3_vec16")
	if result, err := k.checkFar(dev, 1); err != nil || len(result.Wrong) > 0 || !strings.HasSuffix(result.Case, ", w of 4.30 GB, 8 rows up to 524291") {
		t.Errorf("%+v, %v", result, err)
	}
	small := k
	small.far = &farCase{dims: dims{"N": 1 << 18, "K": 1 << 12}, operand: "w", rows: "N", sample: 1 << 15}
	if result, err := small.checkFar(dev, 1); err != nil || len(result.Wrong) != 1 || result.Wrong[0] != "no row beyond 4 GiB was computed, the last ends at byte 1073774592" {
		t.Errorf("%+v, %v", result, err)
	}
	text, _ := k.ptx("sm_80")
	wide := regexp.MustCompile(`mul\.wide\.s32 \t(%rd\d+), (%r\d+), (%r\d+);`)
	first := wide.FindString(text)
	if first == "" {
		t.Fatal("the PTX multiplies in another way")
	}
	narrow := strings.Replace(text, first, wide.ReplaceAllString(first, "{ .reg .b32 %narrow; mul.lo.s32 %narrow, $2, $3; cvt.s64.s32 $1, %narrow; }"), 1)
	whole := files
	defer func() { files = whole }()
	files = fstest.MapFS{"gemv/3_vec16.sm_80.ptx": {Data: []byte(narrow)}, "gemv/3_vec16.cu": {Data: []byte(k.source())},
		"include/element.cuh": {Data: []byte(header("element.cuh"))}}
	forget := func() {
		loaded.Lock()
		delete(loaded.modules, loadedKey{dev, k.name})
		loaded.Unlock()
	}
	forget()
	defer forget()
	if result, err := k.checkFar(dev, 1); err == nil && len(result.Wrong) == 0 {
		t.Errorf("offsets of 32 bits pass: %+v", result)
	}
}
