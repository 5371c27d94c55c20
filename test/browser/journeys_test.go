package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	email    = "ana@example.com"
	password = "correct horse"
)

// founded makes a company with a plan once.
var founded = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(folder, "company")
	for _, args := range [][]string{
		{"company", "create", "--name", "Rede Clara", "--email", email, "--password", password},
		{"plan", "create", "--company", "1", "--name", "Mensal", "--value", "35.00", "--period", "1month"},
	} {
		cmd := exec.Command(binary, args...)
		cmd.Env = append(os.Environ(), "CARTEIRA_DATA_DIR="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
	}
	return dir, nil
})

// newCompany serves a company without customers and signs its owner in.
func newCompany(t *testing.T) (*program, *tab) {
	t.Helper()
	t.Parallel()
	p := &program{t: t, dir: copied(t, founded)}
	p.launch("serving", "serve")
	b := p.open(t)
	b.signIn(email, password)
	b.see("Rede Clara")
	return p, b
}

func TestSignInAndOut(t *testing.T) {
	_, b := newCompany(t)
	b.click("#me-button")
	b.picture(t, rules(t), "user-menu")
	b.click("#me form[action='/logout'] button")
	b.see("Esqueceu a senha?")
	b.fill("email", email)
	b.fill("password", "wrong password")
	b.press("Entrar")
	b.see("o e-mail ou a senha está errado")
	b.fill("password", password)
	b.press("Entrar")
	b.see("Início", "Rede Clara")
}

func TestCustomerIsCreatedFoundRenewedAndDeleted(t *testing.T) {
	_, b := newCompany(t)
	b.visit("/customers")
	b.press("Novo cliente")
	b.fill("name", "João da Silva")
	b.fill("whatsapp", "11 98765-4321")
	b.set("plan_id", "1")
	b.set("data_de_vencimento", "2027-01-31")
	b.fill("email", "not-an-address@x")
	b.press("Salvar")
	b.see("Nada foi salvo", "deve ser um e-mail válido")
	b.fill("email", "joao@example.com")
	b.press("Salvar")
	b.see("João da Silva: cadastro criado.", "31/01/2027", "+55 (11) 98765-4321")
	b.press("+3 meses (até 30/04/2027)")
	b.see("renovação até 30/04/2027")

	// The list follows what is typed, without a reload.
	b.visit("/customers")
	b.do(chromedp.Evaluate[chromedp.Void]("window.stayed = true; 0"))
	b.write("search", "zzz")
	b.see("Ninguém encontrado")
	b.write("search", "joao")
	b.see("João da Silva")
	b.do(chromedp.Poll[chromedp.Void]("location.search.includes('search=joao')")) // what was found before it ended has another address
	if !ask(b, chromedp.Evaluate[bool]("window.stayed === true")) {
		t.Error("the page was loaded anew")
	}

	// Without a connection the list stays as it is, and the page says why.
	b.do(chromedp.Evaluate[chromedp.Void](`window.answered = window.fetch; window.fetch = async () => { throw new TypeError("Failed to fetch") }; 0`))
	b.write("search", "joão d")
	b.see("Sem conexão", "João da Silva")
	b.do(chromedp.Evaluate[chromedp.Void](`window.fetch = window.answered; 0`))

	b.hit(chromedp.Click(chromedp.CSS("td .name")))
	b.see("Avança o vencimento")
	b.click("details.dots > summary")
	b.do(chromedp.WaitVisible(chromedp.CSS("details.dots[open] a")), drawn)
	b.press("Excluir")
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog[open] #ask")))
	b.hit(chromedp.Click(chromedp.CSS("dialog[open] [data-cancel]"))) // the page itself has a button to cancel the customer
	b.do(chromedp.WaitNotPresent(chromedp.CSS("dialog[open]")))
	b.press("Excluir")
	b.see("Excluir João da Silva?")
	b.press("Excluir cliente")
	b.see("João da Silva: cadastro excluído.")
}

