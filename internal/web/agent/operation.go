package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"carteira/openapi"
)

// basePath is where the API is served.
const basePath = "/api/v1"

// idempotencyKey is the argument that becomes the header of that name.
const idempotencyKey = "idempotency_key"

// operation is one of the document, with its parameters resolved.
type operation struct {
	method, path string
	name         string
	title, about string
	inPath       []string
	inQuery      []string
	inBody       []string
	hasBody      bool // a body is required
	keyed        bool // takes an idempotency key
	schema       map[string]any
}

func (op *operation) writes() bool { return op.method != http.MethodGet }

// forReading reports whether a token for reading may use it. It reads no secret: with
// that it could sign as we do.
func (op *operation) forReading() bool { return !op.writes() && op.name != "getCallbackSecret" }

// operations are those of the document, in the order of their names.
var operations = sync.OnceValue(func() []*operation {
	var doc document
	if err := json.Unmarshal(openapi.JSON(), &doc); err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err)) // embedded and tested
	}
	var list []*operation
	for path, methods := range doc.Paths {
		for method, source := range methods {
			if method != "parameters" {
				list = append(list, doc.operation(strings.ToUpper(method), path, source))
			}
		}
	}
	slices.SortFunc(list, func(a, b *operation) int { return strings.Compare(a.name, b.name) })
	return list
})

// tool is the operation as clients see it.
func (op *operation) tool() *mcp.Tool {
	about := op.title + ". " + op.about
	if op.writes() {
		about = "Changes data (" + op.method + " " + op.path + "): " + about
	}
	yes, no := true, false
	hints := &mcp.ToolAnnotations{ReadOnlyHint: !op.writes(), OpenWorldHint: &no}
	if op.writes() {
		hints.IdempotentHint = op.method != http.MethodPost
		hints.DestructiveHint = &yes
	}
	return &mcp.Tool{Name: op.name, Title: op.title, Description: about, InputSchema: op.schema, Annotations: hints}
}

func (op *operation) handler(call api) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r, err := op.request(ctx, request.Params.Arguments)
		if err != nil {
			refused := new(mcp.CallToolResult)
			refused.SetError(err)
			return refused, nil
		}
		var header http.Header
		if request.Extra != nil {
			header = request.Extra.Header
		}
		resp, err := call(ctx, header, r)
		if err != nil {
			return nil, fmt.Errorf("call %s %s: %w", op.method, op.path, err)
		}
		return result(resp)
	}
}

// request makes the call of a tool's arguments. Without a field of the body none is
// sent, unless the operation requires one.
func (op *operation) request(ctx context.Context, arguments json.RawMessage) (*http.Request, error) {
	given := map[string]any{}
	if text := bytes.TrimSpace(arguments); len(text) > 0 && !bytes.Equal(text, []byte("null")) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&given); err != nil {
			return nil, fmt.Errorf("the arguments must be a JSON object: %w", err)
		}
	}
	if unknown := op.unknown(given); len(unknown) > 0 {
		return nil, fmt.Errorf("%s: unknown argument", strings.Join(unknown, ", "))
	}
	address, err := op.address(given)
	if err != nil {
		return nil, err
	}
	body, err := op.body(given)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, op.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if key, ok := given[idempotencyKey]; ok && key != nil {
		if strings.ContainsFunc(plain(key), unicode.IsControl) { // no header has them, and PostgreSQL does not store all
			return nil, errors.New(idempotencyKey + ": must not contain control characters")
		}
		r.Header.Set("Idempotency-Key", plain(key))
	}
	return r, nil
}

func (op *operation) unknown(given map[string]any) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		known := slices.Contains(op.inPath, name) || slices.Contains(op.inQuery, name) ||
			slices.Contains(op.inBody, name) || op.keyed && name == idempotencyKey
		if !known {
			list = append(list, name)
		}
	}
	return list
}

