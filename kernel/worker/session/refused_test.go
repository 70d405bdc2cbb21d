package session

import (
	"strings"
	"testing"

	"memwall/kernel/worker/symbols/visible"
)

// TestRefusedPackages: a package that cells cannot use is refused with the reason, imported or not.
func TestRefusedPackages(t *testing.T) {
	s := newSession(t)
	for i, c := range [][2]string{
		{"syscall", "syscall.Kill(1, 9)"}, {"unsafe", "unsafe.Sizeof(1)"}, {"log/syslog", "syslog.New(0, \"\")"}, {"plugin", "plugin.Open(\"\")"},
		{"expvar", "expvar.NewInt(\"\")"}, {"os/signal", "signal.Ignore()"}, {"runtime/debug", "debug.Stack()"}, {"testing", "testing.Short()"},
		{"testing/quick", "quick.Check(nil, nil)"}, {"unique", "unique.Make(1)"}, {"weak", "weak.Make(new(int))"}, {"database/sql", "sql.Open(\"\", \"\")"},
		{"debug/elf", "elf.Open(\"\")"}, {"go/ast", "ast.NewIdent(\"\")"}, {"go/format", "format.Source(nil)"}, {"net/http/cgi", "cgi.Request()"}, {"net/http/pprof", "pprof.Index(nil, nil)"}, {"net/rpc", "rpc.NewServer()"},
		{"net/rpc/jsonrpc", "jsonrpc.Dial(\"\", \"\")"}, {"crypto/tls", "tls.Dial(\"\", \"\", nil)"}, {"crypto/rsa", "rsa.GenerateKey(nil, 1)"}, {"runtime/coverage", "coverage.ClearCounters()"},
		{"time/tzdata", ""}, {"embed", "var f embed.FS"}, {"structs", "var h structs.HostLayout"},
	} {
		path, use := c[0], c[1]
		why := visible.Refusal(path)
		if !strings.HasPrefix(why, "package "+path+" is not for cells: ") {
			t.Errorf("%s: %q", path, why)
			continue
		}
		if got := evaluate(t, s, 2*i+1, "import \""+path+"\""); !strings.Contains(got, why) {
			t.Errorf("import %q: %s", path, got)
		}
		if got := evaluate(t, s, 2*i+2, use); use != "" && path != "net/http/pprof" && !strings.Contains(got, why) { // runtime/pprof is meant
			t.Errorf("%s: %s", use, got)
		}
	}
	const want = "<CompileError cell 100, 1:1: undefined: syscall\n    syscall.Kill(1, 9)\n    ^\npackage syscall is not for cells: system calls differ between operating systems; use os, os/exec or net>"
	if got := evaluate(t, s, 100, "syscall.Kill(1, 9)"); got != want {
		t.Error(got)
	}
}
