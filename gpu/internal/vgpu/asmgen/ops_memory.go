package asmgen

func (s *set) memory() {}
func (s *set) matrix() {}
