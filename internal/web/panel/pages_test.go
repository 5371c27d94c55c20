package panel

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/panel/company"
	"carteira/internal/webhook"
	"carteira/test/kit/housetest"
)

func TestSignInPage(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	office.owner(t, "ana@example.com")
	person := office.visitor(t)
	person.post("/login", "email", "ana@example.com", "password", "wrong", "next", "/plans").
		want(t, http.StatusUnprocessableEntity, "o e-mail ou a senha está errado", `value="ana@example.com"`, `value="/plans"`).lacks(t, "wrong")
	if answer := person.post("/login", "email", "ana@example.com", "password", password, "next", "/plans"); answer.location != "/plans" {
		t.Errorf("led to %q", answer.location)
	}
	for _, next := range []string{"https://evil.example", "//evil.example", "/\\evil.example"} {
		if answer := office.visitor(t).post("/login", "email", "ana@example.com", "password", password, "next", next); answer.location != "/" {
			t.Errorf("%s led to %q", next, answer.location)
		}
	}
	if answer := person.get("/login"); answer.location != "/" {
		t.Errorf("who is signed in was led to %q", answer.location)
	}
	if answer := person.post("/logout"); answer.location != "/login" {
		t.Errorf("signing out led to %q", answer.location)
	}
	if answer := person.get("/plans"); answer.status != http.StatusSeeOther {
		t.Errorf("signed out, %d", answer.status)
	}
	var last answer
	for range 11 {
		last = person.post("/login", "email", "ana@example.com", "password", "wrong")
	}
	last.want(t, http.StatusTooManyRequests, "tentativas demais de entrar")
}

func TestSetUpByTheLink(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		link, err := office.Accounts.NewSetupLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		person := office.visitor(t)
		person.get("/setup/"+link).want(t, http.StatusOK, "Bem-vindo à Carteira")
		person.post("/setup/"+link, "name", "Rede Clara", "email", "ana", "password", "short").
			want(t, http.StatusUnprocessableEntity, `value="Rede Clara"`, "deve ser um e-mail válido", "pelo menos 8 caracteres", "é obrigatório")
		filled := []string{"name", "Rede Clara", "user_name", "Ana", "email", "ana@example.com", "password", password, "timezone", "America/Manaus"}
		person.follow("/setup/"+link, filled...).want(t, http.StatusOK, "A empresa está pronta", "Rede Clara", "Para começar")
		office.visitor(t).get("/setup/"+link).want(t, http.StatusNotFound, "Este link não funciona mais")
		office.visitor(t).post("/setup/"+link, filled...).want(t, http.StatusNotFound)
	})
}

func TestCustomerPages(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		person.post("/customers/new", "name", "", "email", "x", "notes", "keep me", "plan_id", "77").
			want(t, http.StatusUnprocessableEntity, "é obrigatório", "deve ser um e-mail válido", "não existe", "keep me")
		person.follow("/customers/new", "name", "Maria", "whatsapp", "(11) 98765-0000", "plan_id", fmt.Sprint(ids["plans"]), "data_de_vencimento", "").
			want(t, http.StatusOK, "Maria: cadastro criado.", "28/02/2026", "&#43;55 (11) 98765-0000", "R$\u00a035,00")
		list := person.get("/customers?search=joao").want(t, http.StatusOK, "João &lt;Silva&gt;", "Vence hoje")
		list.lacks(t, "Maria")
		person.get("/customers?status=Vencido").want(t, http.StatusOK, "Ninguém encontrado")
		person.get("/customers?due_from=31/12").want(t, http.StatusOK, "deve ser uma data válida")

		joao := fmt.Sprintf("/customers/%d", ids["customers"])
		person.follow(joao+"/renew", "periods", "3").want(t, http.StatusOK, "renovação até 30/04/2026")
		person.follow(joao+"/renew", "periods", "99").want(t, http.StatusOK, "deve estar entre 1 e 36", "30/04/2026")
		person.post(joao+"/edit", "name", " ").want(t, http.StatusUnprocessableEntity, "não pode ficar vazio")
		person.follow(joao+"/edit", "name", "João Novo", "notes", "vip").want(t, http.StatusOK, "João Novo: alterações salvas.", "vip", "Cliente alterado")
		person.get(joao+"/delete").want(t, http.StatusOK, "Excluir João Novo?", "não pode ser desfeito", `id="ask"`)
		person.follow(joao+"/delete").want(t, http.StatusOK, "João Novo: cadastro excluído.")
		person.get(joao).want(t, http.StatusNotFound)
	})
}

