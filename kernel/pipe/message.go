package pipe

import "fmt"

// Message is one of the types below.
type Message interface {
	kind() byte
	fields(c *coder)
}

// From the kernel to the worker.

// Start is the first message: what the worker must know before its first cell.
type Start struct {
	Nonce       string // sets this worker's marks apart from anything that user code may print
	MemoryLimit uint64 // bytes of resident memory at which the kernel stops the running cell; 0: unknown
	WatchMemory bool   // the kernel cannot see this process's memory: the worker keeps the limit itself
}

// Execute runs one cell; Done answers.
type Execute struct {
	Cell        uint64 // serial number, unique in this worker
	Count       int    // execution count, which users see
	Code        string
	Silent      bool
	AllowStdin  bool
	Expressions map[string]string // user_expressions
}

// Interrupt stops a cell, if it still runs; with a Name it ends with that error, otherwise as "Interrupted".
type Interrupt struct {
	Cell         uint64
	Name, Reason string
}

// Shutdown asks the worker to end.
type Shutdown struct{}

// Complete, Inspect and IsComplete ask about code; ID comes back in the answer.
type Complete struct {
	ID     uint64
	Code   string
	Cursor int // code points
}

// Inspect asks what stands at the cursor; Inspection answers.
type Inspect struct {
	ID             uint64
	Code           string
	Cursor, Detail int
}

// IsComplete asks whether code is whole; Completeness answers.
type IsComplete struct {
	ID   uint64
	Code string
}

// InputReply answers InputRequest; Error says why there is no input.
type InputReply struct {
	ID    uint64
	Text  string
	Error string
}

// CommIn is a comm message of the frontend; CommHandled answers.
type CommIn struct {
	ID   uint64
	Comm Comm
}

// From the worker to the kernel.

// Ready says that the worker takes cells.
type Ready struct{ PID int }

// Show is output that is not text of a stream.
type Show struct {
	Cell             uint64
	Mark             uint64 // the output in front of it ends at this mark; 0: no order is asked for
	What             ShowKind
	Bundle, Metadata map[string]any
	ID               string // display id
	Wait             bool   // of Clear
}

// ShowKind tells the forms of Show apart.
type ShowKind uint64

// The forms of Show.
const (
	ShowDisplay ShowKind = iota
	ShowUpdate
	ShowValue
	ShowClear
	showKinds
)

// Late is text that a goroutine printed after its cell had ended.
type Late struct {
	Cell   uint64
	Stream string // "stdout" or "stderr"
	Text   string
}

// InputRequest asks the user for a line.
type InputRequest struct {
	ID       uint64
	Cell     uint64
	Mark     uint64
	Prompt   string
	Password bool
}

// Names lists what the session holds, to be told should the worker die.
type Names struct{ Names []Name }

// Name is a variable, function, type or constant of the session.
type Name struct {
	Name, Kind string
	Cell       int // execution count of the cell that declared it
}

// Done ends a cell: all of its output stands in front of Mark.
type Done struct {
	Cell        uint64
	Mark        uint64
	Error       *Error
	Payload     []map[string]any
	Expressions map[string]any
	Kill        bool // the worker cannot go on, for the reason in Error, and is to be killed
}

// Error is how a cell failed.
type Error struct {
	Name, Value string
	Traceback   []string
}

// Completion answers Complete; Matches, Types and Signatures have one length.
type Completion struct {
	ID                         uint64
	Matches, Types, Signatures []string
	Start, End                 int
}

// Inspection answers Inspect.
type Inspection struct {
	ID     uint64
	Found  bool
	Bundle map[string]any
}

// Completeness answers IsComplete.
type Completeness struct {
	ID             uint64
	Status, Indent string
}

// CommHandled answers CommIn.
type CommHandled struct {
	ID      uint64
	Handled bool
}

// CommOut is a comm message for the frontend.
type CommOut struct {
	Cell, Mark uint64
	Comm       Comm
}

// Comm is a comm_open, comm_msg or comm_close.
type Comm struct {
	Type, ID, Target string
	Data             map[string]any
	Metadata         map[string]any
	Buffers          [][]byte
}

// kinds makes an empty message of each kind; the index is the kind's number in a frame.
var kinds = []func() Message{
	func() Message { return new(Start) },
	func() Message { return new(Execute) },
	func() Message { return new(Interrupt) },
	func() Message { return new(Shutdown) },
	func() Message { return new(Complete) },
	func() Message { return new(Inspect) },
	func() Message { return new(IsComplete) },
	func() Message { return new(InputReply) },
	func() Message { return new(CommIn) },
	func() Message { return new(Ready) },
	func() Message { return new(Show) },
	func() Message { return new(Late) },
	func() Message { return new(InputRequest) },
	func() Message { return new(Names) },
	func() Message { return new(Done) },
	func() Message { return new(Completion) },
	func() Message { return new(Inspection) },
	func() Message { return new(Completeness) },
	func() Message { return new(CommHandled) },
	func() Message { return new(CommOut) },
}

