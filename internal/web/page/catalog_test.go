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
	"unicode"
	"unicode/utf8"
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

// reasoned are the places with errors that become reasons as they are.
var reasoned = []string{"platform/money/", "platform/civil/", "platform/phone/", "platform/taxid/", "platform/address/", "billing/terms/", "platform/outbound/", "customer/sheet/"}

// internals are texts of such places that no person is shown.
var internals = regexp.MustCompile(`^(webhook:|resolve |dial |read |the body |.*scan .*|a period must.*stored.*|%s \(%d\)$|TLS: %s$)`)

// reasons finds every text by which a room refuses, as a key of the catalog.
func reasons(files map[string]*ast.File) map[string]string {
	found := map[string]string{}
	for name, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.CallExpr:
				called := callee(node)
				at, ok := refusers[called]
				if _, last, dotted := strings.Cut(called, "."); !ok && dotted {
					at, ok = refusers[last]
				}
				if ok && at < len(node.Args) {
					note(found, textOf(node.Args[at]), name)
				}
				if called == "fault.NotFound" {
					note(found, textOf(node.Args[0])+" not found", name)
				}
				if called == "sqldb.Found" {
					note(found, textOf(node.Args[1])+" not found", name)
				}
				within := slices.ContainsFunc(reasoned, func(p string) bool { return strings.HasPrefix(name, p) })
				if within && called == "errors.New" {
					note(found, textOf(node.Args[0]), name)
				}
			case *ast.ValueSpec: // reasons that have a name
				for i, value := range node.Values {
					if strings.HasPrefix(node.Names[i].Name, "reason") {
						note(found, textOf(value), name)
					}
				}
			case *ast.ReturnStmt: // the checks of package input return a value and a reason
				if strings.HasPrefix(name, "platform/input/") && len(node.Results) == 2 {
					note(found, textOf(node.Results[1]), name)
				}
			}
			if f, ok := node.(*ast.FuncDecl); ok && slices.Contains([]string{"Error", "When", "Metrics", "newMetrics"}, f.Name.Name) {
				return false // for the log and the command line
			}
			if strings.HasPrefix(name, "payment/") {
				declined(node, func(text string) { note(found, text, name) })
			}
			if strings.HasPrefix(name, "reminder/") {
				unsent(node, func(text string) { note(found, text, name) })
			}
			return true
		})
	}
	return found
}

// declined finds the reasons for which gateways refuse: those of a Refusal, and
// what makes one of an answer.
func declined(node ast.Node, see func(string)) {
	switch node := node.(type) {
	case *ast.CallExpr:
		if callee(node) == "refusal" {
			see(sentence(node.Args[0]))
		}
	case *ast.CompositeLit:
		kind := node.Type
		if selected, ok := kind.(*ast.SelectorExpr); ok {
			kind = selected.Sel
		}
		if name, ok := kind.(*ast.Ident); !ok || name.Name != "Refusal" {
			return
		}
		for _, element := range node.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				see(sentence(pair.Value))
			}
		}
	}
}

// unsent finds the texts by which messages say why they were not sent: what
// verdicts return, and what is put under a name for it.
func unsent(node ast.Node, see func(string)) {
	switch node := node.(type) {
	case *ast.ReturnStmt:
		for _, result := range node.Results {
			see(sentence(result))
		}
	case *ast.CallExpr:
		if callee(node) == "skip" || callee(node) == "fmt.Errorf" {
			see(sentence(node.Args[0]))
		}
	case *ast.AssignStmt:
		for i, to := range node.Lhs {
			if s, ok := to.(*ast.SelectorExpr); ok && slices.Contains([]string{"reason", "Reason", "problem"}, s.Sel.Name) && len(node.Rhs) == len(node.Lhs) {
				see(sentence(node.Rhs[i]))
			}
		}
	case *ast.KeyValueExpr:
		if key, ok := node.Key.(*ast.Ident); ok && slices.Contains([]string{"reason", "Reason", "About", "Title", "Help"}, key.Name) {
			see(sentence(node.Value))
		}
	case *ast.CompositeLit: // Refusal{"…"}
		if kind, ok := node.Type.(*ast.SelectorExpr); ok && len(node.Elts) > 0 && slices.Contains([]string{"Refusal", "Passing", "Doubt"}, kind.Sel.Name) {
			see(sentence(node.Elts[0]))
		}
	}
}