func TestManyCustomersAtOnce(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		lone, err := office.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", "Sem plano")))
		if err != nil {
			t.Fatal(err)
		}
		text, b := fmt.Sprint(ids["customers"]), fmt.Sprint(lone.ID)
		person.follow("/customers/bulk", "action", "renew").want(t, http.StatusOK, "selecione pelo menos um cliente")
		both := []string{"id", text, "id", b}
		sure := func(agreed string) []string { return append([]string{"sure", "yes", "agreed", agreed}, both...) }
		person.post("/customers/bulk", append(both, "action", "renew")...).
			want(t, http.StatusOK, "Renovar 1 cliente?", "Ficam de fora: 1", "o cliente não tem plano", "28/02/2026", `name="agreed" value="1"`)
		person.post("/customers/bulk", append(sure("2"), "action", "renew")...).want(t, http.StatusOK, "a lista mudou enquanto isso")
		person.follow("/customers/bulk", append(sure("2"), "action", "plan", "bulk_plan_id", fmt.Sprint(ids["plans"]))...).want(t, http.StatusOK, "movidos para o plano: 2")
		person.follow("/customers/bulk", append(sure("2"), "action", "renew", "back", "/customers?search=x")...).want(t, http.StatusOK, "renovados: 2", `value="x"`)
		person.post("/customers/bulk", append(both, "action", "delete")...).want(t, http.StatusOK, "Excluir 2 clientes?", "não pode ser desfeito")
		person.follow("/customers/bulk", append(sure("2"), "action", "delete")...).want(t, http.StatusOK, "excluídos: 2", "Nenhum cliente ainda").lacks(t, `action="/undo"`)
	})
}

func TestExportHasAllOfTheFilterAndNoFormula(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.fill()
		var sheet strings.Builder
		sheet.WriteString("nome;login\n")
		for i := range 1203 {
			fmt.Fprintf(&sheet, "Cliente %d;c%d\n", i, i)
		}
		upload, err := office.Intake.SaveUpload(t.Context(), person.actor, "x.csv", []byte(sheet.String()))
		if err == nil {
			upload, err = office.Intake.CheckUpload(t.Context(), person.actor, upload.ID, upload.Choices)
		}
		if err != nil || upload.Outcome.Done.Skipped != 1203 {
			t.Fatalf("checked %+v, %v", upload.Outcome, err)
		}
		person.importNow(upload.ID)
		for _, name := range []string{`=HYPERLINK("http://x")`, "+1", "-1", "@x", `a;"b"`} {
			if _, err := office.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", name))); err != nil {
				t.Fatal(err)
			}
		}
		rows := person.export("/customers/export")
		if len(rows) != 1+1+1203+5 || rows[0][0] != "nome" || rows[1][0] != `a;"b"` {
			t.Errorf("%d rows, beginning with %v", len(rows), rows[:2])
		}
		seen := map[string]bool{}
		for _, row := range rows[1:] {
			if seen[row[0]] || strings.ContainsAny(row[0][:1], "=+-@") {
				t.Errorf("row %v", row)
			}
			seen[row[0]] = true
		}
		if rows := person.export("/customers/export?search=joao"); len(rows) != 2 || rows[1][4] != "31/01/2026" || rows[1][6] != "Mensal" || rows[1][1] != "(11) 98765-4321" || rows[1][7] != "35,00" {
			t.Errorf("of a search: %v", rows)
		}
		person.get("/customers/export?due_from=x").want(t, http.StatusUnprocessableEntity)
	})
}

func (p *person) export(path string) [][]string {
	p.t.Helper()
	answer := p.get(path).want(p.t, http.StatusOK)
	if !strings.HasPrefix(answer.body, "\ufeff") || !strings.Contains(answer.header.Get("Content-Disposition"), "-2026-01-31.csv") {
		p.t.Errorf("headers %v", answer.header)
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(answer.body, "\ufeff")))
	r.Comma = ';'
	rows, err := r.ReadAll()
	if err != nil {
		p.t.Fatal(err)
	}
	return rows
}

