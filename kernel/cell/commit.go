package cell

import (
	"fmt"
	"go/ast"
)

// Commit makes what the cell declares part of the session. Call it when the interpreter has accepted the unit's text.
func (p *Program) Commit() {
	s, c := p.c.s, p.c
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Unit.Commit()
	for n, path := range c.imports {
		s.forgetName(n)
		s.imports[n] = path
	}
	s.dots = append(s.dots, c.dots...)
	for recv, ms := range c.dropped {
		for m := range ms {
			s.removeMethod(recv, m)
		}
	}
	for it, why := range c.d.broken {
		s.breakItem(it, why)
	}
	for _, t := range c.trees {
		t.item.imports, t.item.broken = t.imports, nil
		s.commitItem(c, t)
	}
	for _, t := range c.same {
		s.renewItem(t.item)
	}
	for _, n := range c.kept {
		s.setVariable(n, &entity{obj: c.pkg.Scope().Lookup(n), cell: s.names[n].cell, addressed: s.names[n].addressed})
	}
	for n, why := range c.d.stale {
		if e := s.names[n]; e != nil && e.item == nil && c.bodyVars[n] == nil {
			e.stale = why
		}
	}
	for _, d := range c.predeclared {
		s.setVariable(d.Name, &entity{obj: c.pkg.Scope().Lookup(d.Name), cell: p.Cell, predeclared: true})
	}
	for n, v := range c.bodyVars {
		e := &entity{obj: c.info.Defs[v.id], cell: p.Cell}
		if old := c.standins[e.obj]; old != nil {
			e.obj = old
		}
		delete(s.imports, n)
		s.forgetName(n)
		s.setVariable(n, e)
	}
	for n := range p.addressed {
		if e := s.names[n]; e != nil {
			e.addressed = true
		}
	}
	for _, h := range p.hidden {
		s.hidden[h.name] = h
	}
	p.release()
}

// release drops what only the compilation needed.
func (p *Program) release() {
	c := p.c
	c.info, c.files, c.sp, c.body, c.stmts = nil, nil, nil, nil, nil
	for _, t := range c.trees {
		t.file, t.free = nil, nil
	}
}

// forgetName drops what a name meant, because a cell gives it another meaning.
func (s *Session) forgetName(n string) {
	e := s.names[n]
	if e == nil {
		return
	}
	s.forgetVariable(n)
	delete(s.names, n)
	if e.item != nil && !s.current(e.item) {
		s.unindex(e.item)
	}
}

// commitItem makes a compiled declaration current.
func (s *Session) commitItem(c *compilation, t *tree) {
	it := t.item
	if it.recv != "" {
		if old := s.methods[it.recv][it.method]; old != nil && old != it {
			s.unindex(old)
		}
		if s.methods[it.recv] == nil {
			s.methods[it.recv] = map[string]*item{}
		}
		s.methods[it.recv][it.method] = it
		s.index(it)
		return
	}
	for _, d := range t.file.Decls {
		for _, id := range declaredIdents(d) {
			o := c.info.Defs[id]
			if o == nil || id.Name == "_" {
				continue
			}
			if e := s.names[id.Name]; e == nil || e.item != it {
				s.forgetName(id.Name)
			}
			delete(s.imports, id.Name)
			s.names[id.Name] = &entity{obj: o, item: it, cell: it.src.cell}
		}
	}
	s.index(it)
}

func declaredIdents(d ast.Decl) (ids []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			ids = append(ids, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				ids = append(ids, s.Names...)
			case *ast.TypeSpec:
				ids = append(ids, s.Name)
			}
		}
	}
	return ids
}

// renewItem notes that a cell declared what the session has already.
func (s *Session) renewItem(it *item) {
	var old *item
	if it.recv != "" {
		old = s.methods[it.recv][it.method]
	} else if e := s.names[it.names[0]]; e != nil {
		old = e.item
	}
	if old == nil || old == it {
		return
	}
	s.unindex(old)
	it.imports = old.imports
	s.index(it)
	if it.recv != "" {
		s.methods[it.recv][it.method] = it
		return
	}
	for _, n := range it.names {
		if e := s.names[n]; e != nil && e.item == old {
			e.item, e.cell = it, it.src.cell
		}
	}
}

func (s *Session) removeMethod(recv, method string) {
	if it := s.methods[recv][method]; it != nil {
		s.unindex(it)
		delete(s.methods[recv], method)
	}
}

// breakItem notes that a declaration does not compile any more; it stays, so that a later cell can mend it.
func (s *Session) breakItem(it *item, why *breakage) {
	it.broken = why
	for _, n := range it.names {
		if e := s.names[n]; e != nil && e.item == it {
			e.stale = why.of(n)
		}
	}
}

// Ended notes how far the statements of a committed cell got, as the variable behind Step says: variables that did not get
// their first value cannot be read. It reports whether the statements came to their end.
func (p *Program) Ended(step int, failed bool) bool {
	s := p.c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	how := "ended"
	if failed {
		how = "failed"
	}
	for i := step; i < len(p.steps); i++ {
		for _, n := range p.steps[i] {
			e := s.names[n]
			if e == nil || e.cell != p.Cell || e.item != nil {
				continue
			}
			e.stale = fmt.Sprintf("%s has no value: cell %d %s before it gave it one", n, p.Cell, how)
			s.breakUsers(n, &breakage{since: p.Cell, text: e.stale, mend: p.Cell})
		}
	}
	return step >= len(p.steps)
}

// breakUsers makes functions unusable that mention a name that is.
func (s *Session) breakUsers(name string, why *breakage) {
	for it := range s.users[name] {
		if it.broken != nil || it.imports[name] != "" {
			continue
		}
		s.breakItem(it, why)
		for _, n := range it.names {
			next := *why
			next.via = n
			s.breakUsers(n, &next)
		}
	}
}
