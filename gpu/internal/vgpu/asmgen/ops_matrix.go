package asmgen

func (s *set) matrix() {}
