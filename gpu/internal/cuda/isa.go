package cuda

import (
	"fmt"
	"regexp"
	"strconv"
)

// releases are the PTX ISA versions with the CUDA version that brought each and the first Linux driver of that version (PTX ISA,
// "Release Notes"; CUDA Toolkit Release Notes, "CUDA Toolkit and Corresponding Driver Versions").
var releases = []struct{ isa, cuda, driver int }{ // 8.7 is 807, 12.8 is 1208
	{603, 1000, 410}, {604, 1001, 418}, {605, 1002, 440}, {700, 1100, 450}, {701, 1101, 455}, {702, 1102, 460}, {703, 1103, 465}, {704, 1104, 470},
	{705, 1105, 495}, {706, 1106, 510}, {707, 1107, 515}, {708, 1108, 520}, {800, 1200, 525}, {801, 1201, 530}, {802, 1202, 535}, {803, 1203, 545},
	{804, 1204, 550}, {805, 1205, 555}, {806, 1207, 565}, {807, 1208, 570}, {808, 1209, 575}, {900, 1300, 580}, {901, 1301, 590},
}

var versionLine = regexp.MustCompile(`(?m)^\s*\.version\s+(\d+)\.(\d+)`)

// tooNew explains that a driver of a CUDA version, 12040 for 12.4, refuses the PTX: which driver would do.
func tooNew(text string, version int) string {
	m := versionLine.FindStringSubmatch(text)
	if m == nil {
		return "the PTX has no .version"
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	have := fmt.Sprintf("this one is of CUDA %d.%d", version/1000, version%1000/10)
	for _, r := range releases {
		if r.isa >= 100*major+minor {
			return fmt.Sprintf("PTX %s.%s needs a driver of CUDA %d.%d or newer, %d on Linux: %s\nupdate the NVIDIA driver, or compile to older PTX", m[1], m[2], r.cuda/100, r.cuda%100, r.driver, have)
		}
	}
	return fmt.Sprintf("PTX %s.%s is newer than every driver that memwall knows: %s\nupdate the NVIDIA driver, or compile to older PTX", m[1], m[2], have)
}