func TestTokenIsMadeAndCallsTheAPI(t *testing.T) {
	p, b := newCompany(t)
	b.visit("/api")
	b.fill("name", "Nosso site")
	b.press("Criar token")
	b.see("Copie agora")
	token := b.text("#token")
	if status, body := p.get(token, "/api/v1/account"); status != http.StatusOK || !strings.Contains(body, "Nosso site") {
		t.Fatalf("%d %s", status, body)
	}
	b.visit("/api")
	b.press("Excluir")
	b.see("Excluir o token Nosso site?")
	b.press("Excluir token")
	b.see("O token foi excluído.")
	if status, _ := p.get(token, "/api/v1/account"); status != http.StatusUnauthorized {
		t.Errorf("the token still answers %d", status)
	}
}

func TestWebhookIsMadeTestedSwitchedOffAndTurnedOnAgain(t *testing.T) {
	var broken atomic.Bool
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "obrigado")
	}))
	t.Cleanup(receiver.Close)
	p, b := newCompany(t)
	b.visit("/webhooks/new")
	b.fill("url", "http://x.example")
	b.press("Salvar")
	b.see("deve usar https")
	b.fill("url", receiver.URL)
	b.press("Salvar")
	b.see("O webhook está pronto", "whsec_")
	b.press("Enviar um teste")
	b.see("O teste foi aceito.", "obrigado")

	// 20 failed attempts switch it off: four events with six attempts each.
	broken.Store(true)
	for i := range 4 {
		p.command("import", "customers", sheet(t, fmt.Sprintf("nome\nCliente %d\n", i)), "--company", "1", "--events")
	}
	var list []struct{ Active bool }
	for len(list) == 0 || list[0].Active {
		if err := json.Unmarshal([]byte(p.command("webhook", "list", "--company", "1", "--json")), &list); err != nil {
			t.Fatal(err)
		}
	}
	b.visit("/")
	b.see("Um webhook foi desligado", "entregas seguidas falharam")
	broken.Store(false)
	b.press("Ligar")
	b.see("O webhook foi ligado")
	b.visit("/webhooks/1")
	b.see("Ligado", "customer.created")
	b.hit(chromedp.Click(chromedp.CSS(".list tbody tr:nth-child(1) a.name"), chromedp.NodeVisible))
	b.hit(chromedp.Click(chromedp.CSS("dialog a[rel=next]"), chromedp.NodeVisible))
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog a[rel=prev]")))
	b.hit(chromedp.Click(chromedp.CSS("dialog [data-cancel]")))
	b.do(chromedp.WaitVisible(chromedp.CSS(".list tbody tr:nth-child(1) a.name:focus"))) // from where it was opened
	b.click(".list tbody tr:nth-child(1) button")
	b.see("Foi entregue.")
	b.picture(t, rules(t), "webhook-deliveries")
}

func sheet(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "clientes.csv")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A file of three lines, of which one is wrong, is imported into a company with a plan.
func TestCustomersAreImportedFromAFile(t *testing.T) {
	_, b := newCompany(t)
	b.visit("/customers")
	b.press("Importar")
	b.see("Sua planilha como ela é")
	file := sheet(t, "Assinante;Celular;Vence em;Plano;Valor\nAna;11987650001;31/12/2027;Mensal;35,00\nBia;123;31/12/2027;Mensal;35,00\nCaio;11987650003;31/12/2027;Rádio;99,90\n")
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#f-file"), []string{file}))
	b.press("Enviar")
	b.see("Qual coluna é qual", "Assinante", "11987650001")
	b.picture(t, rules(t), "import-columns")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#c-0").value = "name"; 0`))
	b.hit(chromedp.Click(chromedp.CSS("#f-create_missing")))
	b.hit(chromedp.Click(chromedp.CSS("#f-keep_going")))
	b.hit(chromedp.Click(chromedp.CSS("#f-leave_out"))) // ticked unless one says otherwise
	b.press("Verificar o arquivo")
	b.do(chromedp.WaitReady(chromedp.CSS("#f-create_missing[checked]")))
	b.stood = ""
	b.see("Linhas certas: 2. Com algum problema: 1.", "deve ter 10 ou 11 dígitos com o DDD")
	b.picture(t, rules(t), "import-checked")
	b.press("Importar 2 clientes")
	b.see("Clientes importados: 2.")
	b.picture(t, rules(t), "import-done")
	b.press("Ver os clientes")
	b.see("Ana", "Caio", "Rádio")
}
