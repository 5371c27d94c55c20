package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	tree "text/template/parse"
)

// internal is the source of the program, from here.
var internal = os.DirFS("../..")

func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	err := fs.WalkDir(internal, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(internal, name)
		if err != nil {
			return err
		}
		files[name], err = parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// refusers are the calls by which rooms say no, and which argument says why.
var refusers = map[string]int{
	"Refuse": 1, "fault.Field": 1, "fault.New": 1, "fault.Forbidden": 0, "fault.Conflict": 0, "fault.Upstream": 0, "fault.Unavailable": 0,
	"faults.Add": 1, "Faults.Add": 1, "wrong.Add": 1, "refused": 0,
}

// reasoned are the places whose errors become reasons as they are.
var reasoned = []string{"platform/money/", "platform/civil/", "platform/phone/", "platform/taxid/", "platform/address/", "billing/terms/", "platform/outbound/", "customer/sheet/"}

// internals are texts of such places that no person is shown.
var internals = regexp.MustCompile(`^(webhook:|resolve |dial |read |the body |.*scan .*|a period must.*stored.*|%s \(%d\)$|TLS: %s$)`)

// reasons finds every text by which a room refuses, as a key of the catalog.
func reasons(files map[string]*ast.File) map[string]string {
	found := map[string]string{}
	for name, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				called := callee(n)
				at, ok := refusers[called]
				if _, last, dotted := strings.Cut(called, "."); !ok && dotted {
					at, ok = refusers[last]
				}
				if ok && at < len(n.Args) {
					note(found, textOf(n.Args[at]), name)
				}
				if called == "fault.NotFound" {
					note(found, textOf(n.Args[0])+" not found", name)
				}
				if called == "sqldb.Found" {
					note(found, textOf(n.Args[1])+" not found", name)
				}
				within := slices.ContainsFunc(reasoned, func(p string) bool { return strings.HasPrefix(name, p) })
				if within && called == "errors.New" {
					note(found, textOf(n.Args[0]), name)
				}
			case *ast.ValueSpec: // reasons that have a name
				for i, v := range n.Values {
					if strings.HasPrefix(n.Names[i].Name, "reason") {
						note(found, textOf(v), name)
					}
				}
			case *ast.ReturnStmt: // the checks of package input return a value and a reason
				if strings.HasPrefix(name, "platform/input/") && len(n.Results) == 2 {
					note(found, textOf(n.Results[1]), name)
				}
			}
			if f, ok := n.(*ast.FuncDecl); ok && slices.Contains([]string{"Error", "When", "Metrics", "newMetrics"}, f.Name.Name) {
				return false // for the log and the command line
			}
			if strings.HasPrefix(name, "reminder/") {
				unsent(n, func(text string) { note(found, text, name) })
			}
			return true
		})
	}
	return found
}

// unsent finds the texts by which messages say why they were not sent: what
// verdicts return, and what is put under a name for it.
func unsent(n ast.Node, see func(string)) {
	switch n := n.(type) {
	case *ast.ReturnStmt:
		for _, result := range n.Results {
			see(sentence(result))
		}
	case *ast.CallExpr:
		if callee(n) == "skip" || callee(n) == "fmt.Errorf" {
			see(sentence(n.Args[0]))
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if s, ok := to.(*ast.SelectorExpr); ok && slices.Contains([]string{"reason", "Reason", "problem"}, s.Sel.Name) && len(n.Rhs) == len(n.Lhs) {
				see(sentence(n.Rhs[i]))
			}
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"reason", "Reason", "About", "Title", "Help"}, key.Name) {
			see(sentence(n.Value))
		}
	case *ast.CompositeLit: // Refusal{"…"}
		if kind, ok := n.Type.(*ast.SelectorExpr); ok && len(n.Elts) > 0 && slices.Contains([]string{"Refusal", "Passing", "Doubt"}, kind.Sel.Name) {
			see(sentence(n.Elts[0]))
		}
	}
}

// sentence is a text that people read: no statement, no address.
func sentence(e ast.Expr) string {
	text := textOf(e)
	if strings.ContainsAny(text, "\n@/") && !strings.Contains(text, "https://") || strings.Contains(text, "SELECT") {
		return ""
	}
	return text
}