func (*Start) kind() byte        { return 0 }
func (*Execute) kind() byte      { return 1 }
func (*Interrupt) kind() byte    { return 2 }
func (*Shutdown) kind() byte     { return 3 }
func (*Complete) kind() byte     { return 4 }
func (*Inspect) kind() byte      { return 5 }
func (*IsComplete) kind() byte   { return 6 }
func (*InputReply) kind() byte   { return 7 }
func (*CommIn) kind() byte       { return 8 }
func (*Ready) kind() byte        { return 9 }
func (*Show) kind() byte         { return 10 }
func (*Late) kind() byte         { return 11 }
func (*InputRequest) kind() byte { return 12 }
func (*Names) kind() byte        { return 13 }
func (*Done) kind() byte         { return 14 }
func (*Completion) kind() byte   { return 15 }
func (*Inspection) kind() byte   { return 16 }
func (*Completeness) kind() byte { return 17 }
func (*CommHandled) kind() byte  { return 18 }
func (*CommOut) kind() byte      { return 19 }

func (m *Start) fields(c *coder) { c.text(&m.Nonce); c.uint(&m.MemoryLimit); c.bool(&m.WatchMemory) }

func (m *Execute) fields(c *coder) {
	c.uint(&m.Cell)
	c.int(&m.Count)
	c.text(&m.Code)
	c.bool(&m.Silent)
	c.bool(&m.AllowStdin)
	c.textMap(&m.Expressions)
}

func (m *Interrupt) fields(c *coder) { c.uint(&m.Cell); c.text(&m.Name); c.text(&m.Reason) }
func (m *Shutdown) fields(*coder)    {}

func (m *Complete) fields(c *coder) { c.uint(&m.ID); c.text(&m.Code); c.int(&m.Cursor) }

func (m *Inspect) fields(c *coder) {
	c.uint(&m.ID)
	c.text(&m.Code)
	c.int(&m.Cursor)
	c.int(&m.Detail)
}

func (m *IsComplete) fields(c *coder) { c.uint(&m.ID); c.text(&m.Code) }
func (m *InputReply) fields(c *coder) { c.uint(&m.ID); c.text(&m.Text); c.text(&m.Error) }
func (m *CommIn) fields(c *coder)     { c.uint(&m.ID); m.Comm.fields(c) }
func (m *Ready) fields(c *coder)      { c.int(&m.PID) }

func (m *Show) fields(c *coder) {
	c.uint(&m.Cell)
	c.uint(&m.Mark)
	c.uint((*uint64)(&m.What))
	if m.What >= showKinds {
		c.fail(fmt.Errorf("unknown form of output %d", m.What))
		return
	}
	c.bundle(&m.Bundle)
	c.bundle(&m.Metadata)
	c.text(&m.ID)
	c.bool(&m.Wait)
}

func (m *Late) fields(c *coder) { c.uint(&m.Cell); c.text(&m.Stream); c.text(&m.Text) }

func (m *InputRequest) fields(c *coder) {
	c.uint(&m.ID)
	c.uint(&m.Cell)
	c.uint(&m.Mark)
	c.text(&m.Prompt)
	c.bool(&m.Password)
}

func (m *Names) fields(c *coder) {
	n := c.count(len(m.Names))
	for i := 0; i < n && c.err == nil; i++ {
		if c.decode {
			m.Names = append(m.Names, Name{})
		}
		e := &m.Names[i]
		c.text(&e.Name)
		c.text(&e.Kind)
		c.int(&e.Cell)
	}
}

func (m *Done) fields(c *coder) {
	c.uint(&m.Cell)
	c.uint(&m.Mark)
	failed := m.Error != nil
	c.bool(&failed)
	if failed {
		if c.decode {
			m.Error = new(Error)
		}
		c.text(&m.Error.Name)
		c.text(&m.Error.Value)
		c.texts(&m.Error.Traceback)
	}
	c.bundles(&m.Payload)
	c.bundle(&m.Expressions)
	c.bool(&m.Kill)
}

func (m *Completion) fields(c *coder) {
	c.uint(&m.ID)
	c.texts(&m.Matches)
	c.texts(&m.Types)
	c.texts(&m.Signatures)
	c.int(&m.Start)
	c.int(&m.End)
}

func (m *Inspection) fields(c *coder)   { c.uint(&m.ID); c.bool(&m.Found); c.bundle(&m.Bundle) }
func (m *Completeness) fields(c *coder) { c.uint(&m.ID); c.text(&m.Status); c.text(&m.Indent) }
func (m *CommHandled) fields(c *coder)  { c.uint(&m.ID); c.bool(&m.Handled) }
func (m *CommOut) fields(c *coder)      { c.uint(&m.Cell); c.uint(&m.Mark); m.Comm.fields(c) }

func (m *Comm) fields(c *coder) {
	c.text(&m.Type)
	c.text(&m.ID)
	c.text(&m.Target)
	c.bundle(&m.Data)
	c.bundle(&m.Metadata)
	c.blobs(&m.Buffers)
}