// sentence is a text that people read: no statement, no address.
func sentence(expr ast.Expr) string {
	text := textOf(expr)
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
	switch expr := call.Fun.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.SelectorExpr:
		switch x := expr.X.(type) {
		case *ast.Ident:
			return x.Name + "." + expr.Sel.Name
		case *ast.SelectorExpr:
			return x.Sel.Name + "." + expr.Sel.Name
		}
		return "." + expr.Sel.Name
	}
	return ""
}

// textOf is a text with a verb for each part that is known only at run time.
func textOf(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(expr.Value); err == nil && expr.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		return textOf(expr.X) + textOf(expr.Y)
	case *ast.CallExpr:
		if callee(expr) == "fmt.Sprintf" {
			return textOf(expr.Args[0])
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

// said are the calls by which edges name texts in Go, and which of its arguments.
var said = map[string][]int{
	"page.Say": {2}, "page.Complain": {2}, "Say": {2}, "Complain": {2}, "T": {0}, "lang.T": {0}, "Lang.T": {0}, "l.T": {0}, "s.gone": {2},
	"req.done": {1}, "req.did": {2}, "deed": {2}, "either": {1, 2}, "counted": {2, 3}, "before": {7}, "req.doneUndo": {2}, "req.sent": {3}, "req.option": {1}, "req.options": {1, 3, 5, 7, 9}, "s.showForm": {2}, "s.public": {2}, "data.title": {0, 1},
}

// shown are the fields of structs that hold translated texts.
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
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.CallExpr:
				for _, at := range said[callee(node)] {
					if at < len(node.Args) {
						want(textOf(node.Args[at]))
					}
				}
			case *ast.KeyValueExpr:
				key, ok := node.Key.(*ast.Ident)
				if !ok || !slices.Contains(shown, key.Name) {
					return true
				}
				if list, ok := node.Value.(*ast.CompositeLit); ok {
					for _, elt := range list.Elts {
						if lit, ok := elt.(*ast.BasicLit); ok {
							want(textOf(lit))
						}
					}
				} else if lit, ok := node.Value.(*ast.BasicLit); ok {
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
			walk(one.Root, func(node tree.Node) {
				commandNode, ok := node.(*tree.CommandNode)
				if !ok || len(commandNode.Args) < 2 || commandNode.Args[0].String() != "t" {
					return
				}
				if stringNode, ok := commandNode.Args[1].(*tree.StringNode); ok {
					used++
					if !Known(stringNode.Text) {
						t.Errorf("%s: messages/*.txt lacks a line:\n%s | ", name, stringNode.Text)
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
			if part == "attrs" { // is inside a tag
				continue
			}
			var plain strings.Builder
			walk(one.Root, func(node tree.Node) {
				if text, ok := node.(*tree.TextNode); ok {
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

func walk(node tree.Node, see func(tree.Node)) {
	if node == nil {
		return
	}
	see(node)
	switch node := node.(type) {
	case *tree.ListNode:
		if node != nil {
			for _, c := range node.Nodes {
				walk(c, see)
			}
		}
	case *tree.ActionNode:
		walk(node.Pipe, see)
	case *tree.PipeNode:
		if node != nil {
			for _, cmd := range node.Cmds {
				walk(cmd, see)
			}
		}
	case *tree.CommandNode:
		for _, arg := range node.Args {
			walk(arg, see)
		}
	case *tree.IfNode:
		walkBranch(&node.BranchNode, see)
	case *tree.RangeNode:
		walkBranch(&node.BranchNode, see)
	case *tree.WithNode:
		walkBranch(&node.BranchNode, see)
	case *tree.TemplateNode:
		walk(node.Pipe, see)
	}
}

func walkBranch(node *tree.BranchNode, see func(tree.Node)) {
	walk(node.Pipe, see)
	walk(node.List, see)
	if node.ElseList != nil {
		walk(node.ElseList, see)
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
			parts := strings.Split(line, " | ")
			if len(parts) != 2 && len(parts) != 4 || slices.Contains(parts, "") {
				t.Errorf("%s: %q is not English | Portuguese, nor that and the same of one", name, line)
				continue
			}
			english, portuguese := parts[0], parts[1]
			if before, twice := seen[english]; twice && before != portuguese {
				t.Errorf("%s: %q is %q and %q", name, english, before, portuguese)
			}
			seen[english] = portuguese
			for _, other := range parts[1:] {
				if a, b := len(verb.FindAllString(english, -1)), len(verb.FindAllString(other, -1)); a != b {
					t.Errorf("%s: %q has %d verbs, %q %d", name, english, a, other, b)
				}
			}
		}
	}
}

func TestTextsThatCountKnowOne(t *testing.T) {
	for count, want := range map[any]string{1: "Excluir 1 cliente?", int64(1): "Excluir 1 cliente?", 2: "Excluir 2 clientes?", 0: "Excluir 0 clientes?"} {
		if got := Portuguese.T("Delete %d customers?", count); got != want {
			t.Errorf("%v: %q, want %q", count, got, want)
		}
	}
	if got := English.T("Delete %d customers?", 1); got != "Delete 1 customer?" {
		t.Errorf("in English: %q", got)
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
		"Zap did not succeed: the instance clara is not connected to WhatsApp (close): open the channel and scan its QR code with the phone": "Zap não conseguiu: a instância clara não está conectada ao WhatsApp (close): abra o canal e leia o QR code com o celular",
		"not sent in time: channel refused: nobody knows": "não enviada a tempo: o canal recusou: nobody knows",
	} {
		if got := Portuguese.Reason(english); got != want {
			t.Errorf("%q became %q, want %q", english, got, want)
		}
		if got := English.Reason(english); got != english {
			t.Errorf("English %q became %q", english, got)
		}
	}
}

// notPortuguese are words of the API that people in Brazil use as well, or that name what a page is about.
var notPortuguese = []string{
	"ativo", "cancelado", "pago", "vencido", "usuario", "email", "pix", "whatsapp", "id", "code", "webhooks", "ping", "master", "import",
}

// forPrograms are texts that only a program can cause, and names of other houses.
var forPrograms = regexp.MustCompile(`^scope: |^must not be true with an invoice_id|notification_url|^must be the id of an event|have this name; give the id|whatsapp_business_messaging|aact_|"1 month"|and _$`)

// What a form, a list or a refusal says is said in words of people: no name of a field and no value of the API.
func TestNoWordOfTheAPIIsInATextForPeople(t *testing.T) {
	document, err := os.ReadFile("../../../openapi/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]bool{}
	for _, list := range regexp.MustCompile(`enum: \[([^\]]*)\]`).FindAllSubmatch(document, -1) {
		for word := range strings.SplitSeq(string(list[1]), ",") {
			taken[strings.Trim(word, ` "'`)] = true
		}
	}
	for _, field := range regexp.MustCompile(`(?m)^ +([a-z]+(?:_[a-z]+)+):`).FindAllSubmatch(document, -1) {
		taken[string(field[1])] = true
	}
	if !taken["partial"] || !taken["data_de_vencimento"] {
		t.Fatalf("the document's words were not found: %d", len(taken))
	}
	for _, word := range notPortuguese {
		delete(taken, word)
	}
	words := regexp.MustCompile(`[a-z_]+`)
	for english, portuguese := range messages().exact {
		if forPrograms.MatchString(english) {
			continue
		}
		for _, at := range words.FindAllStringIndex(portuguese, -1) {
			if word := portuguese[at[0]:at[1]]; taken[word] && alone(portuguese, at[0], at[1]) {
				t.Errorf("%s | %s\nhas %s, a word of the API", english, portuguese, word)
			}
		}
	}
}

// alone reports whether a word is one by itself: not a part of another with accents, of an address, or of a variable.
func alone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	joins := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-/.{}<>", r)
	}
	return !joins(before) && (!joins(after) || after == '.' && to == len(text)-1)
}