// address is the path with its query.
func (op *operation) address(given map[string]any) (string, error) {
	path := op.path
	for _, name := range op.inPath {
		value := plain(given[name])
		if value == "" {
			return "", fmt.Errorf("%s: is required", name)
		}
		path = strings.Replace(path, "{"+name+"}", url.PathEscape(value), 1)
	}
	query := url.Values{}
	for _, name := range op.inQuery {
		if value, ok := given[name]; ok && value != nil {
			query.Set(name, plain(value))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return basePath + path, nil
}

// body is what the call sends; nil for none.
func (op *operation) body(given map[string]any) ([]byte, error) {
	fields := map[string]any{}
	for _, name := range op.inBody {
		if value, ok := given[name]; ok {
			fields[name] = value
		}
	}
	if len(fields) == 0 && !op.hasBody {
		return nil, nil
	}
	return json.Marshal(fields)
}

// plain is a value as addresses and headers have it: a list with commas.
func plain(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case []any:
		parts := make([]string, len(value))
		for i, part := range value {
			parts[i] = plain(part)
		}
		return strings.Join(parts, ",")
	default:
		return fmt.Sprint(value)
	}
}

// prompt is a question that a person would ask, with how to answer it.
type prompt struct {
	name, title string
	arguments   []*mcp.PromptArgument
	text        string            // {name} is replaced by the argument of that name
	without     map[string]string // what is put for an argument that was not given and need not be
}

// prompts are in the language of the people who ask.
var prompts = []prompt{
	{
		name: "quem-esta-atrasado", title: "Quem está atrasado e quanto deve?",
		text: `Quem está atrasado e quanto deve? Use listInvoices com overdue=true, todas as páginas. Some payable_amount
por cliente, mostre uma tabela com nome, desde quando e quanto, do maior ao menor valor, e o total. Não mude nada.`,
	},
	{
		name: "quanto-entrou", title: "Quanto entrou neste mês?",
		arguments: []*mcp.PromptArgument{{Name: "mes", Description: "O mês, AAAA-MM; sem ele, o atual."}},
		without:   map[string]string{"mes": "atual"},
		text: `Quanto entrou no mês {mes}? Use getDashboard (month, se um mês foi dado). Diga quanto foi recebido, quanto
falta receber, quanto está atrasado, e compare com o mês anterior. Não mude nada.`,
	},
	{
		name: "quem-vence-nesta-semana", title: "Quem vence nesta semana?",
		text: `Quem vence nos próximos sete dias? Use listCustomers com due_from e due_to, ordenado por due_date. Mostre nome,
vencimento, plano e valor, e a soma. Não mude nada.`,
	},
	{
		name: "cobrar-cliente", title: "Escrever uma cobrança para um cliente",
		arguments: []*mcp.PromptArgument{{Name: "cliente", Description: "Nome, telefone ou e-mail.", Required: true}},
		text: `Ache o cliente {cliente} com listCustomers (search) e as faturas em aberto dele com listCustomerInvoices
(status=em aberto). Escreva uma mensagem de WhatsApp curta e gentil com o valor a pagar hoje (payable_amount), o vencimento
e o payment_link. Se houver mais de um cliente com esse nome, pergunte qual. Não envie nada e não mude nada.`,
	},
	{
		name: "registrar-pagamento", title: "Registrar um pagamento recebido por fora",
		arguments: []*mcp.PromptArgument{
			{Name: "cliente", Description: "Nome, telefone ou e-mail.", Required: true},
			{Name: "valor", Description: "Quanto veio, como 35.00.", Required: true},
			{Name: "meio", Description: "cash, pix, card, transfer, boleto ou other."},
		},
		without: map[string]string{"meio": "não foi dito como: pergunte"},
		text: `O cliente {cliente} pagou {valor} ({meio}). Ache o cliente e a fatura em aberto mais antiga, diga o que vai mudar
(fatura, valor, novo vencimento) e espere a confirmação da pessoa. Só então use setInvoiceStatus com status Pago, amount,
paid_via e um idempotency_key novo. Se o valor for menor que o devido, pergunte se é parte (partial) ou desconto (discount).`,
	},
	{
		name: "resumo-do-dia", title: "Resumo do dia",
		text: `Faça o resumo de hoje: o que foi pago (listPayments de hoje), quem venceu hoje (listCustomers status=vence hoje),
as cobranças atrasadas (getDashboard) e o que merece atenção. Dez linhas no máximo. Não mude nada.`,
	},
}

func addPrompts(server *mcp.Server) {
	for _, prompt := range prompts {
		server.AddPrompt(
			&mcp.Prompt{Name: prompt.name, Title: prompt.title, Description: prompt.title, Arguments: prompt.arguments},
			prompt.answer,
		)
	}
}

// answer is the prompt with its arguments.
func (p prompt) answer(_ context.Context, request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	pairs := make([]string, 0, 2*len(p.arguments))
	for _, argument := range p.arguments {
		value := strings.TrimSpace(request.Params.Arguments[argument.Name])
		if value == "" && argument.Required {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: argument.Name + ": is required"}
		}
		pairs = append(pairs, "{"+argument.Name+"}", cmp.Or(value, p.without[argument.Name]))
	}
	text := strings.NewReplacer(pairs...).Replace(p.text)
	return &mcp.GetPromptResult{
		Description: p.title,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}, nil
}
