package panel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/text"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// hit is something that the search found.
type hit struct {
	Icon, Label, More, Link string
}

// hits is a kind of thing that was found.
type hits struct {
	Title string // in English, shown translated
	List  []hit
}

// key is a key that pages know, and what it does.
type key struct{ Label, Value string }

type searchData struct {
	Query  string
	Groups []hits
	Keys   []key // the keys that pages know
}

const (
	maxHits      = 8
	maxQuery     = 100
	shortestSeek = 2 // letters from which on customers are looked for
)

// shortcut is something to do that the search knows by name.
type shortcut struct {
	label, path, icon string
	role              kit.Role
	also              string // what people call it, folded, in either language
}

var shortcuts = []shortcut{
	{"New customer", "/customers/new", "user-plus", desk, "cadastrar cadastro assinante aluno"},
	{"Import customers", "/imports", "upload", staff, "planilha excel xlsx csv spreadsheet"},
	{"Overdue invoices", "/invoices?overdue=true", "circle-alert", reader, "inadimplentes devedores vencidas late debt"},
	{"Charge from my WhatsApp", "/queue", "message-circle", staff, "fila cobrar todos zap queue"},
	{"Paid invoices", "/invoices?status=Pago", "receipt", reader, "recibo comprovante receipt"},
	{"Ways to be paid", "/payments/gateway", "wallet", owner, "pix chave gateway mercado pago asaas efi banco boleto cartao key bank"},
	{"New plan", "/plans/new", "layers", staff, "mensalidade preco price"},
	{"New rule", "/messages/rules/new", "message-circle", staff, "lembrete regua cobranca automatica reminder"},
	{"Channels", "/messages/channels", "send", owner, "whatsapp evolution e-mail smtp meta"},
	{"Late fee, interest and discount", "/settings#late", "scale", owner, "multa mora juros atraso"},
	{"Your brand", "/settings#brand", "settings", owner, "logo logotipo cor marca color"},
	{"Public address", "/settings/address", "link", owner, "dominio https url tunel proxy domain tunnel"},
	{"Users", "/settings/users", "users", owner, "equipe atendente senha convidar team invite"},
	{"Audit log", "/settings/audit", "history", owner, "auditoria historico quem fez who did"},
	{"The month", "/payments/month", "calendar", viewer, "relatorio contador fechamento exportar report accountant closing"},
	{"Forecast", "/payments/forecast", "calendar", viewer, "previsao fluxo de caixa receber cash flow"},
	{"Bank statement", "/payments/statement", "wallet", staff, "extrato ofx conciliar conciliacao banco reconcile bank"},
}

// called is what people call the pages of the menu.
var called = map[string]string{
	"/customers": "vencidos cancelados exportar assinantes alunos carne expired cancelled export subscribers",
	"/invoices":  "boletos mensalidades exportar vencidas bills export due",
	"/payments":  "recebidos recebimentos caixa faturamento entradas received income",
	"/resellers": "revenda franquia parceiros partners",
	"/settings":  "cnpj cpf empresa fuso horario telefone e-mail email endereco company time zone phone address",
	"/profile":   "senha 2fa dois fatores autenticador idioma tema escuro password second factor language theme dark",
	"/api":       "n8n make zapier integracao integration",
}

// search finds customers, invoices, pages and what can be done, from anywhere.
func (s *Server) search(req *kit.Request) error {
	query := strings.TrimSpace(req.URL.Query().Get("q"))
	if runes := []rune(query); len(runes) > maxQuery {
		query = string(runes[:maxQuery])
	}
	data := searchData{Query: query, Keys: []key{
		{"Ctrl K", req.Lang.T("Search everywhere")},
		{"/", req.Lang.T("Search in this list, or everywhere")},
		{"n", req.Lang.T("New customer")},
		{"?", req.Lang.T("These keys")},
		{"Esc", req.Lang.T("Close")},
	}}
	for _, group := range []hits{s.customerHits(req, query), s.invoiceHits(req, query), pageHits(req, query), s.planHits(req, query)} {
		if len(group.List) > 0 {
			data.Groups = append(data.Groups, group)
		}
	}
	return req.Show("search", "Search", data)
}

func (s *Server) customerHits(req *kit.Request, query string) hits {
	group := hits{Title: "Customers"}
	if len([]rune(query)) < shortestSeek {
		return group
	}
	list, err := s.Customers.First(req.Context(), req.Actor, customer.Filter{Search: query}, maxHits)
	if req.Note(err); len(list) == 0 {
		list, err = s.Customers.First(req.Context(), req.Actor, customer.Filter{ExternalID: query}, maxHits)
		req.Note(err)
	}
	for _, record := range list {
		group.List = append(group.List, hit{
			Icon: "user", Label: record.Name, Link: customerPath(record.ID),
			More: cmp.Or(page.FormatPhone(record.Whatsapp), record.Usuario, record.Email),
		})
	}
	return group
}

// invoiceHits finds an invoice by its number.
func (s *Server) invoiceHits(req *kit.Request, query string) hits {
	group := hits{Title: "Invoices"}
	id, err := strconv.ParseInt(strings.TrimPrefix(query, "#"), 10, 64)
	if err != nil || id <= 0 {
		return group // it is no number
	}
	invoice, err := s.Billing.Find(req.Context(), req.Actor, id)
	if err != nil && fault.KindOf(err) == fault.KindNotFound {
		return group // there is none of this number
	}
	req.Note(err)
	group.List = []hit{{
		Icon: "receipt", Label: req.Lang.T("Invoice") + " " + kit.IDText(id) + " · " + invoice.Customer.Name,
		More: invoice.Amount.BR() + " · " + page.FormatDate(invoice.DueOn), Link: invoicePath(id),
	}}
	return group
}

// planHits finds plans by their names.
func (s *Server) planHits(req *kit.Request, query string) hits {
	group, wanted := hits{Title: "Plans"}, text.Fold(query)
	if len([]rune(query)) < shortestSeek || !kit.Allows(req.User.Role, staff) {
		return group
	}
	list, _ := kit.ReadPage(req, s.Catalog.Plans, catalog.Filter{}, input.Page{Number: 1, Size: kit.MaxChoices})
	for _, plan := range list {
		if strings.Contains(text.Fold(plan.Name), wanted) && len(group.List) < maxHits {
			group.List = append(group.List, hit{Icon: "layers", Label: plan.Name, More: plan.Value.BR(), Link: "/plans/" + kit.IDText(plan.ID)})
		}
	}
	return group
}

// pageHits finds pages and actions by their names in the reader's language, and by
// what people call them.
func pageHits(req *kit.Request, query string) hits {
	group, wanted := hits{Title: "Pages and actions"}, text.Fold(query)
	add := func(label, path, icon string, needs kit.Role, also string) {
		name := req.Lang.T(label)
		missed := slices.ContainsFunc(strings.Fields(wanted), func(word string) bool {
			return !strings.Contains(text.Fold(name), word) && !strings.Contains(" "+also, " "+word)
		})
		if !missed && kit.Allows(req.User.Role, needs) && len(group.List) < maxHits {
			group.List = append(group.List, hit{Icon: icon, Label: name, Link: path})
		}
	}
	for _, action := range shortcuts {
		add(action.label, action.path, action.icon, action.role, action.also)
	}
	for _, section := range kit.Menu {
		for _, entry := range section.Entries {
			add(entry.Label, entry.Path, entry.Icon, entry.Role, called[entry.Path])
		}
	}
	return group
}
