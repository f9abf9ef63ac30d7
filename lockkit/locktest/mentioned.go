package locktest

// mentioned returns the top-level attributes that a bound condition looks at.
func mentioned(e expr) map[string]bool {
	names := make(map[string]bool)
	mention(e, names)
	return names
}

func mention(e expr, names map[string]bool) {
	switch e := e.(type) {
	case pathExpr:
		names[e.path[0].name] = true
	case callExpr:
		mentionAll(e.args, names)
	case compareExpr:
		mentionAll([]expr{e.left, e.right}, names)
	case betweenExpr:
		mentionAll([]expr{e.operand, e.low, e.high}, names)
	case inExpr:
		mention(e.operand, names)
		mentionAll(e.list, names)
	case logicExpr:
		mentionAll([]expr{e.left, e.right}, names)
	case notExpr:
		mention(e.operand, names)
	}
}

func mentionAll(es []expr, names map[string]bool) {
	for _, e := range es {
		mention(e, names)
	}
}
