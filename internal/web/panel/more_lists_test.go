package panel

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/panel/kit"
)

func TestAuditLogIsFilteredByWhatItIsAbout(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.fill()
		person.get("/settings/audit").want(t, http.StatusOK, "Plano criado", "Cliente criado", `<option value="plan">Planos</option>`)
		plans := person.get("/settings/audit?kind=plan").want(t, http.StatusOK, "Plano criado", `<option value="plan" selected>Planos</option>`, "kind=plan")
		plans.lacks(t, "Cliente criado", "Webhook criado")
		person.get("/settings/audit/export?kind=plan").want(t, http.StatusOK, "Plano criado").lacks(t, "Cliente criado")
		person.get("/settings/audit?kind=sandbox").want(t, http.StatusOK, "Nada encontrado")
		person.get("/settings/audit?kind=nonsense").want(t, http.StatusOK, "deve ser um destes")
	})
}

func TestAuditLogIsFilteredByWhoAndLeadsToRecords(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		person.follow(fmt.Sprintf("/invoices/%d/pay", ids["invoices"]), "amount", "35,00", "via", "cash")
		bia := person.colleague(account.RoleStaff)
		bia.follow("/customers/new", "name", "Zeca Brito")
		zeca, _, err := person.Customers.List(t.Context(), person.actor, customer.Filter{Search: "Zeca"}, input.Page{Number: 1, Size: 1})
		if err != nil || len(zeca) != 1 {
			t.Fatal(zeca, err)
		}
		hers := fmt.Sprintf("/settings/audit?who=%d", bia.actor.UserID)
		link := fmt.Sprintf(`href="/customers/%d">Zeca Brito</a>`, zeca[0].ID)
		all := person.get("/settings/audit").want(t, http.StatusOK, "Quem", "Plano criado", link, hers)
		all.want(t, http.StatusOK, fmt.Sprintf(`href="/invoices/%d">`, ids["invoices"]))
		person.get(hers).want(t, http.StatusOK, "Zeca Brito", fmt.Sprintf(`<option value="%d" selected>`, bia.actor.UserID)).lacks(t, "Plano criado")
		person.get("/settings/audit/export?"+strings.SplitN(hers, "?", 2)[1]).want(t, http.StatusOK, "Zeca Brito").lacks(t, "Plano criado")
		person.get("/settings/audit?who=x").want(t, http.StatusOK, "Plano criado")
		token, _, err := person.Accounts.CreateToken(t.Context(), person.actor, account.ReadNewToken(input.FromStrings(map[string]string{"name": "CRM"})))
		if err != nil {
			t.Fatal(err)
		}
		byToken := account.Actor{Company: person.actor.Company, TokenID: token.ID, From: "198.51.100.7"}
		if _, err := person.Customers.Create(t.Context(), byToken, customer.ReadNew(input.FromStrings(map[string]string{"name": "Rui Reis"}))); err != nil {
			t.Fatal(err)
		}
		with := fmt.Sprintf("/settings/audit?token=%d", token.ID)
		person.get("/settings/audit").want(t, http.StatusOK, with, `name="token"`, "Rui Reis")
		person.get(with).want(t, http.StatusOK, "Rui Reis", fmt.Sprintf(`<option value="%d" selected>CRM`, token.ID)).lacks(t, "Plano criado", "Zeca Brito")
		person.get("/settings/audit/export?"+strings.SplitN(with, "?", 2)[1]).want(t, http.StatusOK, "Rui Reis").lacks(t, "Plano criado")

		person.follow(fmt.Sprintf("/customers/%d/delete", zeca[0].ID))
		person.get("/settings/audit").want(t, http.StatusOK, "Zeca Brito", "Cliente excluído").lacks(t, link)
		person.follow(fmt.Sprintf("/settings/users/%d/remove", bia.actor.UserID))
		person.get(hers).want(t, http.StatusOK, "Zeca Brito", fmt.Sprintf(`<option value="%d" selected>`, bia.actor.UserID))
	})
}