// importNow starts an import and waits for its end.
func (p *person) importNow(id int64) intake.Upload {
	p.t.Helper()
	p.follow(fmt.Sprintf("/imports/%d/start", id)).want(p.t, http.StatusOK)
	for {
		upload, err := p.Intake.Upload(p.t.Context(), p.actor, id)
		if err != nil {
			p.t.Fatal(err)
		}
		if upload.State != intake.UploadRunning {
			return upload
		}
	}
}

// upload sends a file as a browser does.
func (p *person) upload(name, content string) answer {
	p.t.Helper()
	var body bytes.Buffer
	writer := multipart.NewWriter(&body)
	part, err := writer.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write([]byte(content))
	}
	if err = errors.Join(err, writer.Close()); err != nil {
		p.t.Fatal(err)
	}
	r := p.request(http.MethodPost, "/imports", &body)
	r.Header.Set("Content-Type", writer.FormDataContentType())
	return p.do(r)
}

func TestImportByUpload(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.fill()
		person.upload("x.csv", "").want(t, http.StatusUnprocessableEntity, "o arquivo está vazio")
		person.upload("x.xlsx", "PK\x03\x04rest").want(t, http.StatusUnprocessableEntity, "abra-a e salve como CSV")
		person.post("/imports").want(t, http.StatusUnprocessableEntity, "escolha um arquivo")
		answer := person.upload("clientes.csv", "Assinante;Celular;Vence;Plano\nAna;11987650001;31/12/2026;Mensal\nBia;123;31/12/2026;Mensal\nCaio;;;Outro\n")
		if answer.status != http.StatusSeeOther {
			t.Fatalf("uploaded with %d: %s", answer.status, answer.body)
		}
		person.get(answer.location).want(t, http.StatusOK, "Assinante", "11987650001", "Qual coluna é qual")
		person.post(answer.location, "column", "", "column", "whatsapp", "column", "", "column", "plan").want(t, http.StatusUnprocessableEntity, "uma coluna deve ser o nome do cliente")
		person.post(answer.location, "column", "name", "column", "cpf", "column", "", "column", "plan").want(t, http.StatusUnprocessableEntity, "cada coluna deve ter um nome ou ser ignorada")
		person.follow(answer.location, "column", "name", "column", "", "column", "", "column", "plan").want(t, http.StatusOK,
			"Nenhuma coluna foi entendida como: WhatsApp, Vencimento.", "Colunas que não são importadas: Celular, Vence.")
		named := []string{"column", "name", "column", "whatsapp", "column", "data_de_vencimento", "column", "plan"}
		checked := person.follow(answer.location, named...).want(t, http.StatusOK, "Linhas certas: 1. Com algum problema: 2.", "deve ter 10 ou 11 dígitos com o DDD", "não existe")
		checked.want(t, http.StatusOK, "Importar 1 cliente", `name="keep_going" value="true"`)
		if again := person.post(answer.location + "/start"); again.status != http.StatusSeeOther {
			t.Errorf("starting what has bad lines answered %d", again.status)
		}
		location := person.upload("clientes.csv", "Assinante;Celular;Vence;Plano\nAna;11987650001;31/12/2026;Mensal\nBia;123;31/12/2026;Mensal\n").location
		person.follow(location, append(named, "keep_going", "false", "keep_going", "true")...).want(t, http.StatusOK, "Importar 1 cliente")
		var id int64
		if _, err := fmt.Sscanf(location, "/imports/%d", &id); err != nil {
			t.Fatal(err)
		}
		if upload := person.importNow(id); upload.State != intake.UploadDone || upload.Outcome.Done != (intake.Imported{Imported: 1, Failed: 1}) {
			t.Errorf("imported %+v", upload)
		}
		person.get(location).want(t, http.StatusOK, "Clientes importados: 1.", "Linhas que não foram importadas: 1.", "WhatsApp", "123")
		person.follow(location+"/start").want(t, http.StatusOK, "verifique o arquivo antes")
		if list, n, err := office.Customers.List(t.Context(), person.actor, customer.Filter{Search: "ana"}, input.Page{Number: 1, Size: 10}); err != nil || n != 1 || list[0].Plan.Name != "Mensal" {
			t.Errorf("customers %+v, %v", list, err)
		}
	})
}

