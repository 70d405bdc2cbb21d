package kernel

import "context"

// Evaluator runs cells. kernel/ knows only this interface: the supervisor implements it over a worker process, tests over
// an echo language.
//
// Execute is called for one cell at a time; every other method may be called while a cell runs. The contexts end when the
// kernel shuts down, those of Complete, Inspect and IsComplete also when the frontend should not wait any longer; an
// interrupt comes through Interrupt alone.
type Evaluator interface {
	// Execute runs one cell and sends everything that it shows to out before it returns.
	Execute(ctx context.Context, r Request, out Output) Result
	// Complete lists what may stand at the cursor (in code points from the start of code).
	Complete(ctx context.Context, code string, cursor int) Completion
	// Inspect describes the name at the cursor as a MIME bundle; found is false where there is nothing to say.
	Inspect(ctx context.Context, code string, cursor, detail int) (bundle map[string]any, found bool)
	// IsComplete answers "complete", "incomplete" (with the indentation of the next line), "invalid" or "unknown".
	IsComplete(ctx context.Context, code string) (status, indent string)
	// Interrupt stops the cell that is running, if any, and keeps the session's variables.
	Interrupt()
	// Comm hands a comm message to the evaluator; handled is false for an unknown target or comm.
	Comm(ctx context.Context, m CommMessage, out Output) (handled bool)
	// Shutdown ends the evaluator and frees what it holds; with restart a new one will follow.
	Shutdown(restart bool)
}

// Request is one cell to run.
type Request struct {
	Code            string
	Count           int // execution count, 0 when silent
	Silent          bool
	StoreHistory    bool
	AllowStdin      bool
	UserExpressions map[string]string
}

// Result is how a cell ended.
type Result struct {
	Error           *Error // nil: ok
	Payload         []map[string]any
	UserExpressions map[string]any // key → MIME bundle in Jupyter's form, or an error
}

// Error is what execute_reply and the error message carry.
type Error struct {
	Name      string   // "CompileError", "Panic", "Interrupted", "WorkerDied", "gpu.Error" …
	Value     string   // one line
	Traceback []string // what the notebook shows: text with a caret; may hold ANSI colours
}

// Completion answers a complete_request; Start and End are code points.
type Completion struct {
	Matches    []string
	Types      []string // "function", "type", "variable", "module", "keyword", "field"; same length as Matches
	Signatures []string
	Start, End int
}

// CommMessage is a comm_open, comm_msg or comm_close.
type CommMessage struct {
	Type   string // "comm_open" …
	ID     string
	Target string
	Data   map[string]any
	// Metadata goes beside the content; widgets want {"version": "2.1.0"} with their comm_open.
	Metadata map[string]any
	Buffers  [][]byte
}

// Output is where a cell's output goes. Its methods may be called by several goroutines; what one of them sends keeps its
// order. They wait where the clients cannot keep up. An Output may still be used after Execute has returned: what a
// goroutine of the cell prints later is shown under that cell.
type Output interface {
	// Stream sends text of "stdout" or "stderr".
	Stream(name, text string)
	// Display sends a MIME bundle; id is the display id for later updates, or empty.
	Display(bundle, metadata map[string]any, id string)
	// Update replaces what was displayed under id.
	Update(bundle, metadata map[string]any, id string)
	// Value shows the value of the cell's last expression (execute_result).
	Value(bundle, metadata map[string]any)
	// Clear removes the cell's output, with wait when the next output comes.
	Clear(wait bool)
	// Input asks the user for a line; it fails at once where the client does not allow it.
	Input(ctx context.Context, prompt string, password bool) (string, error)
	// Comm sends a comm message to the frontend.
	Comm(m CommMessage)
}