func TestEveryAuditLineHasAKind(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.fill()
		known := map[string]bool{}
		for _, kind := range auditKindNames() {
			known[kind] = true
		}
		err := person.Accounts.WalkAudit(t.Context(), person.actor, account.AuditFilter{}, func(line account.AuditLine) error {
			if !known[line.Record] {
				t.Errorf("%s is about a %q, which nobody can filter by", line.Action, line.Record)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestCustomersFootHasWhatTheyPay(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill() // João, of 35.00
		for name, price := range map[string]string{"Bia": "20.00", "Caio": ""} {
			_, err := person.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", name, "plan_id", fmt.Sprint(ids["plans"]), "price", price)))
			if err != nil {
				t.Fatal(err)
			}
		}
		person.get("/customers").want(t, http.StatusOK, "3 clientes · R$ 90,00 por mês")
		person.get("/customers?search=bia").want(t, http.StatusOK, "1 cliente · R$ 20,00")
		person.colleague(account.RoleAttendant).get("/customers").want(t, http.StatusOK, "3 clientes").lacks(t, "90,00")
	})
}

func TestListsCanBeSortedOnAPhone(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	person.fill()
	for _, path := range []string{"/customers", "/invoices"} {
		person.get(path+"?sort=name").want(t, http.StatusOK, `aria-label="Ordenar por"`, `href="`+path+`?sort=-name" aria-current="true"`, `href="`+path+`?sort=due_date"`)
	}
}

func TestSingleEditAndCancellationCanBeUndone(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		path := fmt.Sprintf("/customers/%d", person.fill()["customers"])
		edited := person.follow(path+"/edit", "name", "João Errado", "email", "errado@example.com")
		person.undone(edited.want(t, http.StatusOK, "João Errado", "Desfazer")).want(t, http.StatusOK, "Desfeito.")
		person.get(path).want(t, http.StatusOK, "João &lt;Silva&gt;", "(11) 98765-4321").lacks(t, "mailto:errado@example.com")

		person.follow(path+"/edit", "price", "12,00").lacks(t, "/undo") // which the audit log does not have as a form does

		person.post(path+"/cancel", "cancelled", "true", "cancel_reason", "mudou-se").want(t, http.StatusUnprocessableEntity, "é obrigatório", "mudou-se")
		person.get(path).lacks(t, "Cancelado em") // a debt is neither kept nor forgiven unasked
		cancelled := person.follow(path+"/cancel", "cancelled", "true", "cancel_reason", "mudou-se", "keep_invoices", "false")
		person.undone(cancelled.want(t, http.StatusOK, "cadastro cancelado", "Desfazer")).want(t, http.StatusOK, "Desfeito.")
		person.get(path).want(t, http.StatusOK, path+"/cancel").lacks(t, "Cancelado em")
	})
}

func TestMovedDueDateAsksAboutTheOverdueInvoice(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		for choice, shown := range map[string]string{"stay": "10/01/2026", "move": "25/02/2026"} {
			invoice := person.debtor("Bia "+choice, "")
			path, owed := fmt.Sprintf("/customers/%d", invoice.Customer.ID), fmt.Sprintf("/invoices/%d", invoice.ID)
			person.get(path+"/edit").want(t, http.StatusOK).lacks(t, "overdue_invoice")
			person.follow(path+"/edit", "name", "Bia", "data_de_vencimento", "2026-01-10").want(t, http.StatusOK) // it is late now
			person.get(path+"/edit").want(t, http.StatusOK, "A fatura atrasada de 10/01/2026 (R$\u00a035,00)", "Continua atrasada", "Passa para o novo vencimento")
			for _, wrong := range []string{"", "other"} {
				person.post(path+"/edit", "name", "Bia Lima", "data_de_vencimento", "2026-02-25", "overdue_invoice", wrong).
					want(t, http.StatusUnprocessableEntity, "é obrigatório", "Bia Lima", `value="2026-02-25"`)
			}
			person.get(path).want(t, http.StatusOK, "10/01/2026").lacks(t, "Bia Lima") // nothing was saved
			person.follow(path+"/edit", "name", "Bia Souza", "data_de_vencimento", "2026-01-10").want(t, http.StatusOK, "Bia Souza")
			moved := person.follow(path+"/edit", "name", "Bia", "data_de_vencimento", "2026-02-25", "overdue_invoice", choice).want(t, http.StatusOK, "25/02/2026")
			person.get(owed).want(t, http.StatusOK, "<dt>Vencimento</dt><dd>"+shown+"</dd>")
			person.undone(moved).want(t, http.StatusOK, "Desfeito.", "Bia Souza", "10/01/2026")
			person.get(owed).want(t, http.StatusOK, "<dt>Vencimento</dt><dd>10/01/2026</dd>")
		}
	})
}

