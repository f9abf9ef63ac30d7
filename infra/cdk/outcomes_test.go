package cdk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// The dashboard's outcomes are those of package singleton, whose source is read
// because importing it would bring the AWS SDK into every CDK app.
func TestTheDashboardShowsEveryOutcome(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../lockkit/singleton/outcome.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "Outcome" {
			for _, value := range v.Values {
				s, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, s)
			}
		}
		return true
	})
	got := outcomes()
	slices.Sort(got)
	slices.Sort(want)
	if len(want) < 9 || !slices.Equal(got, want) {
		t.Errorf("the dashboard shows %v, and package singleton has %v", got, want)
	}
}