func TestInvoicePages(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		invoice := fmt.Sprintf("/invoices/%d", ids["invoices"])
		person.get("/invoices?status=Em+aberto&search=joao").want(t, http.StatusOK, "João", "R$\u00a035,00", "31/01/2026")
		person.post(invoice+"/status", "status", "Pago", "paid_at", "2026-02-01", "note", "dinheiro").
			want(t, http.StatusUnprocessableEntity, "não pode estar no futuro", "dinheiro")
		person.follow(invoice+"/status", "status", "Pago", "note", "dinheiro").want(t, http.StatusOK, "o cliente, renovado", "dinheiro", "Desfazer o pagamento", "sem informar")
		person.get("/").want(t, http.StatusOK, "R$\u00a035,00", "<svg class=\"bars\"")
		person.follow(invoice+"/status", "status", "Em aberto").want(t, http.StatusOK, "o vencimento voltou")
		person.follow(invoice+"/status", "status", "Pago", "paid_at", "2025-12-30", "renew", "false")
		person.get("/").want(t, http.StatusOK, "-100,0% em relação aos mesmos dias do mês passado").lacks(t, "%!")
		person.follow(invoice+"/status", "status", "Em aberto")
		person.follow(invoice+"/status", "status", "Cancelado").want(t, http.StatusOK, "A fatura foi cancelada", "Reabrir")
		person.follow(invoice+"/reissue").want(t, http.StatusOK, "faturado de novo", "R$\u00a035,00")
		person.get(invoice).want(t, http.StatusOK, "Outra fatura foi emitida").lacks(t, "Reabrir")
		again := fmt.Sprintf("/invoices/%d", person.newestInvoice())
		person.get(again+"/edit").want(t, http.StatusOK, `value="35,00"`, "deixa de acompanhar")
		person.post(again+"/edit", "total_amount", "0,00", "due_date", "2026-02-05").want(t, http.StatusUnprocessableEntity, "deve ser maior que zero")
		person.follow(again+"/edit", "total_amount", "32,50", "due_date", "2026-02-05", "discount", "2,00", "description", "Acordo").
			want(t, http.StatusOK, "A fatura foi salva", "R$\u00a032,50", "05/02/2026", "Acordo")
		person.follow(again+"/status", "status", "Pago", "amount", "20,00", "difference", "partial", "paid_via", "cash").
			want(t, http.StatusOK, "Uma parte foi recebida", "dinheiro", "Desfazer")
		paid := fmt.Sprintf("/received/%d", person.newestPayment())
		person.get(paid+"/refund").want(t, http.StatusOK, "Isto não envia dinheiro", "R$\u00a020,00")
		person.post(paid+"/refund", "amount", "21,00").want(t, http.StatusUnprocessableEntity, "no máximo")
		person.follow(paid+"/refund", "amount", "5,00", "note", "Cobrado a mais").want(t, http.StatusOK, "A devolução foi registrada",
			"devolvido: R$\u00a05,00", "-R$\u00a05,00", "registrado por Ana", "Cobrado a mais")
		person.follow(paid+"/undo").want(t, http.StatusOK, "devolva o resto")
		person.follow(again+"/status", "status", "Pago").want(t, http.StatusOK, "renovado")
		person.follow(fmt.Sprintf("/received/%d/undo", person.newestPayment())).want(t, http.StatusOK, "o vencimento voltou", "Em aberto")
		extra := fmt.Sprintf("/customers/%d/invoice", ids["customers"])
		person.get(extra).want(t, http.StatusOK, `value="35,00"`)
		person.post(extra, "amount", "dez", "due", "2026-02-10").want(t, http.StatusUnprocessableEntity, "deve ser um valor", `value="dez"`)
		person.follow(extra, "amount", "1.234,56", "due", "2026-02-10", "description", "Visita").want(t, http.StatusOK, "R$\u00a01.234,56", "Fatura avulsa", "Visita")
	})
}

