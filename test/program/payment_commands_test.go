package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
)

func TestGatewayIsSetShownAndClearedWithoutTellingSecrets(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		if result := in.try(nil, "gateway", "show", "--company", company); result.code != 1 || !strings.Contains(result.stderr, "no payment gateway is set up") {
			t.Errorf("show without one: %d %s", result.code, result.stderr)
		}
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte("APP_USR-123456789-secret-of-the-company\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		in.secret("APP_USR-123456789-secret-of-the-company")
		printed := in.run("gateway", "set", "--company", company, "--provider", "mercadopago", "--option", "access_token=@"+token)
		for _, shown := range []string{printed, in.run("gateway", "show", "--company", company)} {
			var u struct {
				Provider    string
				Options     map[string]string
				CallbackURL string `json:"callback_url"`
			}
			if err := json.Unmarshal([]byte(shown), &u); err != nil || u.Provider != "mercadopago" || u.Options["access_token"] != "…pany" ||
				!strings.Contains(u.CallbackURL, "/gateways/mercadopago/") || strings.Contains(shown, "123456789") {
				t.Errorf("%v: %s", err, shown)
			}
		}
		for args, want := range map[string]string{
			"--provider paypal":                                                        "--provider must be one of: pixkey",
			"--provider mercadopago --option acess_token=x":                            "did you mean access_token",
			"--provider mercadopago --option access_token=@/nonexistent/file":          "no such file",
			"--provider pixkey --option key=nobody":                                    "--option key ",
			"--provider pixkey --option key=ana@example.com --option name=Ana Inter":   "unknown command",
			"--provider sandbox --option flow=sideways":                                "--option flow must be one of: pix, redirect",
			"--provider sandbox --option flow":                                         "want NAME=VALUE",
			"--provider asaas --option api_key=$aact_prod_x --option environment=moon": "--option environment must be one of",
		} {
			result := in.try(nil, append([]string{"gateway", "set", "--company", company}, strings.Fields(args)...)...)
			if result.code == 0 || !strings.Contains(result.stderr, want) {
				t.Errorf("gateway set %s: %d %q, want %q", args, result.code, result.stderr, want)
			}
		}
		if list := in.run("gateway", "providers"); !strings.Contains(list, "woovi") || !strings.Contains(list, "access_token [webhook_secret]") {
			t.Errorf("providers:\n%s", list)
		}
		in.run("gateway", "clear", "--company", company)
		if result := in.try(nil, "gateway", "check", "--company", company); result.code != 1 {
			t.Errorf("check without one: %d", result.code)
		}
	})
}

func TestGatewayOfABankIsSetWithItsFiles(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		broken := filepath.Join(t.TempDir(), "broken.p12")
		if err := os.WriteFile(broken, []byte("\x30\x82\x01\x00 cut off "), 0o600); err != nil {
			t.Fatal(err)
		}
		set := []string{
			"gateway", "set", "--company", company, "--provider", "bacen", "--option", "client_id=Client_Id_1", "--option", "client_secret=Client_Secret_1",
			"--option", "key=ana@example.com", "--option", "certificate=@" + broken,
		}
		for args, want := range map[string]string{
			"bank=moon":    "--option bank must be one of: efi, bb",
			"bank=sicredi": "--option certificate must be PEM text, or a .p12 file in base64",
			"bank=other":   "--option base_url is required for another bank",
			"bank=other --option base_url=https://api.banco.example --option token_url=https://api.banco.example/token": "CARTEIRA_PIX_BANK_HOSTS",
		} {
			result := in.try(nil, append(append(set, "--option"), strings.Fields(args)...)...)
			if result.code != 1 || !strings.Contains(result.stderr, want) || strings.Contains(result.stderr, "Client_Secret_1") {
				t.Errorf("%s: %d %q, want %q", args, result.code, result.stderr, want)
			}
		}
		in.run("gateway", "set", "--company", company, "--provider", "sandbox")
		result := in.try(nil, "gateway", "check", "--company", company, "--replace-webhook", "https://erp.example.com/pix")
		if result.code != 1 || !strings.Contains(result.stderr, "no webhook that could be replaced") {
			t.Errorf("check: %d %q", result.code, result.stderr)
		}
		if printed := in.run("gateway", "check", "--company", company); !strings.Contains(printed, `"works":true`) {
			t.Errorf("check: %s", printed)
		}
	})
}

