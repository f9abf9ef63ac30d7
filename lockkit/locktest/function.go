package locktest

// function describes a function of the expression language.
type function struct {
	args      int
	condition bool // yields true or false
	operand   bool // yields a value in conditions
	update    bool // yields a value in SET
	needsPath bool // its first argument is a document path
}

var functions = map[string]function{
	"attribute_exists":     {args: 1, condition: true, needsPath: true},
	"attribute_not_exists": {args: 1, condition: true, needsPath: true},
	"attribute_type":       {args: 2, condition: true, needsPath: true},
	"begins_with":          {args: 2, condition: true},
	"contains":             {args: 2, condition: true},
	"size":                 {args: 1, operand: true},
	"if_not_exists":        {args: 2, update: true, needsPath: true},
	"list_append":          {args: 2, update: true},
}
