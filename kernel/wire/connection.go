package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
)

// Connection is what a Jupyter connection file says: where the five sockets listen and how messages are signed
// (jupyter_client, "Connection files").
type Connection struct {
	Transport       string `json:"transport"` // "tcp" or "ipc"
	IP              string `json:"ip"`        // an address, or for ipc the path that each socket's name starts with
	ShellPort       int    `json:"shell_port"`
	IOPubPort       int    `json:"iopub_port"`
	StdinPort       int    `json:"stdin_port"`
	ControlPort     int    `json:"control_port"`
	HeartbeatPort   int    `json:"hb_port"`
	Key             string `json:"key"`              // empty: messages are not signed
	SignatureScheme string `json:"signature_scheme"` // "hmac-sha256"
	KernelName      string `json:"kernel_name,omitempty"`
}

// required are the fields that a connection file must have; signature_scheme has a default.
var required = []string{"transport", "ip", "shell_port", "iopub_port", "stdin_port", "control_port", "hb_port", "key"}

// ReadConnection reads and checks a connection file. Its errors name the file, the field and what is wrong with it.
func ReadConnection(path string) (Connection, error) {
	if path == "" {
		return Connection{}, errors.New("no connection file: Jupyter passes one as -f FILE")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err
		}
		return Connection{}, fmt.Errorf("connection file %s: %w; Jupyter writes it before it starts the kernel", path, err)
	}
	c, err := ParseConnection(text)
	if err != nil {
		return Connection{}, fmt.Errorf("connection file %s: %w", path, err)
	}
	return c, nil
}

// ParseConnection parses and checks the text of a connection file.
func ParseConnection(text []byte) (Connection, error) {
	var c Connection
	if err := json.Unmarshal(text, &c); err != nil {
		return Connection{}, explainJSON(text, err)
	}
	var have map[string]json.RawMessage
	if err := json.Unmarshal(text, &have); err != nil {
		return Connection{}, explainJSON(text, err)
	}
	var missing []string
	for _, name := range required {
		if v, ok := have[name]; !ok || string(v) == "null" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return Connection{}, fmt.Errorf("missing %s", strings.Join(missing, ", "))
	}
	if c.SignatureScheme == "" {
		c.SignatureScheme = "hmac-sha256"
	}
	return c, c.check()
}

func (c Connection) check() error {
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return fmt.Errorf(`transport is %q, want "tcp" or "ipc"`, c.Transport)
	}
	if c.IP == "" {
		return errors.New("ip is empty, want an address such as 127.0.0.1, or for ipc a path")
	}
	if _, err := NewSigner(c.SignatureScheme, c.Key); err != nil {
		return err
	}
	byPort := map[int]string{}
	for _, ch := range c.channels() {
		if ch.port < 1 || ch.port > 65535 {
			return fmt.Errorf("%s is %d, want 1 to 65535", ch.field, ch.port)
		}
		if other, taken := byPort[ch.port]; taken {
			return fmt.Errorf("%s and %s are both %d, want five different ports", other, ch.field, ch.port)
		}
		byPort[ch.port] = ch.field
	}
	return nil
}

type channel struct {
	field string
	port  int
}

func (c Connection) channels() []channel {
	return []channel{
		{"shell_port", c.ShellPort}, {"iopub_port", c.IOPubPort}, {"stdin_port", c.StdinPort},
		{"control_port", c.ControlPort}, {"hb_port", c.HeartbeatPort},
	}
}

// Address gives what net.Listen and net.Dial need for one of the connection's ports.
func (c Connection) Address(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + strconv.Itoa(port)
	}
	ip := c.IP
	if ip == "*" {
		ip = ""
	}
	return "tcp", net.JoinHostPort(strings.Trim(ip, "[]"), strconv.Itoa(port))
}

// explainJSON adds line and column to a syntax error and the field to a type error.
func explainJSON(text []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		before := text[:min(int(syntax.Offset), len(text))]
		line := 1 + bytes.Count(before, []byte("\n"))
		column := len(before) - (bytes.LastIndexByte(before, '\n') + 1)
		return fmt.Errorf("line %d, column %d: not JSON: %w", line, max(column, 1), err)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		if kind.Field == "" {
			return fmt.Errorf("is a JSON %s, want an object", kind.Value)
		}
		return fmt.Errorf("%s is a %s, want %s", kind.Field, kind.Value, jsonKind(kind.Type.Kind().String()))
	}
	return err
}

func jsonKind(goKind string) string {
	if goKind == "int" {
		return "an integer"
	}
	return "a " + goKind
}