func note(found map[string]string, text, where string) {
	if strings.ContainsRune(text, ' ') && strings.Trim(text, "%sdqv .:;") != "" && !strings.Contains(text, "%w") && !strings.HasPrefix(text, "%s not") && !internals.MatchString(text) {
		found[text] = where
	}
}

func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		switch x := f.X.(type) {
		case *ast.Ident:
			return x.Name + "." + f.Sel.Name
		case *ast.SelectorExpr:
			return x.Sel.Name + "." + f.Sel.Name
		}
		return "." + f.Sel.Name
	}
	return ""
}

// textOf is a text with a verb for each part that is known only at run time.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	case *ast.CallExpr:
		if callee(e) == "fmt.Sprintf" {
			return textOf(e.Args[0])
		}
	}
	return "%s"
}

func TestEveryRefusalHasPortuguese(t *testing.T) {
	found := reasons(sources(t))
	if len(found) < 60 {
		t.Fatalf("only %d reasons found: the test looks in the wrong place", len(found))
	}
	for _, text := range slices.Sorted(maps.Keys(found)) {
		if !Known(text) {
			t.Errorf("messages/*.txt lacks a line (from %s):\n%s | ", found[text], text)
		}
	}
}

// said are the calls by which edges name texts in Go, and which argument it is.
var said = map[string]int{"page.Say": 2, "page.Complain": 2, "Say": 2, "Complain": 2, "T": 0, "lang.T": 0, "Lang.T": 0, "l.T": 0, "req.done": 1, "s.gone": 2}

// shown are the fields of structs whose texts are translated.
var shown = []string{"Title", "Question", "Button", "Effects", "Label", "Hint", "Text", "Empty"}

func TestEveryTextInGoHasPortuguese(t *testing.T) {
	for name, file := range sources(t) {
		if name != "customer/fields.go" && !strings.HasPrefix(name, "web/page/") && !strings.HasPrefix(name, "web/panel/") && !strings.HasPrefix(name, "web/checkout/") {
			continue
		}
		want := func(text string) {
			if text != "" && text != "%s" && !Known(text) && strings.ContainsFunc(text, func(r rune) bool { return r >= 'A' && r <= 'z' }) {
				t.Errorf("%s: messages/*.txt lacks a line:\n%s | ", name, text)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if at, ok := said[callee(n)]; ok && at < len(n.Args) {
					want(textOf(n.Args[at]))
				}
			case *ast.KeyValueExpr:
				key, ok := n.Key.(*ast.Ident)
				if !ok || !slices.Contains(shown, key.Name) {
					return true
				}
				if list, ok := n.Value.(*ast.CompositeLit); ok {
					for _, e := range list.Elts {
						if lit, ok := e.(*ast.BasicLit); ok {
							want(textOf(lit))
						}
					}
				} else if lit, ok := n.Value.(*ast.BasicLit); ok {
					want(textOf(lit))
				}
			}
			return true
		})
	}
}

// templates are all templates of all edges, by path.
func templates(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{"web/page/templates", "web/panel/templates", "web/checkout/templates"} {
		names, err := fs.Glob(internal, dir+"/*.html")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(internal, name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(text)
		}
	}
	return all
}

