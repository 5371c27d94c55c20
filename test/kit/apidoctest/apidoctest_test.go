package apidoctest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carteira/test/kit/apidoctest"
)

const txID = "7978c0c97ea847e78e8849634473c1f1"

// charge is a request of the document with fields that we do not send ourselves.
const charge = `{"calendario":{"dataDeVencimento":"2026-12-31","validadeAposVencimento":30},
	"devedor":{"cpf":"12345678909","nome":"Ana","logradouro":"Rua A","cidade":"Recife","uf":"PE","cep":"70011750"},
	"valor":{"original":"123.45","multa":{"modalidade":2,"valorPerc":"15.00"},"juros":{"modalidade":2,"valorPerc":"2.00"}},
	"chave":"5f84a4c5-c5cb-4599-9f13-7eb4d419dacc"}`

// exchange sends a request to a double that answers with a status and a body,
// and returns what broke the document.
func exchange(t *testing.T, method, path, request string, status int, answer string) []string {
	t.Helper()
	var broken []string
	guard := &apidoctest.Guard{
		Document: apidoctest.Bacen(), Base: "/v2", Broken: func(err error) { broken = append(broken, err.Error()) },
		Double: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if status >= 400 {
				w.Header().Set("Content-Type", "application/problem+json")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		}),
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "https://bank.example.com/v2"+path, strings.NewReader(request))
	if request != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	guard.ServeHTTP(httptest.NewRecorder(), r)
	return broken
}

const notFound = `{"type":"https://pix.bcb.gov.br/api/v2/error/NaoEncontrado","title":"Não Encontrado","status":404}`

func TestRequestThatBreaksTheDocumentIsRefused(t *testing.T) {
	requests := map[string]struct{ path, old, new string }{
		"a field that is missing":         {"/cobv/" + txID, `"chave":"5f84a4c5-c5cb-4599-9f13-7eb4d419dacc"`, `"solicitacaoPagador":"x"`},
		"a field nobody knows":            {"/cobv/" + txID, `"cidade"`, `"city"`},
		"a field nobody knows, deeper":    {"/cobv/" + txID, `"juros":{`, `"juros":{"porcento":1,`},
		"an amount with one place":        {"/cobv/" + txID, `123.45`, `123.4`},
		"an amount that is a number":      {"/cobv/" + txID, `"123.45"`, `123.45`},
		"a percentage that is no amount":  {"/cobv/" + txID, `"2.00"`, `"2%"`},
		"a date that is none":             {"/cobv/" + txID, `2026-12-31`, `31/12/2026`},
		"a CPF with points":               {"/cobv/" + txID, `12345678909`, `123.456.789-09`},
		"a kind of interest there is not": {"/cobv/" + txID, `"juros":{"modalidade":2`, `"juros":{"modalidade":99`},
		"an id that is too short":         {"/cobv/7978c0c9", `Ana`, `Ana`},
		"a parameter nobody knows":        {"/cobv/" + txID + "?page=1", `Ana`, `Ana`},
		"a call there is not":             {"/boleto/" + txID, `Ana`, `Ana`},
	}
	for name, test := range requests {
		if !strings.Contains(charge, test.old) {
			t.Fatalf("%s: the request has no %s", name, test.old)
		}
		request := strings.Replace(charge, test.old, test.new, 1)
		if broken := exchange(t, http.MethodPut, test.path, request, 404, notFound); len(broken) != 1 || !strings.Contains(broken[0], "breaks") {
			t.Errorf("%s: %q", name, broken)
		}
	}
	if broken := exchange(t, http.MethodPut, "/cobv/"+txID, charge, 404, notFound); len(broken) != 0 {
		t.Errorf("one that keeps to it: %q", broken)
	}
}

func TestAnswerThatBreaksTheDocumentIsReported(t *testing.T) {
	webhook := `{"webhookUrl":"https://example.com/pix","cnpj":"11222333000181","criacao":"2026-11-15T12:00:00Z"}`
	tests := map[string]struct {
		method, answer string
		status         int
		fine           bool
	}{
		"a webhook":                    {http.MethodGet, webhook, 200, true},
		"one without its day":          {http.MethodGet, strings.Replace(webhook, "criacao", "created", 1), 200, false},
		"one with a CNPJ too short":    {http.MethodGet, strings.Replace(webhook, "000181", "0001", 1), 200, false},
		"a refusal":                    {http.MethodGet, notFound, 404, true},
		"a refusal without a title":    {http.MethodGet, `{"status":404}`, 404, false},
		"a status there is not":        {http.MethodGet, notFound, 418, false},
		"nothing, where that is right": {http.MethodDelete, "", 204, true},
		"something, where nothing is":  {http.MethodDelete, webhook, 204, false},
	}
	for name, test := range tests {
		broken := exchange(t, test.method, "/webhook/11222333000181", "", test.status, test.answer)
		if (len(broken) == 0) != test.fine {
			t.Errorf("%s: %q", name, broken)
		}
	}
}

func TestDocumentsSayWhatTheyAre(t *testing.T) {
	for _, document := range []*apidoctest.Document{apidoctest.Bacen(), apidoctest.Woovi(), apidoctest.MercadoPago()} {
		if document.Title == "" || document.Version == "" || document.Date == "" || document.Source == "" {
			t.Errorf("%+v", document)
		}
	}
}