func TestPlanAndProductPages(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	ids := person.fill()
	person.post("/plans/new", "name", "Anual", "value", "abc", "period_count", "0", "period_unit", "year").
		want(t, http.StatusUnprocessableEntity, "deve ser um valor", `value="Anual"`, "deve estar entre 1 e 1000")
	person.follow("/plans/new", "name", "Anual", "value", "R$ 1.200,00", "period_count", "1", "period_unit", "year").want(t, http.StatusOK, "R$\u00a01.200,00", "por ano")
	person.follow(fmt.Sprintf("/plans/%d", ids["plans"]), "name", "Trimestral", "value", "99,90", "period_count", "3", "period_unit", "month", "active", "false").
		want(t, http.StatusOK, "Trimestral", "a cada 3 meses", "Arquivado")
	person.follow(fmt.Sprintf("/products/%d", ids["products"]), "name", "Fibra 2", "active", "false", "active", "true").want(t, http.StatusOK, "Fibra 2", "Ativo")
}

func TestTokenIsShownOnceAndWorks(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	made := person.post("/api/tokens", "name", "Site").want(t, http.StatusOK, "Copie agora", "https://carteira.example/api/v1/customers")
	token := regexp.MustCompile(`cart_[0-9A-Za-z]{40}`).FindString(made.body)
	actor, _, err := office.Accounts.Admit(t.Context(), token)
	if err != nil || actor.Company.ID != person.actor.Company.ID {
		t.Fatalf("the token %q acts for %+v, %v", token, actor, err)
	}
	person.get("/api").want(t, http.StatusOK, "Site", "nunca").lacks(t, token)
	person.post("/api/tokens", "name", " ").want(t, http.StatusUnprocessableEntity, "é obrigatório")
	person.get(fmt.Sprintf("/api/tokens/%d/delete", actor.TokenID)).want(t, http.StatusOK, "Excluir o token Site?")
	person.follow(fmt.Sprintf("/api/tokens/%d/delete", actor.TokenID)).want(t, http.StatusOK, "O token foi excluído.")
	if _, _, err := office.Accounts.Admit(t.Context(), token); err == nil {
		t.Error("it still works")
	}
}

