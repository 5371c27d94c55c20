package panel

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/billing"
)

// sendStatement sends a file as the form of the page does.
func (p *person) sendStatement(content string) answer {
	p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "extrato.csv")
	if err == nil {
		_, err = part.Write([]byte(content))
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	r := p.request(http.MethodPost, statementPath, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return p.do(r)
}

var packedField = regexp.MustCompile(`name="statement" value="([^"]+)"`)

func TestStatementIsReadBookedAndUndone(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		sure, other := person.debtor("Caio Souza", "11987654321"), person.debtor("Bia Dias", "11987654322")
		person.get("/payments").want(t, http.StatusOK, `href="/payments/statement"`)
		person.get(statementPath).want(t, http.StatusOK, "Extrato bancário", "Ler o extrato")
		const file = "data;valor;descrição\n31/01/2026;35,00;PIX RECEBIDO CAIO SOUZA\n31/01/2026;20,00;DEPOSITO <b>\n31/01/2026;-1,00;TARIFA\n"
		page := person.sendStatement(file)
		page.want(t, http.StatusOK, "Nome do cliente", "DEPOSITO &lt;b&gt;", "1 linha é saída.", "Nenhuma fatura em aberto combina",
			fmt.Sprintf(`name="line" value="0" aria-label="Lançar R$`+"\u00a0"+`35,00 de 31/01/2026" checked`), fmt.Sprint(`value="`, sure.ID, " · Caio Souza"))
		packed := strings.ReplaceAll(packedField.FindStringSubmatch(page.body)[1], "&#43;", "+")

		person.post(statementPath+"/book", "statement", packed, "line", "1", "invoice-1", "").
			want(t, http.StatusOK, "Escolha a fatura que ele paga.", "Algumas linhas não foram lançadas")
		booked := person.post(statementPath+"/book", "statement", packed, "line", "0", "invoice-0", fmt.Sprint(sure.ID, " · Caio Souza"),
			"line", "1", "invoice-1", fmt.Sprint("#", other.ID))
		booked.want(t, http.StatusOK, "2 pagamentos foram lançados.", "Nada mais a lançar", `action="/undo"`)
		if got, err := person.Billing.Find(t.Context(), person.actor, other.ID); err != nil || got.Status != billing.Open || got.Received != 2000 {
			t.Errorf("%+v, %v", got, err)
		}
		person.sendStatement(file).want(t, http.StatusOK, "2 linhas já foram lançadas antes.")
		person.undone(booked)
		person.sendStatement(file).want(t, http.StatusOK, "Caio Souza", `value="0"`, `value="1"`).lacks(t, "antes.")
	})
}

func TestWhatIsNoStatementIsRefusedInWords(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.sendStatement("nome\nAna\n").want(t, http.StatusUnprocessableEntity, "o arquivo não é um extrato")
		person.sendStatement(strings.Repeat("x", 3<<20)).want(t, http.StatusUnprocessableEntity, "não pode passar de 1 MiB")
		person.post(statementPath).want(t, http.StatusUnprocessableEntity, "escolha um arquivo")
		for _, field := range []string{"", "x", "eA=="} {
			if answer := person.post(statementPath+"/book", "statement", field); answer.location != statementPath {
				t.Errorf("%q: %d %s", field, answer.status, answer.location)
			}
		}
	})
}
