package lanegen

// compareRows are setp without a combining predicate (the decoder adds that) and set's comparisons.
func compareRows() {
	signs := []struct{ name, sign string }{{"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}}
	unsigned := map[string]string{"lt": "lo", "le": "ls", "gt": "hi", "ge": "hs"}
	for _, c := range signs {
		for _, n := range []string{"16", "32", "64"} {
			spellings := []string{"setp." + c.name + ".u" + n}
			if other := unsigned[c.name]; other != "" {
				spellings = append(spellings, "setp."+other+".u"+n)
			} else {
				spellings = append(spellings, "setp."+c.name+".b"+n)
			}
			add(op{spellings, "pred", repeat("u"+n, 2), "x " + c.sign + " y", integer, "", 0, "9.7.6.2", ""})
			add(op{[]string{"setp." + c.name + ".s" + n}, "pred", repeat("s"+n, 2), "x " + c.sign + " y", integer, "", 0, "9.7.6.2", ""})
		}
	}
	for _, t := range []string{"f32", "f64", "f16", "bf16"} {
		class := map[string]string{"f32": fp32, "f64": fp64, "f16": fp16, "bf16": fp16}[t]
		section := "9.7.6.2"
		if class == fp16 {
			section = "9.7.7.2"
		}
		flushes := map[string][]string{"f32": {"", ".ftz"}, "f64": {""}, "f16": {"", ".ftz"}, "bf16": {""}}[t]
		for _, ftz := range flushes {
			row := func(name, expr string) {
				if ftz != "" {
					fn := map[string]string{"f32": "flush", "f16": "flushHalf"}[t]
					expr = replaceWord(replaceWord(expr, "x", fn+"(x)"), "y", fn+"(y)")
				}
				add(op{[]string{"setp." + name + ftz + "." + t}, "pred", repeat(t, 2), expr, class, "", 0, section, ""})
			}
			for _, c := range signs {
				ordered := "x " + c.sign + " y"
				if c.name == "ne" {
					ordered = "x < y || x > y"
				}
				row(c.name, ordered)
				unordered := "x " + c.sign + " y || x != x || y != y"
				if c.name == "ne" {
					unordered = "x != y"
				}
				row(c.name+"u", unordered)
			}
			row("num", "x == x && y == y")
			row("nan", "x != x || y != y")
		}
	}
}
