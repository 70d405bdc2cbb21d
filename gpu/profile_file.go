package gpu

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"memwall/gpu/perf"
)

// profileFile tells whether a device's name is that of a file with a profile: "virtual:FILE.json", or FILE.json for short.
func profileFile(name string) (file string, ok bool) {
	file = strings.TrimSpace(name)
	if !strings.HasSuffix(strings.ToLower(file), ".json") {
		return "", false
	}
	if len(file) > len("virtual:") && strings.EqualFold(file[:len("virtual:")], "virtual:") {
		file = file[len("virtual:"):]
	}
	return file, true
}

// mostProfileBytes bounds the file: a profile has under 2 KB.
const mostProfileBytes = 1 << 20

// openProfile opens the virtual GPU of a file's profile. The device is called by the name that the file gives it; while it is
// open, Open knows that name too. A file that has changed since gives an error until the device is closed.
func openProfile(file string) (*Device, error) {
	info, err := os.Stat(file)
	var text []byte
	switch {
	case err == nil && info.IsDir():
		return nil, fail("give the file of the profile", "open %q: it is a folder", file)
	case err == nil && info.Size() > mostProfileBytes:
		return nil, fail("a profile is one JSON object of a few figures", "open %q: the file has %s", file, countBytes(info.Size()))
	case err == nil:
		text, err = os.ReadFile(file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail("give the path of a JSON file, or one of the devices virtual:"+strings.Join(perf.ProfileNames(), ", virtual:"),
			"open %q: there is no such file", file)
	}
	if err != nil {
		return nil, wrap(fmt.Sprintf("open %q", file), err)
	}
	p, err := perf.ParseProfile(file, text)
	if err != nil {
		what, hint, _ := strings.Cut(err.Error(), "\n")
		return nil, fail(hint, "open %s", what)
	}
	full := "virtual:" + p.Name
	opened.Lock()
	defer opened.Unlock()
	if d := opened.byName[full]; d != nil {
		if reflect.DeepEqual(d.profile, p) {
			return d, nil
		}
		return nil, fail("close it first, or give the profile another name", "open %q: %s is open with other figures", file, full)
	}
	raw, err := openVirtual(p)
	if err != nil {
		return nil, wrap("open "+full, err)
	}
	d := newDevice(full, raw)
	opened.byName[full] = d
	return d, nil
}

// openByName gives a device that is open under a name which the table of profiles lacks.
func openByName(name string) *Device {
	n := strings.ToLower(strings.TrimSpace(name))
	if !strings.HasPrefix(n, "virtual:") {
		n = "virtual:" + n
	}
	opened.Lock()
	defer opened.Unlock()
	return opened.byName[n]
}
