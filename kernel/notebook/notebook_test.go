package notebook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// jupyterFile is a notebook as Jupyter writes it (keys sorted, one space, texts as lists), with fields that memwall does not
// know.
const jupyterFile = `{
 "cells": [
  {
   "attachments": {
    "dot.png": {
     "image/png": "iVBORw0KGgo="
    }
   },
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {
    "jp-MarkdownHeadingCollapsed": true
   },
   "source": [
    "# The memory wall\n",
    "\n",
    "Why is decode slow? µ ≤ <b>"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "future": {
    "b": 1.50,
    "a": [
     1,
     2
    ]
   },
   "id": "c0de",
   "metadata": {
    "tags": [
     "raises-exception"
    ]
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "one\n",
      "two\n"
     ]
    },
    {
     "data": {
      "application/json": {
       "x": [
        1
       ]
      },
      "image/png": "iVBORw0KGgo=",
      "text/html": [
       "<b>1</b>\n",
       "<i>2</i>"
      ],
      "text/plain": [
       "1"
      ]
     },
     "execution_count": 3,
     "metadata": {},
     "output_type": "execute_result"
    },
    {
     "ename": "Panic",
     "evalue": "no",
     "output_type": "error",
     "traceback": [
      "line 1",
      "line 2"
     ]
    },
    {
     "answer": 42,
     "output_type": "hologram"
    }
   ],
   "source": [
    "fmt.Println(1)"
   ]
  },
  {
   "cell_type": "raw",
   "id": "raw1",
   "metadata": {},
   "source": []
  }
 ],
 "metadata": {
  "kernelspec": {
   "display_name": "Go (memwall)",
   "language": "go",
   "name": "memwall"
  },
  "language_info": {
   "name": "go"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5,
 "signature": "kept"
}
`

func TestReadWriteKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nb.ipynb")
	if err := os.WriteFile(path, []byte(jupyterFile), 0o600); err != nil {
		t.Fatal(err)
	}
	nb, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(nb.Cells) != 3 || nb.Cells[1].Outputs[0].Text != "one\ntwo\n" || nb.Cells[1].Outputs[1].Data["text/html"] != "<b>1</b>\n<i>2</i>" ||
		nb.Cells[1].ExecutionCount != 3 || !nb.Cells[1].HasTag("raises-exception") || nb.Language() != "go" || !nb.HasCounts() {
		t.Errorf("read wrong: %+v", nb.Cells[1])
	}
	if err := Write(path, nb); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != jupyterFile {
		t.Errorf("changed by reading and writing:\n%s", got)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, want those of the old file", info.Mode())
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files in the folder, want the notebook alone", len(entries))
	}
}