func TestWebhookPages(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		var headers http.Header
		var body string
		receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			headers = r.Header
			var buf bytes.Buffer
			_, _ = buf.ReadFrom(r.Body)
			body = buf.String()
			_, _ = w.Write([]byte("thank <you>"))
		}))
		t.Cleanup(receiver.Close)
		person := office.owner(t, "ana@example.com")
		person.post("/webhooks/new", "url", "http://x.example", "description", "CRM").want(t, http.StatusUnprocessableEntity, "deve usar https", "escolha pelo menos um evento", "CRM")
		made := person.post("/webhooks/new", "url", receiver.URL+"/a", "events", "invoice.paid", "events", "customer.created").want(t, http.StatusOK, "Copie o segredo agora")
		secret := regexp.MustCompile(`whsec_\w+`).FindString(made.body)
		list, err := office.Webhooks.List(t.Context(), person.actor)
		if err != nil || len(list) != 1 || len(list[0].Events) != 2 {
			t.Fatalf("webhooks %+v, %v", list, err)
		}
		path := company.WebhookPath(list[0].ID)
		person.get(path).want(t, http.StatusOK).lacks(t, secret)
		person.post(path+"/test").want(t, http.StatusOK, "O teste foi aceito.", "thank &lt;you&gt;", "ping", "200")
		person.follow(path+"/active", "active", "false").want(t, http.StatusOK, "O webhook foi desligado")
		person.post(path+"/replay", "since", "2026-01-01").want(t, http.StatusUnprocessableEntity, "o webhook está desligado")
		person.follow(path+"/active", "active", "true").want(t, http.StatusOK, "O webhook foi ligado")
		person.follow(path+"/replay", "since", "2026-01-01").want(t, http.StatusOK, "desde 01/01/2026 está sendo enviado de novo")
		person.follow(path+"/edit", "url", receiver.URL+"/b", "events", "customer.deleted").want(t, http.StatusOK, "/b")

		check := func(headers, body string) answer {
			return person.post("/webhooks/signature", "webhook_id", fmt.Sprint(list[0].ID), "headers", headers, "body", body)
		}
		sent := "X-Service-Timestamp: " + headers.Get("X-Service-Timestamp") + "\nx-service-signature: " + headers.Get("X-Service-Signature")
		good := check(sent, body).want(t, http.StatusOK, "A assinatura confere")
		good.lacks(t, "foi assinado outro segredo", secret)
		check(sent, strings.Replace(body, "ping", "pong", 1)).want(t, http.StatusOK, "foi assinado outro segredo")
		wrong := "X-Service-Timestamp: " + headers.Get("X-Service-Timestamp") + "\nX-Service-Signature: sha256=" +
			webhook.Sign([]byte(strings.TrimPrefix(secret, "whsec_")), headers.Get("X-Service-Timestamp"), []byte(body))
		check(wrong, body).want(t, http.StatusOK, "sem whsec_")
		check("X-Service-Signature: abc", "{").want(t, http.StatusOK, "está ausente, cortada ou sem sha256=", "não é JSON")
		check("", "").want(t, http.StatusUnprocessableEntity, "é obrigatório")

		callback := person.get("/webhooks/callback-secret").want(t, http.StatusOK, "whsec_")
		old := regexp.MustCompile(`whsec_\w+`).FindString(callback.body)
		person.follow("/webhooks/callback-secret").want(t, http.StatusOK, "novo segredo de callback").lacks(t, old)
		renewed := person.post(path+"/secret").want(t, http.StatusOK, "O webhook tem um novo segredo", "whsec_")
		renewed.lacks(t, secret)
		person.get(path).want(t, http.StatusOK).lacks(t, "whsec_")
		person.get(path+"/delete").want(t, http.StatusOK, "O histórico vai junto")
		person.follow(path+"/delete").want(t, http.StatusOK, "O webhook foi excluído.", "Nenhum webhook ainda")
	})
}

func TestWebhookFormHasRefusalsTriedAgain(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		const ticked = `name="retry_refused" value="true" checked`
		wants := func(path string, on bool) {
			t.Helper()
			list, err := office.Webhooks.List(t.Context(), person.actor)
			if err != nil || len(list) != 1 || list[0].RetryRefused != on {
				t.Fatalf("%s: want %t, have %+v, %v", path, on, list, err)
			}
		}
		person.get("/webhooks/new").want(t, http.StatusOK, "Tentar de novo o que foi recusado", `name="retry_refused" value="true">`).lacks(t, ticked)
		person.post("/webhooks/new", "url", "http://x.example", "retry_refused", "false", "retry_refused", "true").
			want(t, http.StatusUnprocessableEntity, "deve usar https", ticked) // what was ticked stays so
		person.post("/webhooks/new", "url", "https://127.0.0.1:9/x", "events", "invoice.paid", "retry_refused", "false", "retry_refused", "true").
			want(t, http.StatusOK, "Copie o segredo agora")
		wants("/webhooks/new", true)
		list, err := office.Webhooks.List(t.Context(), person.actor)
		housetest.Must(t, err)
		edit := company.WebhookPath(list[0].ID) + "/edit"
		person.get(edit).want(t, http.StatusOK, ticked)
		person.follow(edit, "url", list[0].URL, "events", "invoice.paid", "retry_refused", "false").want(t, http.StatusOK, "O webhook foi salvo.")
		wants(edit, false)
		person.get(edit).want(t, http.StatusOK).lacks(t, ticked)
		person.post("/preferences", "lang", "en", "back", "/")
		person.get("/webhooks/new").want(t, http.StatusOK, "Try again what was refused")
	})
}

