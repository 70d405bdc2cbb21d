package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// originalsFile remembers, for each notebook of a working copy, the hash of the original that the reader was given last.
const originalsFile = ".memwall-originals.json"

// WorkingCopy lays the notebooks out in dir for a reader to change, and returns one line for each file that it wrote. A file
// of the reader is never overwritten: a newer original is put beside it as NAME.new.ipynb, once.
func WorkingCopy(originals fs.FS, dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("working copy: %w: start in a folder that you may write", err)
	}
	record := map[string]string{}
	if data, err := os.ReadFile(filepath.Join(dir, originalsFile)); err == nil {
		if json.Unmarshal(data, &record) != nil {
			record = map[string]string{} // a damaged record costs one superfluous .new file
		}
	}
	names, err := fs.Glob(originals, "*.ipynb")
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, name := range names {
		data, err := fs.ReadFile(originals, name)
		if err != nil {
			return lines, fmt.Errorf("working copy: %w", err)
		}
		sum := sha256.Sum256(data)
		hash := hex.EncodeToString(sum[:8])
		target := filepath.Join(dir, name)
		_, err = os.Stat(target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			lines = append(lines, "new: "+filepath.Join(dir, name))
		case err != nil:
			return lines, fmt.Errorf("working copy: %w", err)
		case record[name] == hash:
			continue
		default:
			beside := strings.TrimSuffix(name, path.Ext(name)) + ".new.ipynb"
			target = filepath.Join(dir, beside)
			lines = append(lines, fmt.Sprintf("kept yours: %s; the newer original stands beside it: %s", filepath.Join(dir, name), beside))
		}
		if err := writeFile(target, data, 0o644); err != nil {
			return lines, fmt.Errorf("working copy: %w", err)
		}
		record[name] = hash
	}
	data, err := json.MarshalIndent(record, "", " ")
	if err != nil {
		return lines, err
	}
	if err := writeFile(filepath.Join(dir, originalsFile), append(data, '\n'), 0o644); err != nil {
		return lines, fmt.Errorf("working copy: %w", err)
	}
	return lines, nil
}