func TestOldMinorHasNoIDs(t *testing.T) {
	nb, err := Parse([]byte(`{"nbformat":4,"nbformat_minor":2,"metadata":{},"cells":[{"cell_type":"code","source":"x","metadata":{},"outputs":[],"execution_count":null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	data, err := Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), `"id"`) {
		t.Errorf("4.2 has no ids:\n%s", data)
	}
	nb.Minor = 5
	if data, _ = Marshal(nb); !strings.Contains(string(data), `"id": "cell-1"`) {
		t.Errorf("4.5 needs ids:\n%s", data)
	}
	if nb.HasCounts() {
		t.Error("no counts there")
	}
}

func TestParseErrors(t *testing.T) {
	const hint = "\na notebook is a JSON file with a list of cells, as Jupyter writes it"
	for _, c := range []struct{ in, want string }{
		{"", "nb.ipynb is empty, not a notebook"},
		{"  \n", "nb.ipynb is empty, not a notebook"},
		{"package main\n", "nb.ipynb is not a notebook: line 1, column 1: invalid character 'p' looking for beginning of value" + hint},
		{"{\n \"cells\": [\n  oops\n", "nb.ipynb is not a notebook: line 3, column 3: invalid character 'o' looking for beginning of value" + hint},
		{`{"cells": [`, "nb.ipynb is not a notebook: line 1, column 11: unexpected end of JSON input" + hint},
		{`[1, 2]`, "nb.ipynb is not a notebook: it holds a list, a notebook is a JSON object with cells"},
		{`"text"`, "nb.ipynb is not a notebook: it holds a string, a notebook is a JSON object with cells"},
		{`null`, "nb.ipynb is not a notebook: it holds null, a notebook is a JSON object with cells"},
		{`{}`, `nb.ipynb is JSON, but not a notebook: it has no "nbformat"`},
		{`{"nbformat": "four"}`, `nb.ipynb is not a notebook: "nbformat" is a string, not a number`},
		{`{"nbformat": 3, "worksheets": []}`, "nb.ipynb is a notebook of format 3, only 4 is supported\nopen it in Jupyter and save it again"},
		{`{"nbformat": 4, "nbformat_minor": -1}`, `nb.ipynb is not a notebook: "nbformat_minor" is -1`},
		{`{"nbformat": 4}`, `nb.ipynb is not a notebook: it has no "cells"`},
		{`{"nbformat": 4, "cells": null}`, `nb.ipynb is not a notebook: "cells" is null, not a list`},
		{`{"nbformat": 4, "cells": {}}`, `nb.ipynb is not a notebook: "cells" is an object, not a list`},
		{`{"nbformat": 4, "cells": [7]}`, "nb.ipynb is not a notebook: cell 1: is a number, not an object"},
		{`{"nbformat": 4, "cells": [null]}`, "nb.ipynb is not a notebook: cell 1: is null, not an object"},
		{`{"nbformat": 4, "cells": [{}]}`, `nb.ipynb is not a notebook: cell 1: has no "cell_type"`},
		{`{"nbformat": 4, "cells": [{"cell_type": "heading"}]}`, `nb.ipynb is not a notebook: cell 1: cell_type "heading" is not code, markdown or raw`},
		{`{"nbformat": 4, "cells": [{"cell_type": "code", "source": 7}]}`, `nb.ipynb is not a notebook: cell 1: "source" is a number, not a string`},
		{`{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["a", null]}]}`, `nb.ipynb is not a notebook: cell 1: "source" is a list, not a string`},
		{`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": 1}]}`, `nb.ipynb is not a notebook: cell 1: "outputs" is a number, not a list`},
		{`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [{}]}]}`, `nb.ipynb is not a notebook: cell 1: output 1: has no "output_type"`},
		{`{"nbformat": 4, "cells": [{"cell_type": "code", "execution_count": "x"}]}`, `nb.ipynb is not a notebook: cell 1: "execution_count" is a string, not a whole number`},
		{`{"nbformat": 4, "cells": [], "metadata": []}`, `nb.ipynb is not a notebook: "metadata" is a list, not an object`},
	} {
		path := filepath.Join(t.TempDir(), "nb.ipynb")
		if err := os.WriteFile(path, []byte(c.in), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", c.in, err, c.want)
		}
	}
	dir := t.TempDir()
	if _, err := Read(dir); err == nil || err.Error() != "read notebook: "+dir+" is a folder\ngive the path of an .ipynb file" {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none.ipynb")); err == nil || !strings.HasPrefix(err.Error(), "read notebook: open ") {
		t.Errorf("no file: %v", err)
	}
}

// TestWriteIsAtomic: a write that cannot finish leaves the old file and no other.
func TestWriteIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nb.ipynb")
	if err := os.WriteFile(path, []byte(jupyterFile), 0o644); err != nil {
		t.Fatal(err)
	}
	nb, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	nb.Metadata["broken"] = json.RawMessage(`{"not`)
	if err := Write(path, nb); err == nil {
		t.Fatal("broken JSON was written")
	}
	if got, _ := os.ReadFile(path); string(got) != jupyterFile {
		t.Error("the old file changed")
	}
	if err := Write(filepath.Join(dir, "no", "such", "folder.ipynb"), &Notebook{}); err == nil {
		t.Error("wrote into a folder that does not exist")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files left, want one", len(entries))
	}
	if runtime.GOOS == "windows" {
		return
	}
	link := filepath.Join(dir, "link.ipynb")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	delete(nb.Metadata, "broken")
	if err := Write(link, nb); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("writing replaced the link by a file")
	}
}

// FuzzParse: whatever is accepted can be written, and reads back as the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(jupyterFile))
	f.Add([]byte(`{"nbformat":4,"nbformat_minor":5,"cells":[{"cell_type":"code","source":["a\n","b"],"outputs":[{"output_type":"stream","name":"x","text":"\ud800"}]}]}`))
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"markdown","source":"$$a$$ $b$ [x](attachment:y)","attachments":{"y":{"image/png":"AA=="}}}]}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := Parse(data)
		if err != nil {
			return
		}
		first, err := Marshal(nb)
		if err != nil {
			t.Fatalf("accepted, but cannot be written: %v", err)
		}
		again, err := Parse(first)
		if err != nil {
			t.Fatalf("written, but cannot be read: %v\n%s", err, first)
		}
		second, err := Marshal(again)
		if err != nil || string(second) != string(first) {
			t.Fatalf("changes when written twice (%v):\n%s\n%s", err, first, second)
		}
		if _, err := HTML(nb); err != nil {
			t.Fatalf("cannot be rendered: %v", err)
		}
	})
}

// TestWriteThroughDevice: a target that is no regular file is written to and not replaced.
func TestWriteThroughDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("not run on Windows: it has no device files")
		return
	}
	nb, err := Parse([]byte(`{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(os.DevNull, nb); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(os.DevNull)
	if err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is %v now (%v)", os.DevNull, info.Mode(), err)
	}
}