func TestSettingsUsersAndProfile(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.post("/settings", "name", "", "timezone", "Mars/Base", "lead_days", "99").want(t, http.StatusUnprocessableEntity, "não pode ficar vazio", "deve estar entre 0 e 60")
		person.follow("/settings", "name", "Rede Nova", "timezone", "America/Manaus", "lead_days", "3", "renew_on_payment", "false", "renew_from", "today", "level", "user").
			want(t, http.StatusOK, "As configurações foram salvas", "Rede Nova")
		found, err := office.Accounts.Actor(t.Context(), person.actor.Company.ID)
		if company := found.Company; err != nil || company.Level != account.LevelUltraMaster || company.Settings != (account.Settings{RenewFrom: account.FromToday, LeadDays: 3, RenewInvoice: account.KeepInvoice}) || company.Zone.String() != "America/Manaus" {
			t.Errorf("company %+v, %v", company, err)
		}

		person.post("/settings", "discount_percent", "5", "discount_amount", "2,00", "late_fee_percent", "dois").want(t, http.StatusUnprocessableEntity,
			"deve ser uma porcentagem ou um valor, não os dois", "deve ser uma porcentagem como 2,50")
		person.follow("/settings", "late_fee_percent", "2,5 %", "late_interest_percent", "1", "discount_percent", "", "discount_amount", "R$ 1.234,50").
			want(t, http.StatusOK, `value="2,50"`, `value="1,00"`, `value="1.234,50"`, "Multa por atraso (%)")
		found, err = office.Accounts.Actor(t.Context(), person.actor.Company.ID)
		want := account.Settings{
			RenewFrom: account.FromToday, LeadDays: 3, RenewInvoice: account.KeepInvoice,
			LateFeePercent: 2_50, LateInterestPercent: 1_00, DiscountAmount: 1234_50,
		}
		if err != nil || found.Company.Settings != want {
			t.Errorf("settings %+v, %v", found.Company.Settings, err)
		}
		person.get("/settings/audit").want(t, http.StatusOK, "Multa por atraso (%)", "2,50", "R$ 1.234,50").lacks(t, "late_fee_percent", "1234.50")

		made := person.post("/settings/users/new", "name", "Bia", "email", "bia@example.com", "role", "staff").want(t, http.StatusOK, "Um link para Bia", "https://wa.me/?text=Ol%C3%A1%2C%20Bia%21", "Enviar por WhatsApp")
		link := regexp.MustCompile(`https://carteira.example(/password/[\w-]+)`).FindStringSubmatch(made.body)[1]
		person.get("/settings/users").want(t, http.StatusOK, "Bia", "ainda não criou a senha").lacks(t, link)
		bia := office.visitor(t)
		bia.get(link).want(t, http.StatusOK, "Para Bia, que entra como bia@example.com")
		bia.post(link, "password", "short").want(t, http.StatusUnprocessableEntity, "pelo menos 8 caracteres")
		bia.follow(link, "password", "long enough").want(t, http.StatusOK, "A senha foi definida", `aria-label="Menu principal"`)
		bia.get(link).want(t, http.StatusNotFound)

		users, err := office.Accounts.Users(t.Context(), person.actor)
		if err != nil || len(users) != 2 {
			t.Fatal(users, err)
		}
		person.post(fmt.Sprintf("/settings/users/%d", users[0].ID), "role", "staff").want(t, http.StatusUnprocessableEntity, "a empresa precisa manter um dono")
		person.follow(fmt.Sprintf("/settings/users/%d/remove", users[1].ID)).want(t, http.StatusOK, "O usuário foi removido.")
		if answer := bia.get("/"); answer.status != http.StatusSeeOther {
			t.Errorf("who was removed still sees %d", answer.status)
		}

		other := office.visitor(t)
		other.signIn("ana@example.com", password)
		person.get("/profile").want(t, http.StatusOK, "esta", "127.0.0.1", "/profile/sessions/")
		person.post("/profile/password", "current_password", "wrong", "password", "another one").want(t, http.StatusUnprocessableEntity, "está errada")
		person.follow("/profile/password", "current_password", password, "password", "another one").want(t, http.StatusOK, "A senha foi trocada")
		if answer := other.get("/"); answer.status != http.StatusSeeOther {
			t.Errorf("the other session still sees %d", answer.status)
		}
		person.get("/settings/audit").want(t, http.StatusOK, "Senha trocada", "Usuário removido", "Configurações alteradas", "Rede Nova", "Entrou", "127.0.0.1").
			lacks(t, "another one", "long enough")
	})
}

