package kernel

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"memwall/kernel/client"
	"memwall/kernel/wire"
)

// TestReplies compares the whole content of the reply to each kind of request.
func TestReplies(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	mustRun(t, c, "value 1", "ok")
	mustRun(t, c, "value 22", "ok")
	mustRun(t, c, "value 22", "ok")
	mustRun(t, c, "a/b\nc", "ok")
	info := `{"banner":"echo","debugger":false,"help_links":[],"implementation":"memwall","implementation_version":"1.2.3",` +
		`"language_info":{"codemirror_mode":"go","file_extension":".go","mimetype":"text/x-go","name":"go","nbconvert_exporter":"script","pygments_lexer":"go","version":"` + goVersion() +
		`"},"protocol_version":"5.5","status":"ok","supported_features":[]}`
	noDebugger := `{"command":"initialize","ename":"NotSupported","evalue":"this kernel has no debugger","message":"this kernel has no debugger","request_seq":7,"status":"error","success":false,"traceback":["NotSupported: this kernel has no debugger"],"type":"response"}`
	noSubshells := `{"ename":"NotSupported","evalue":"this kernel has no subshells; supported_features in kernel_info_reply lists what it has","status":"error","traceback":["NotSupported: this kernel has no subshells; supported_features in kernel_info_reply lists what it has"]}`
	for _, r := range []struct {
		channel       client.Channel
		kind, content string
		want          string
	}{
		{client.Shell, "kernel_info", `{}`, info},
		{client.Control, "kernel_info", `{}`, info},
		{client.Shell, "complete", `{"code":"é lin","cursor_pos":5}`, `{"cursor_end":5,"cursor_start":2,"matches":["lines"],"metadata":{"_jupyter_types_experimental":[{"end":5,"signature":"(lines)","start":2,"text":"lines","type":"function"}]},"status":"ok"}`},
		{client.Shell, "complete", `{"code":"l"}`, `{"cursor_end":1,"cursor_start":0,"matches":["lines","later"],"metadata":{"_jupyter_types_experimental":[{"end":1,"signature":"(lines)","start":0,"text":"lines","type":"function"},{"end":1,"signature":"(later)","start":0,"text":"later","type":"function"}]},"status":"ok"}`},
		{client.Shell, "complete", `{"code":"x","cursor_pos":-5}`, `{"cursor_end":0,"cursor_start":0,"matches":[],"metadata":{},"status":"ok"}`},
		{client.Shell, "complete", `{"code":"x","cursor_pos":99}`, `{"cursor_end":1,"cursor_start":0,"matches":[],"metadata":{},"status":"ok"}`},
		{client.Shell, "complete", `{"code":"panic"}`, `{"cursor_end":5,"cursor_start":5,"matches":[],"metadata":{},"status":"ok"}`},
		{client.Shell, "complete", `{"code":5}`, `{"ename":"MalformedRequest","evalue":"content.code is a JSON number, want string","status":"error","traceback":["MalformedRequest: content.code is a JSON number, want string"]}`},
		{client.Shell, "complete", `[]`, `{"ename":"MalformedRequest","evalue":"content is a JSON array, want an object","status":"error","traceback":["MalformedRequest: content is a JSON array, want an object"]}`},
		{client.Shell, "inspect", `{"code":"display","cursor_pos":3,"detail_level":1}`, `{"data":{"text/plain":"display TEXT (cursor 3, detail 1)"},"found":true,"metadata":{},"status":"ok"}`},
		{client.Shell, "inspect", `{"code":"nothing","cursor_pos":3}`, `{"data":{},"found":false,"metadata":{},"status":"ok"}`},
		{client.Shell, "is_complete", `{"code":"f {"}`, `{"indent":"\t","status":"incomplete"}`},
		{client.Shell, "is_complete", `{"code":"f {}"}`, `{"status":"complete"}`},
		{client.Shell, "is_complete", `{"code":"}"}`, `{"status":"invalid"}`},
		{client.Shell, "history", `{"hist_access_type":"tail","n":2}`, `{"history":[[1,3,"value 22"],[1,4,"a/b\nc"]],"status":"ok"}`},
		{client.Shell, "history", `{"hist_access_type":"tail","n":2,"output":true}`, `{"history":[[1,3,["value 22","22"]],[1,4,["a/b\nc",null]]],"status":"ok"}`},
		{client.Shell, "history", `{"hist_access_type":"range","session":0,"start":1,"stop":3}`, `{"history":[[1,1,"value 1"],[1,2,"value 22"]],"status":"ok"}`},
		{client.Shell, "history", `{"hist_access_type":"range","session":-1,"start":1}`, `{"history":[],"status":"ok"}`},
		{client.Shell, "history", `{"hist_access_type":"search","pattern":"value*"}`, `{"history":[[1,1,"value 1"],[1,2,"value 22"],[1,3,"value 22"]],"status":"ok"}`},
		{client.Shell, "history", `{"hist_access_type":"search","pattern":"value*","unique":true,"n":1}`, `{"history":[[1,3,"value 22"]],"status":"ok"}`},
		{client.Shell, "history", `{"hist_access_type":"search","pattern":"*/b*"}`, `{"history":[[1,4,"a/b\nc"]],"status":"ok"}`},
		{client.Shell, "history", `{"hist_access_type":"future"}`, `{"ename":"MalformedRequest","evalue":"content.hist_access_type is \"future\", want \"range\", \"tail\" or \"search\"","status":"error","traceback":["MalformedRequest: content.hist_access_type is \"future\", want \"range\", \"tail\" or \"search\""]}`},
		{client.Control, "debug", `{"type":"request","seq":7,"command":"initialize"}`, noDebugger},
		{client.Control, "create_subshell", `{}`, noSubshells},
		{client.Control, "delete_subshell", `{"subshell_id":"a"}`, noSubshells},
		{client.Control, "list_subshell", `{}`, noSubshells},
		{client.Control, "interrupt", `{}`, `{"status":"ok"}`},
		{client.Shell, "comm_info", `{}`, `{"comms":{},"status":"ok"}`},
		{client.Shell, "new_fashion", `{}`, `{"ename":"NotSupported","evalue":"this kernel does not know new_fashion_request","status":"error","traceback":["NotSupported: this kernel does not know new_fashion_request"]}`},
	} {
		m, err := c.Request(limit(t, 5*time.Second), r.channel, r.kind+"_request", json.RawMessage(r.content))
		if err != nil {
			t.Fatalf("%s %s: %v", r.kind, r.content, err)
		}
		if m.Type() != r.kind+"_reply" || string(m.Content) != r.want {
			t.Errorf("%s %s:\n got %s %s\nwant %s", r.kind, r.content, m.Type(), m.Content, r.want)
		}
	}
}

