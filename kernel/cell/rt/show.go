package rt

import "go/types"

// A Sight is a value as the last expression of a cell shows it.
type Sight struct {
	Text  string     // as fmt's %v prints it under its true type
	Name  string     // the type's name as %T prints it, "<nil>" for nil
	Type  types.Type // its type when a cell defines it or it is made of such, else nil
	Value any        // the compiled value when Type is nil, else the view of it that compiled code can read
}

// Show looks at x, a value in an interface as lowered text makes it.
func Show(x any) Sight {
	x = In(x)
	s := Sight{Text: Sprint(x), Name: dynamicName(x), Value: x}
	if b, ok := x.(Box); ok {
		s.Type = b.T.Type()
		s.Value = b.V
	}
	return s
}

// AsError is x as an error; ok is false when its type has no method Error.
func AsError(x any) (err error, ok bool) {
	x = In(x)
	if b, boxed := x.(Box); boxed {
		if !b.has("Error", "() string") {
			return nil, false
		}
		return asError(b), true
	}
	err, ok = x.(error)
	return err, ok
}

// Bundle is what x's method MIMEBundle() map[string]any gives, where x is of a cell-defined type that has it; else nil.
func Bundle(x any) map[string]any {
	b, ok := In(x).(Box)
	if !ok || !b.has("MIMEBundle", "() map[string]interface {}") {
		return nil
	}
	m, _ := b.invoke("MIMEBundle")[0].(map[string]any)
	for k, v := range m {
		m[k] = View(v)
	}
	return m
}
