package agent

import (
	"cmp"
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