// goVersion is "1.26" for go1.26.8.
func goVersion() string {
	parts := strings.SplitN(strings.TrimPrefix(runtime.Version(), "go"), ".", 3)
	return parts[0] + "." + parts[1]
}

// TestExecuteMessages compares types and contents of all messages of a cell.
func TestExecuteMessages(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	for _, r := range []struct{ code, messages, reply string }{
		{"hi\nstderr oops", `busy; execute_input {"code":"hi\nstderr oops","execution_count":1}; stream {"name":"stdout","text":"hi\n"}; stream {"name":"stderr","text":"oops\n"}; idle`,
			`{"execution_count":1,"payload":[],"status":"ok","user_expressions":{}}`},
		{"hi\nvalue 7\nafter", `busy; execute_input {"code":"hi\nvalue 7\nafter","execution_count":2}; stream {"name":"stdout","text":"hi\n"}; execute_result {"data":{"text/plain":"7"},"execution_count":2,"metadata":{}}; stream {"name":"stdout","text":"after"}; idle`,
			`{"execution_count":2,"payload":[],"status":"ok","user_expressions":{}}`},
		{"display <b>\nupdate x\nclear wait\nclear", `busy; execute_input {"code":"display <b>\nupdate x\nclear wait\nclear","execution_count":3}; display_data {"data":{"text/html":"<b>","text/plain":"<b>"},"metadata":{},"transient":{"display_id":"id-1"}}; update_display_data {"data":{"text/plain":"x"},"metadata":{},"transient":{"display_id":"id-1"}}; clear_output {"wait":true}; clear_output {"wait":false}; idle`,
			`{"execution_count":3,"payload":[],"status":"ok","user_expressions":{}}`},
		{"page help", `busy; execute_input {"code":"page help","execution_count":4}; idle`,
			`{"execution_count":4,"payload":[{"data":{"text/plain":"help"},"source":"page","start":0}],"status":"ok","user_expressions":{}}`},
		{"before\nerror boom", `busy; execute_input {"code":"before\nerror boom","execution_count":5}; stream {"name":"stdout","text":"before\n"}; error {"ename":"EchoError","evalue":"boom","traceback":["EchoError: boom"]}; idle`,
			`{"ename":"EchoError","evalue":"boom","execution_count":5,"payload":[],"status":"error","traceback":["EchoError: boom"],"user_expressions":{}}`},
		{"panic out", `busy; execute_input {"code":"panic out","execution_count":6}; error {"ename":"KernelFault","evalue":"the kernel met a fault of its own: out","traceback":["KernelFault: the kernel met a fault of its own: out"]}; idle`,
			`{"ename":"KernelFault","evalue":"the kernel met a fault of its own: out","execution_count":6,"payload":[],"status":"error","traceback":["KernelFault: the kernel met a fault of its own: out"],"user_expressions":{}}`},
		{"nan", `busy; execute_input {"code":"nan","execution_count":7}; display_data {"data":{"application/json":{"x":"NaN"}},"metadata":{},"transient":{}}; idle`,
			`{"execution_count":7,"payload":[],"status":"ok","user_expressions":{}}`},
		{" \n", `busy; execute_input {"code":" \n","execution_count":7}; idle`,
			`{"execution_count":7,"payload":[],"status":"ok","user_expressions":{}}`},
		{"halves aé€😀", `busy; execute_input {"code":"halves aé€😀","execution_count":8}; stream {"name":"stdout","text":"a"}; stream {"name":"stdout","text":"é"}; stream {"name":"stdout","text":"€"}; stream {"name":"stdout","text":"😀"}; idle`,
			`{"execution_count":8,"payload":[],"status":"ok","user_expressions":{}}`},
		{"comm c1", `busy; execute_input {"code":"comm c1","execution_count":9}; comm_open {"comm_id":"c1","data":{"n":1},"target_name":"echo"}; idle`,
			`{"execution_count":9,"payload":[],"status":"ok","user_expressions":{}}`},
	} {
		run, err := c.Execute(limit(t, 5*time.Second), r.code, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, m := range run.Messages {
			text := run.Types()[i]
			if m.Type() != "status" {
				text += " " + string(m.Content)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, "; "); text != r.messages {
			t.Errorf("%q:\n got %s\nwant %s", r.code, text, r.messages)
		}
		if string(run.Reply.Content) != r.reply {
			t.Errorf("%q: reply\n got %s\nwant %s", r.code, run.Reply.Content, r.reply)
		}
	}
}

// TestExecuteOptions: silent, store_history, user_expressions.
func TestExecuteOptions(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	run, err := c.Execute(limit(t, 5*time.Second), "hi\nvalue 3\nerror no", map[string]any{"silent": true})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(run.Types(), " "); got != "busy idle" {
		t.Errorf("silent: %s", got)
	}
	if got := run.Reply.Fields()["execution_count"]; got != 0.0 {
		t.Errorf("silent: execution_count %v", got)
	}
	run, err = c.Execute(limit(t, 5*time.Second), "value 3", map[string]any{"store_history": false})
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Reply.Fields()["execution_count"]; got != 0.0 {
		t.Errorf("store_history false: execution_count %v", got)
	}
	run, err = c.Execute(limit(t, 5*time.Second), "", map[string]any{"user_expressions": map[string]string{"a": "1+1", "b": "missing"}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"execution_count":0,"payload":[],"status":"ok","user_expressions":{"a":{"data":{"text/plain":"1+1"},"metadata":{},"status":"ok"},"b":{"ename":"NotEvaluated","evalue":"the expression was not evaluated","status":"error","traceback":["NotEvaluated: the expression was not evaluated"]}}}`
	if got := string(run.Reply.Content); got != want {
		t.Errorf("user_expressions:\n got %s\nwant %s", got, want)
	}
}

// TestParentIsEchoedVerbatim: the parent header is the request's header, byte for byte.
func TestParentIsEchoedVerbatim(t *testing.T) {
	s, conn := serveEcho(t)
	c := connect(t, conn)
	header := `{ "msg_type":"execute_request", "msg_id":"é\u00e9", "odd": [1.50, {"b":1,"a":2}],"subshell_id":null }`
	err := c.SendFrames(client.Shell, append([][]byte{[]byte("a proxy")}, s.signer.Encode(&wire.Message{RawHeader: []byte(header), Content: []byte(`{"code":"hi"}`)})...))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := c.Await(limit(t, 5*time.Second), client.Shell, "éé")
	if err != nil {
		t.Fatal(err)
	}
	if string(reply.Parent) != header {
		t.Errorf("parent header %s", reply.Parent)
	}
	if len(reply.Identities) != 1 || string(reply.Identities[0]) != "a proxy" {
		t.Errorf("identities %q", reply.Identities)
	}
	run, err := c.Execute(limit(t, 5*time.Second), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.Messages[0].Header.Session != run.Reply.Header.Session || run.Messages[0].Header.Version != "5.5" {
		t.Errorf("headers %+v and %+v", run.Messages[0].Header, run.Reply.Header)
	}
}

// TestAbort: what came before the error is aborted, what comes after the reply is run, and other requests are answered.
func TestAbort(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	statuses := func(ids []string) string {
		got := map[string]string{}
		for range ids {
			m, err := c.Next(limit(t, 5*time.Second), client.Shell)
			if err != nil {
				t.Fatal(err)
			}
			got[m.ParentID()] = m.Fields()["status"].(string)
		}
		var list []string
		for _, id := range ids {
			list = append(list, got[id])
		}
		return strings.Join(list, " ")
	}
	send := func(kind string, content map[string]any) string {
		t.Helper()
		id, err := c.Send(client.Shell, kind, content)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	execute := func(code string, stop bool) string {
		return send("execute_request", map[string]any{"code": code, "stop_on_error": stop})
	}
	ids := []string{execute("sleep 100\nerror a", true), execute("b", true), send("kernel_info_request", nil), execute("c", true)}
	if got := statuses(ids); got != "error aborted ok aborted" {
		t.Errorf("stop_on_error: %s", got)
	}
	if got := statuses([]string{execute("d", true)}); got != "ok" {
		t.Errorf("after the error: %s", got)
	}
	if got := statuses([]string{execute("sleep 100\nerror a", false), execute("b", true)}); got != "error ok" {
		t.Errorf("stop_on_error false: %s", got)
	}
	run, err := c.Execute(limit(t, 5*time.Second), "count", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Text("stdout"); got != "5" { // five cells have run, aborted ones are not counted
		t.Errorf("execution count %s, want 5", got)
	}
}

// TestAbortOfLateComers: a cell that fails at once does not let those through that were sent with it but came later, and
// never stops one that was sent because of its reply.
func TestAbortOfLateComers(t *testing.T) {
	at := time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC)
	make := func(session string, sent, received time.Duration) *request {
		return &request{Message: &wire.Message{Header: wire.Header{Session: session, Date: at.Add(sent).Format("2006-01-02T15:04:05.000Z")}}, received: at.Add(received)}
	}
	const ms = time.Millisecond
	f := failure{make("a", 0, 50*ms), at.Add(53 * ms)} // came after 50 ms, failed after 3
	for _, r := range []struct {
		name string
		r    *request
		want bool
	}{
		{"received before the error", make("a", 0, 51*ms), true},
		{"another client's, received before the error", make("b", 0, 51*ms), true},
		{"sent with the failed one, received after the error", make("a", 1*ms, 90*ms), true},
		{"sent when the reply could have come", make("a", 4*ms, 90*ms), false},
		{"another client's, received after the error", make("b", 0, 54*ms), false},
		{"sent with the failed one, received much later", make("a", 1*ms, 1100*ms), false},
	} {
		if got := f.aborts(r.r); got != r.want {
			t.Errorf("%s: aborted %v, want %v", r.name, got, r.want)
		}
	}
	if (failure{}).aborts(make("a", 0, 0)) {
		t.Error("aborted without a failure")
	}
	_, conn := serveEcho(t)
	c := connect(t, conn)
	for range 50 {
		id, err := c.Send(client.Shell, "execute_request", map[string]any{"code": "error a"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Await(limit(t, 5*time.Second), client.Shell, id); err != nil {
			t.Fatal(err)
		}
		mustRun(t, c, "sent because of the reply", "ok")
	}
}

// TestBesideCell: while a cell runs, what the user asks is answered, and the last status still says busy.
func TestBesideCell(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	ctx := limit(t, 20*time.Second)
	cell, err := c.Send(client.Shell, "execute_request", map[string]any{"code": "sleep 60000"})
	if err != nil {
		t.Fatal(err)
	}
	next, err := c.Send(client.Shell, "execute_request", map[string]any{"code": "next", "stop_on_error": true})
	if err != nil {
		t.Fatal(err)
	}
	for kind := ""; kind != "execute_input"; {
		m, err := c.Next(ctx, client.IOPub)
		if err != nil {
			t.Fatal(err)
		}
		kind = m.Type()
	}
	for _, kind := range []string{"complete", "inspect", "is_complete", "kernel_info", "history", "comm_info"} {
		content := map[string]any{"code": "l", "cursor_pos": 1, "hist_access_type": "tail"}
		reply, err := c.Request(ctx, client.Shell, kind+"_request", content)
		if err != nil || reply.Type() != kind+"_reply" {
			t.Fatalf("%s: %v", kind, err)
		}
		var states []string
		for range 3 {
			m, err := c.Next(ctx, client.IOPub)
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, m.State(reply.ParentID())+m.State(cell))
		}
		if got := strings.Join(states, " "); got != "busy idle busy" {
			t.Errorf("%s: states %s", kind, got)
		}
	}
	start := time.Now()
	if _, err := c.Send(client.Shell, "interrupt_request", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	run, err := c.Collect(ctx, cell, start)
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Reply.Fields()["status"]; got != "error" {
		t.Errorf("the interrupted cell's status is %v", got)
	}
	run, err = c.Collect(ctx, next, start)
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Reply.Fields()["status"]; got != "aborted" {
		t.Errorf("the next cell's status is %v", got)
	}
}

func TestInterrupt(t *testing.T) {
	p := startEcho(t)
	for name, stop := range map[string]func() error{
		"message on control": func() error {
			_, err := p.Request(limit(t, 5*time.Second), client.Control, "interrupt_request", map[string]any{})
			return err
		},
		"SIGINT": func() error { return p.Signal(os.Interrupt) },
	} {
		id, err := p.Send(client.Shell, "execute_request", map[string]any{"code": "sleep 60000"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		start := time.Now()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		run, err := p.Collect(limit(t, 5*time.Second), id, start)
		if err != nil {
			t.Fatal(err)
		}
		if got := run.Reply.Fields()["ename"]; got != "Interrupted" {
			t.Errorf("%s: ename %v", name, got)
		}
		if took := run.Idle(); took > patience {
			t.Errorf("%s: the cell ended after %v", name, took)
		}
	}
	mustServe(t, p, time.Second)
}

func TestShutdown(t *testing.T) {
	for name, stop := range map[string]func(p *client.Process) error{
		"message on control": func(p *client.Process) error {
			_, err := p.Send(client.Control, "shutdown_request", map[string]any{"restart": false})
			return err
		},
		"message on shell": func(p *client.Process) error {
			_, err := p.Send(client.Shell, "shutdown_request", map[string]any{"restart": false})
			return err
		},
		"SIGTERM": func(p *client.Process) error { return p.Signal(syscall.SIGTERM) },
	} {
		p := startEcho(t)
		mustRun(t, p.Client, "hi", "ok")
		if _, err := p.Send(client.Shell, "execute_request", map[string]any{"code": "sleep 1000"}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := stop(p); err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.Exited():
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: the kernel stays", name)
		}
		if took := time.Since(start); took > lingerLimit+patience {
			t.Errorf("%s: the kernel ended after %v", name, took)
		}
	}
}

// TestInput: the question, its answer, a password, refusal, an interrupt, a client without a stdin channel.
func TestInput(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	ctx := limit(t, 20*time.Second)
	ask := func(code string) (*client.Received, string) {
		t.Helper()
		id, err := c.Send(client.Shell, "execute_request", map[string]any{"code": code, "allow_stdin": true})
		if err != nil {
			t.Fatal(err)
		}
		question, err := c.Await(ctx, client.Stdin, id)
		if err != nil {
			t.Fatal(err)
		}
		return question, id
	}
	for _, r := range []struct {
		code, question string
		parent         bool
	}{
		{"input name?", `{"password":false,"prompt":"name?"}`, true},
		{"password word?", `{"password":true,"prompt":"word?"}`, false},
	} {
		question, id := ask(r.code)
		if question.Type() != "input_request" || string(question.Content) != r.question {
			t.Errorf("%s: question %s %s", r.code, question.Type(), question.Content)
		}
		var parent json.RawMessage
		if r.parent {
			parent = question.RawHeader
			late := json.RawMessage(`{"msg_id":"another question"}`)
			if _, err := c.SendFull(client.Stdin, "input_reply", map[string]any{"value": "late"}, late, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.SendFull(client.Stdin, "input_reply", map[string]any{"value": "zed"}, parent, nil); err != nil {
			t.Fatal(err)
		}
		run, err := c.Collect(ctx, id, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got := run.Text("stdout"); got != "got zed" {
			t.Errorf("%s: %q", r.code, got)
		}
	}
	_, id := ask("input again?")
	if _, err := c.Request(ctx, client.Control, "interrupt_request", nil); err != nil {
		t.Fatal(err)
	}
	run, err := c.Collect(ctx, id, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Reply.Fields()["evalue"]; got != "interrupted while waiting for input" {
		t.Errorf("interrupt: %v", got)
	}
	refused := mustRun(t, c, "input x", "error")
	if got := refused.Reply.Fields()["evalue"]; got != "this frontend cannot ask for input (allow_stdin is false): run the cell in a notebook or console, or set the value in the code" {
		t.Errorf("allow_stdin false: %v", got)
	}
	if took := refused.Idle(); took > patience {
		t.Errorf("allow_stdin false: refused after %v", took)
	}
}

// TestComm: targets, echo, buffers, the table of open comms, an unknown target.
func TestComm(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	ctx := limit(t, 5*time.Second)
	send := func(kind, content string, buffers ...[]byte) string {
		t.Helper()
		id, err := c.SendFull(client.Shell, kind, json.RawMessage(content), nil, buffers)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			m, err := c.Next(ctx, client.IOPub)
			if err != nil {
				t.Fatal(err)
			}
			if m.ParentID() != id {
				continue
			}
			if m.Type() != "status" {
				got = append(got, m.Type()+" "+string(m.Content)+strings.Repeat(" +buffer", len(m.Buffers)))
			} else if m.State(id) == "idle" {
				return strings.Join(got, "; ")
			}
		}
	}
	info := func(content string) string {
		t.Helper()
		m, err := c.Request(ctx, client.Shell, "comm_info_request", json.RawMessage(content))
		if err != nil {
			t.Fatal(err)
		}
		return string(m.Content)
	}
	for _, r := range []struct{ got, want string }{
		{send("comm_open", `{"comm_id":"u","target_name":"unknown","data":{}}`), `comm_close {"comm_id":"u","data":{}}`},
		{send("comm_open", `{"comm_id":"e","target_name":"echo","data":{}}`), ``},
		{info(`{}`), `{"comms":{"e":{"target_name":"echo"}},"status":"ok"}`},
		{info(`{"target_name":"other"}`), `{"comms":{},"status":"ok"}`},
		{send("comm_msg", `{"comm_id":"e","data":{"x":1}}`, []byte{1}, []byte{}), `stream {"name":"stdout","text":"comm "}; comm_msg {"comm_id":"e","data":{"x":1}} +buffer +buffer`},
		{send("comm_msg", `{"comm_id":"nobody","data":{}}`), ``},
		{send("comm_msg", `{"data":7}`), ``},
		{send("comm_close", `{"comm_id":"e","data":{}}`), ``},
		{info(`{}`), `{"comms":{},"status":"ok"}`},
	} {
		if r.got != r.want {
			t.Errorf("got %s, want %s", r.got, r.want)
		}
	}
}

// TestSubshell: a message for a subshell, of which there are none, is refused.
func TestSubshell(t *testing.T) {
	s, conn := serveEcho(t)
	c := connect(t, conn)
	header := `{"msg_type":"execute_request","msg_id":"1","subshell_id":"a"}`
	if err := c.SendFrames(client.Shell, s.signer.Encode(&wire.Message{RawHeader: []byte(header), Content: []byte(`{"code":"x"}`)})); err != nil {
		t.Fatal(err)
	}
	m, err := c.Await(limit(t, 5*time.Second), client.Shell, "1")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"ename":"NotSupported","evalue":"this kernel has no subshells; send the request without subshell_id","execution_count":0,"status":"error","traceback":["NotSupported: this kernel has no subshells; send the request without subshell_id"]}`
	if string(m.Content) != want {
		t.Errorf("got %s", m.Content)
	}
}