func TestSecondFactorPages(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	person.get("/profile/second-factor").want(t, http.StatusOK, `<svg class="qr"`)
	person.post("/profile/second-factor", "code", "000000").want(t, http.StatusUnprocessableEntity, "código incorreto ou já usado")
	person.get("/profile").want(t, http.StatusOK, "Configurar")
	office.visitor(t).post("/login/code", "code", "123456").want(t, http.StatusSeeOther)
}

// newestInvoice is the id of the invoice that was made last.
func (p *person) newestInvoice() int64 {
	p.t.Helper()
	list, _, err := p.Billing.List(p.t.Context(), p.actor, billing.Filter{}, input.Page{Number: 1, Size: 1})
	if err != nil || len(list) == 0 {
		p.t.Fatalf("%d invoices, %v", len(list), err)
	}
	return list[0].ID
}

// newestPayment is the id of the payment that came last.
func (p *person) newestPayment() int64 {
	p.t.Helper()
	list, _, err := p.Billing.Payments(p.t.Context(), p.actor, billing.PaymentFilter{}, input.Page{Number: 1, Size: 1})
	if err != nil || len(list) == 0 {
		p.t.Fatalf("%d payments, %v", len(list), err)
	}
	return list[0].ID
}

func TestRemovingAPersonAsksAboutTheirTokens(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ctx := t.Context()
		for _, keep := range []string{"", "true"} {
			bia, _, err := office.Accounts.CreateUser(ctx, person.actor, account.UserDraft{
				Name: input.Some("Bia"), Email: input.Some("bia@example.com"), Role: input.Some(account.RoleOwner),
			})
			if err != nil {
				t.Fatal(err)
			}
			path := fmt.Sprintf("/settings/users/%d/remove", bia.ID)
			person.get(path).want(t, http.StatusOK, "Remover Bia?").lacks(t, "Manter os tokens")
			asBia := account.Actor{Company: person.actor.Company, UserID: bia.ID, Role: account.RoleOwner, Name: "Bia", From: "198.51.100.7"}
			if _, _, err := office.Accounts.CreateToken(ctx, asBia, account.NewToken{Name: "site da Bia"}); err != nil {
				t.Fatal(err)
			}
			person.get("/api").want(t, http.StatusOK, "site da Bia", `data-label="Por quem">Bia<`)
			person.get(path).want(t, http.StatusOK, "Os tokens da API que a pessoa criou são excluídos", `name="keep_tokens" value="true"`)
			person.follow(path, "keep_tokens", keep).want(t, http.StatusOK, "O usuário foi removido.")
			if keep == "" {
				person.get("/api").lacks(t, "site da Bia")
				person.get("/settings/audit").want(t, http.StatusOK, "Token excluído", "site da Bia")
				continue
			}
			person.get("/api").want(t, http.StatusOK, "site da Bia", "uma pessoa que foi removida")
		}
	})
}

func TestFormerAddressComesBackFromItsMailbox(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		mailed := func(to string) string { // the path of the newest link in a letter to an address
			housetest.Must(t, office.Accounts.SendMails(t.Context()))
			for _, mail := range slices.Backward(*office.mails) {
				if link := regexp.MustCompile(`https://carteira.example(/email/[\w-]+)`).FindStringSubmatch(mail.Text); link != nil && mail.To == to {
					return link[1]
				}
			}
			t.Fatalf("no link was sent to %s: %+v", to, *office.mails)
			return ""
		}
		person.follow("/profile/email/confirm").want(t, http.StatusOK)
		office.visitor(t).follow(mailed("ana@example.com")).want(t, http.StatusOK)
		person.follow("/profile/email", "email", "outra@example.com").want(t, http.StatusOK, "você entra com outra@example.com")
		visitor, back := office.visitor(t), mailed("ana@example.com")
		visitor.get(back).want(t, http.StatusOK, "traga ana@example.com de volta", "Trazer o e-mail de volta")
		visitor.follow(back).want(t, http.StatusOK, "Você entra com ana@example.com de novo.", "ana@example.com", `name="password"`)
		visitor.get(back).want(t, http.StatusNotFound)
		if answer := person.get("/"); answer.status != http.StatusSeeOther {
			t.Errorf("who was signed in still sees %d", answer.status)
		}
	})
}