// The 28th of February may be the 31st of its months, which renewals return to.
func TestUndoneDueDateHasItsDayOfTheMonthAgain(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		plan := fmt.Sprint(person.fill()["plans"])
		for n, c := range []struct {
			due     string
			renewed int    // so often before
			deed    string // that is undone
			fields  []string
			next    string // to which one more renewal leads
		}{
			{"2026-04-30", 0, "edit", []string{"data_de_vencimento", "2026-05-04"}, "2026-05-30"},
			{"2026-01-31", 1, "edit", []string{"data_de_vencimento", "2026-03-15"}, "2026-03-31"},
			{"2026-01-31", 3, "edit", []string{"data_de_vencimento", "2026-05-31"}, "2026-05-31"},
			{"2026-01-31", 1, "renew", []string{"invoice", "keep", "periods", "2"}, "2026-03-31"},
			{"2025-12-30", 2, "renew", []string{"invoice", "keep"}, "2026-03-30"},
			{"2025-11-28", 0, "renew", []string{"invoice", "paid", "periods", "3"}, "2025-12-28"},
		} {
			name := fmt.Sprint("Dia ", n)
			record, err := person.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", name, "plan_id", plan, "data_de_vencimento", c.due)))
			if err != nil {
				t.Fatal(err)
			}
			path := fmt.Sprintf("/customers/%d", record.ID)
			for range c.renewed {
				person.follow(path+"/renew", "invoice", "keep")
			}
			was := person.dueOn(name)
			deed := person.follow(path+"/"+c.deed, append(c.fields, "name", name, "overdue_invoice", "stay")...)
			person.undone(deed).want(t, http.StatusOK, "Desfeito.")
			if got := person.dueOn(name); got != was {
				t.Errorf("%d: due on %s, want %s", n, got, was)
			}
			person.follow(path+"/renew", "invoice", "keep")
			if got := person.dueOn(name); got != c.next {
				t.Errorf("%d: renewed to %s, want %s", n, got, c.next)
			}
		}
	})
}

func TestOverdueInvoiceGetsADiscountNow(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		invoice := person.debtor("Bia", "")
		path := fmt.Sprintf("/invoices/%d", invoice.ID)
		person.get(path+"/edit").want(t, http.StatusOK).lacks(t, `name="off"`) // it is not late yet
		person.follow(fmt.Sprintf("/customers/%d/edit", invoice.Customer.ID), "name", "Bia", "data_de_vencimento", "2026-01-10")
		person.get(path+"/edit").want(t, http.StatusOK, `name="off"`, "Desconto agora (R$)", "Motivo do desconto")
		form := []string{"total_amount", "35,00", "due_date", "2026-01-10", "description", "Fibra", "discount", "2,00"}
		person.post(path+"/edit", append(form, "off", "35,00", "off_reason", "acordo")...).
			want(t, http.StatusUnprocessableEntity, "deve ser menor que o que falta da fatura")
		person.post(path+"/edit", append(form, "off", "5,00", "off_reason", "")...).want(t, http.StatusUnprocessableEntity, "é obrigatório")
		person.follow(path+"/edit", append(form, "off", "5,00", "off_reason", "acordo <por telefone>")...).want(t, http.StatusOK,
			"<h1>R$\u00a030,00</h1>", "Fibra (desconto de R$ 5,00)", "Desconto de R$ 5,00: acordo &lt;por telefone&gt;",
			"Desconto até o vencimento</dt><dd>R$\u00a02,00, não vale mais")
	})
}

func TestCancelledInvoiceIsOpenedByUndo(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		path := fmt.Sprintf("/invoices/%d", person.fill()["invoices"])
		said := person.follow(path+"/status", "status", "Cancelado").want(t, http.StatusOK, "A fatura foi cancelada", "Desfazer")
		person.undone(said).want(t, http.StatusOK, "Desfeito.")
		person.get(path).want(t, http.StatusOK).lacks(t, "Reabrir")
	})
}

// What changed has the names and values of the forms, on the page and in the file.
func TestAuditLogSaysChangesAsFormsDo(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		person.follow(fmt.Sprintf("/invoices/%d/edit", ids["invoices"]), "total_amount", "30,00", "due_date", "2026-02-05", "discount", "2,50")
		person.follow(fmt.Sprintf("/customers/%d/edit", ids["customers"]), "name", "João", "whatsapp", "11 98765-4321", "data_de_vencimento", "2026-03-31")
		said := []string{"Alterada à mão", "Vencimento", "05/02/2026", "R$ 30,00", "R$ 2,50", "Sim", "55 (11) 98765-4321", "31/03/2026"}
		for _, path := range []string{"/settings/audit", "/settings/audit/export"} {
			person.get(path).want(t, http.StatusOK, said...).lacks(t, "own_discount", "edited", "data_de_vencimento", "2026-02-05", "false →", "map[")
		}
		person.get(fmt.Sprintf("/customers/%d", ids["customers"])).want(t, http.StatusOK, "31/03/2026").lacks(t, "data_de_vencimento:")
		options := map[string]bool{"gateway": true, "channel": true} // which have fields of their own
		err := person.Accounts.WalkAudit(t.Context(), person.actor, account.AuditFilter{}, func(line account.AuditLine) error {
			for _, change := range line.Changes {
				if kit.ChangeNames[change.Field] == "" && !options[line.Record] {
					t.Errorf("%s: the field %s has no name", line.Action, change.Field)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