func TestOwnKeyIsConfirmedByHand(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		in.run("gateway", "set", "--company", company, "--provider", "pixkey", "--option", "key=ana@example.com",
			"--option", "name=Ana Internet", "--option", "city=São Paulo")
		in.run("gateway", "check", "--company", company)
		server := in.serve()
		client := server.client(in.token(company))
		customer := client.want(200, "POST", "/customers", map[string]any{"name": "Ana Lima"}).customer(t)
		invoice := in.create("id", "invoice", "create", "--customer", jsonNumber(customer.ID), "--amount", "50.00")
		answer := client.want(200, "POST", "/invoices/"+invoice+"/pix", nil)
		if text := string(answer.body); !strings.Contains(text, "0115ana@example.com") || !strings.Contains(text, "540550.00") || !strings.Contains(text, "SAO PAULO") && !strings.Contains(text, "Sao Paulo") {
			t.Errorf("the code is not of the key: %s", text)
		}
		if result := in.try(nil, "payment", "confirm", "--company", company, "--invoice", invoice, "--amount", "49.00"); result.code != 1 || !strings.Contains(result.stderr, "--difference is required: 49.00 is less than the 50.00 to pay") {
			t.Errorf("%d %s", result.code, result.stderr)
		}
		in.run("payment", "confirm", "--company", company, "--invoice", invoice, "--amount", "50.00", "--payment-id", "E1")
		paid := client.want(200, "GET", "/invoices/"+invoice, nil)
		if !strings.Contains(string(paid.body), `"status":"Pago"`) || !strings.Contains(string(paid.body), `"paid_via":"pixkey"`) {
			t.Errorf("%s", paid.body)
		}
		// What a person confirmed, a person undoes, and confirms again.
		open := client.want(200, "POST", "/invoices/"+invoice+"/status", map[string]any{"status": "Em aberto"})
		if !strings.Contains(string(open.body), `"amount_received":"0.00"`) {
			t.Errorf("%s", open.body)
		}
		in.run("payment", "confirm", "--company", company, "--invoice", invoice, "--amount", "50.00", "--payment-id", "E1")
	})
}

func jsonNumber(id int64) string {
	text, _ := json.Marshal(id)
	return string(text)
}

func TestReviewsAreListedAndResolved(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		till := newBank(t).till(t, engine)
		server := till.serveMortal()
		server.client(till.token).want(200, "POST", "/invoices/"+till.invoice+"/pix", nil)
		till.bank.mu.Lock()
		till.bank.payments[0]["transaction_amount"] = json.Number("34.00")
		till.bank.mu.Unlock()
		till.bank.pay()
		if err := till.bank.callBack("http://" + server.address + till.callback); err != nil {
			t.Fatal(err)
		}
		db := till.open()
		eventually(t, "the payment is put aside", func() bool { return count(t, db, `SELECT count(*) FROM payment_reviews`) == 1 })
		var list []struct {
			ID         int64
			Reason     string
			Amount     string
			Resolution string
		}
		if err := json.Unmarshal([]byte(till.run("payment", "reviews", "--company", "1", "--json")), &list); err != nil || len(list) != 1 ||
			list[0].Reason != "wrong_amount" || list[0].Amount != "34.00" || list[0].Resolution != "open" {
			t.Fatalf("%v: %+v", err, list)
		}
		till.run("payment", "resolve", "--company", "1", "--id", jsonNumber(list[0].ID), "--resolution", "applied", "--difference", "discount", "--note", "combinado")
		if n := count(t, db, `SELECT count(*) FROM invoices WHERE status = 'paid'`); n != 1 {
			t.Errorf("%d paid", n)
		}
		if table := till.run("payment", "reviews", "--company", "1"); !strings.Contains(table, "applied") {
			t.Errorf("%s", table)
		}
		server.stop()
	})
}
