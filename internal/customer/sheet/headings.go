package sheet

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"carteira/internal/platform/text"
)

// headings are what a column may be called, by field. They are compared
// without regard to case, accents and punctuation: Código, codigo and CÓDIGO:
// are one. plan, product and value are not fields of the API's form: a file
// names plans and products instead of giving their ids, and says what a new plan costs.
var headings = map[string][]string{
	"name":     {"name", "nome", "cliente", "nome completo", "nome do cliente", "razão social"},
	"whatsapp": {"whatsapp", "telefone", "celular", "fone", "tel", "zap", "phone", "número de telefone", "telefone celular"},
	"email":    {"email", "e-mail", "mail", "endereço de e-mail", "correio eletrônico"},
	"usuario":  {"usuario", "usuário", "username", "user", "login", "nome de usuário"},
	"data_de_vencimento": {
		"data_de_vencimento", "due_date", "vencimento", "data vencimento", "dt vencimento",
		"vence em", "validade", "data de validade", "expira em",
	},
	"plan_id": {"plan_id", "id do plano", "código do plano"},
	"plan":    {"plan", "plano", "plan name", "nome do plano"},
	"value": {
		"value", "valor", "preço", "mensalidade", "valor do plano",
		"valor mensal", "valor da mensalidade", "amount", "price",
	},
	"product_id":  {"product_id", "id do produto", "código do produto"},
	"product":     {"product", "produto", "product name", "nome do produto", "serviço"},
	"notes":       {"notes", "observações", "observação", "obs", "notas", "anotações", "comentários"},
	"external_id": {"external_id", "código", "id externo", "código externo", "código do cliente", "id do cliente", "matrícula"},
	// Of the record, and not a form's: a file that came from the API may have
	// them. Its id is not here: in a file from elsewhere it is somebody's key,
	// and whoever loses it should be told.
	"": {"uuid", "status", "created_at", "updated_at"},
}

var fields, spellings = index()

func index() (map[string]string, []string) {
	byKey := map[string]string{}
	for field, names := range headings {
		for _, name := range names {
			byKey[key(name)] = field
		}
	}
	return byKey, slices.Sorted(maps.Keys(byKey))
}

// Fields lists what a column can be, in the order in which people think of it.
func Fields() []string {
	return []string{
		"name", "whatsapp", "email", "usuario", "data_de_vencimento", "plan", "value", "product", "notes", "external_id", "plan_id", "product_id",
	}
}

// IsField reports whether a column can be that.
func IsField(name string) bool { return name != "" && headings[name] != nil }

// fieldOf finds a heading's field, and whether the heading is known at all.
func fieldOf(heading string) (field string, known bool) {
	field, known = fields[key(heading)]
	return field, known
}

// key is what two spellings of a heading have in common: their folded words.
func key(heading string) string {
	words := strings.FieldsFunc(text.Fold(heading), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, " ")
}
