package locktest

// expr is a node of a parsed expression. Nodes are never changed once built, so
// one parsed expression serves any number of requests; binding makes a copy
// with the aliases and values of one request filled in.
type expr interface{ isExpr() }

type (
	// pathExpr refers to an attribute, possibly inside others.
	pathExpr struct{ path path }
	// valueExpr is a :value; value is filled in by binding.
	valueExpr struct {
		name  string
		value value
	}
	// callExpr is a function with its arguments.
	callExpr struct {
		function string
		args     []expr
	}
	// compareExpr is a comparison with =, <>, <, <=, > or >=.
	compareExpr struct {
		operator    string
		left, right expr
	}
	// betweenExpr holds when low <= operand <= high.
	betweenExpr struct{ operand, low, high expr }
	// inExpr holds when the operand equals one of the list.
	inExpr struct {
		operand expr
		list    []expr
	}
	// logicExpr is AND or OR of two conditions.
	logicExpr struct {
		operator    string
		left, right expr
	}
	// notExpr negates a condition.
	notExpr struct{ operand expr }
	// sumExpr is + or - of two operands, in SET only.
	sumExpr struct {
		operator    string
		left, right expr
	}
	// updateExpr is a whole update expression.
	updateExpr struct{ actions []action }
	// projectionExpr is a list of paths.
	projectionExpr struct{ paths []path }
)

// action is one assignment of an update expression.
type action struct {
	verb   string // SET, REMOVE, ADD or DELETE
	target path
	value  expr // nil for REMOVE
}

func (pathExpr) isExpr()       {}
func (valueExpr) isExpr()      {}
func (callExpr) isExpr()       {}
func (compareExpr) isExpr()    {}
func (betweenExpr) isExpr()    {}
func (inExpr) isExpr()         {}
func (logicExpr) isExpr()      {}
func (notExpr) isExpr()        {}
func (sumExpr) isExpr()        {}
func (updateExpr) isExpr()     {}
func (projectionExpr) isExpr() {}

// isCondition reports whether the node can stand where true or false is wanted.
func isCondition(e expr) bool {
	switch e := e.(type) {
	case compareExpr, betweenExpr, inExpr, logicExpr, notExpr:
		return true
	case callExpr:
		return functions[e.function].condition
	default:
		return false
	}
}