func trees(t *testing.T, name, text string) map[string]*tree.Tree {
	t.Helper()
	parsed := tree.New(name)
	parsed.Mode = tree.SkipFuncCheck
	set := map[string]*tree.Tree{}
	if _, err := parsed.Parse(text, "", "", set); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestEveryTextInTemplatesHasPortuguese(t *testing.T) {
	used := 0
	for name, text := range templates(t) {
		for _, one := range trees(t, name, text) {
			walk(one.Root, func(n tree.Node) {
				c, ok := n.(*tree.CommandNode)
				if !ok || len(c.Args) < 2 || c.Args[0].String() != "t" {
					return
				}
				if s, ok := c.Args[1].(*tree.StringNode); ok {
					used++
					if !Known(s.Text) {
						t.Errorf("%s: messages/*.txt lacks a line:\n%s | ", name, s.Text)
					}
				}
			})
		}
	}
	if used < 10 {
		t.Fatalf("only %d texts found: the test looks in the wrong place", used)
	}
}

// names are words that are the same in every language, and what templates
// show as an example.
var names = regexp.MustCompile(`\b(Carteira|Português|English|API|PIX|CSV|curl|URL|JSON|POST|GET|WhatsApp|TOTP|e-mail|evt_|min|ms|HTTP|Authorization|Bearer|QR)\b|X-Service-[A-Za-z-]+|&[a-z]+;|R\$`)

var tags = regexp.MustCompile(`(?s)<!--.*?-->|<[^<>]*>`)

func TestTemplatesHaveNoTextOutsideTheCatalog(t *testing.T) {
	for name, text := range templates(t) {
		for part, one := range trees(t, name, text) {
			if part == "attrs" { // stands inside a tag
				continue
			}
			var plain strings.Builder
			walk(one.Root, func(n tree.Node) {
				if text, ok := n.(*tree.TextNode); ok {
					plain.Write(text.Text)
				}
			})
			left := names.ReplaceAllString(tags.ReplaceAllString(plain.String(), " "), " ")
			if word := regexp.MustCompile(`\p{L}{2,}`).FindString(left); word != "" {
				t.Errorf("%s: %q stands there untranslated; use {{t}}", name, word)
			}
		}
	}
}

func walk(n tree.Node, see func(tree.Node)) {
	if n == nil {
		return
	}
	see(n)
	switch n := n.(type) {
	case *tree.ListNode:
		if n != nil {
			for _, c := range n.Nodes {
				walk(c, see)
			}
		}
	case *tree.ActionNode:
		walk(n.Pipe, see)
	case *tree.PipeNode:
		if n != nil {
			for _, c := range n.Cmds {
				walk(c, see)
			}
		}
	case *tree.CommandNode:
		for _, c := range n.Args {
			walk(c, see)
		}
	case *tree.IfNode:
		walkBranch(&n.BranchNode, see)
	case *tree.RangeNode:
		walkBranch(&n.BranchNode, see)
	case *tree.WithNode:
		walkBranch(&n.BranchNode, see)
	case *tree.TemplateNode:
		walk(n.Pipe, see)
	}
}

func walkBranch(n *tree.BranchNode, see func(tree.Node)) {
	walk(n.Pipe, see)
	walk(n.List, see)
	if n.ElseList != nil {
		walk(n.ElseList, see)
	}
}

func TestMessagesAreWellFormed(t *testing.T) {
	seen := map[string]string{}
	files, err := fs.Glob(messageFiles, "messages/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		for line := range strings.Lines(mustRead(messageFiles, name)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			english, portuguese, ok := strings.Cut(line, " | ")
			if !ok || strings.TrimSpace(portuguese) == "" {
				t.Errorf("%s: %q is not English | Portuguese", name, line)
				continue
			}
			if before, twice := seen[english]; twice && before != portuguese {
				t.Errorf("%s: %q is %q and %q", name, english, before, portuguese)
			}
			seen[english] = portuguese
			if a, b := len(verb.FindAllString(english, -1)), len(verb.FindAllString(portuguese, -1)); a != b {
				t.Errorf("%s: %q has %d verbs, its Portuguese %d", name, english, a, b)
			}
		}
	}
}

func TestReasonsWithParametersAreTranslated(t *testing.T) {
	for english, want := range map[string]string{
		"must have at most 255 characters":                       "deve ter no máximo 255 caracteres",
		"must be one of: Ativo, Vence hoje":                      "deve ser um destes: Ativo, Vence hoje",
		"customer not found":                                     "cliente não encontrado",
		"unknown field; did you mean name?":                      "campo desconhecido; você quis dizer name?",
		`"x.y" is not an event; GET /webhooks/events lists them`: `"x.y" não é um evento; GET /webhooks/events lista todos`,
		"must be more than the 1099.90 that came for it":         "deve ser mais que os 1099,90 já recebidos",
		"nobody has translated this":                             "nobody has translated this",
	} {
		if got := Portuguese.Reason(english); got != want {
			t.Errorf("%q became %q, want %q", english, got, want)
		}
		if got := English.Reason(english); got != english {
			t.Errorf("English %q became %q", english, got)
		}
	}
}
