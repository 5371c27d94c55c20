package browser

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	endian "encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// An owner sets a new company up; each part takes few clicks.
func TestSettingUpTakesFewClicks(t *testing.T) {
	_, b := newCompany(t)
	b.begin()
	b.menu("/products")
	b.press("Novo produto")
	b.fill("name", "Fibra")
	b.press("Salvar")
	b.see("Fibra: cadastro criado.")
	b.menu("/plans")
	b.press("Novo plano")
	b.fill("name", "Fibra 300")
	b.fill("value", "99,90")
	b.press("Salvar")
	b.see("Fibra 300: cadastro criado.")
	b.within("product and plan", 6)

	b.menu("/payments")
	b.press("Formas de receber")
	b.see("Escolha como os clientes pagam")
	b.click(`a[href="/payments/gateways/pixkey"]`)
	b.fill("key", "ana@example.com")
	b.fill("name", "Rede Clara")
	b.fill("city", "Recife")
	b.press("Usar este gateway")
	b.see("Chave PIX própria está em uso.")
	b.within("own PIX key", 4)

	b.turnOnReminders()

	b.menu("/settings")
	b.press("Usuários")
	b.press("Novo usuário")
	b.fill("name", "Rui")
	b.fill("email", "rui@example.com")
	b.press("Salvar")
	b.see("/password/")
	b.click(`[data-copy="#link"]`)
	b.within("an employee with a link to copy", 5)

	b.menu("/api")
	b.fill("name", "Site")
	b.press("Criar token")
	b.see("Copie agora")
	b.click(`[data-copy="#token"]`)
	b.within("token", 3)

	b.menu("/webhooks")
	b.press("Novo webhook")
	b.fill("url", "https://127.0.0.1:9/carteira")
	b.press("Salvar")
	b.see("O webhook está pronto")
	b.press("Enviar um teste")
	b.see("O teste não foi aceito")
	b.within("webhook and its test", 4)
}

// turnOnReminders makes a channel that sends nothing, and the usual rules.
func (b *tab) turnOnReminders() {
	b.t.Helper()
	b.begin()
	b.menu("/messages")
	b.click(`main a[href="/messages/channels/new"]`)
	b.click(`main a[href="/messages/channels/new?kind=log"]`)
	b.do(chromedp.WaitVisible(chromedp.CSS("#f-name")))
	b.press("Salvar")
	b.see("foi salvo")
	b.menu("/messages")
	b.click("#usual")
	b.see("Regras ligadas: 6.")
	b.within("a channel and the usual reminders", 6)
}

// oneTime is the code that an authenticator app shows for a secret.
func oneTime(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ReplaceAll(secret, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha1.New, key)
	mac.Write(endian.BigEndian.AppendUint64(nil, uint64(at.Unix()/30)))
	sum := mac.Sum(nil)
	number := endian.BigEndian.Uint32(sum[sum[len(sum)-1]&15:]) & 0x7fffffff
	return fmt.Sprintf("%06d", number%1_000_000)
}

// The second factor is set up, asked for at the next sign-in, and a recovery code
// does in place of the phone.
func TestSecondFactorIsSetUpAndAskedFor(t *testing.T) {
	p, b := newCompany(t)
	b.begin()
	b.menu("/profile")
	b.press("Configurar")
	b.fill("code", "000000")
	b.press("Ligar")
	b.see("código incorreto")
	b.picture(t, rules(t), "second-factor-wrong")
	b.fill("code", oneTime(t, b.text("#key"), time.Now()))
	b.press("Ligar")
	b.see("Códigos de recuperação")
	b.picture(t, rules(t), "recovery-codes")
	code := strings.Fields(b.text("#codes"))[0]
	b.press("Já guardei")
	b.see("Resta")
	b.within("second factor, with a wrong code on the way", 5)
	b.picture(t, rules(t), "profile-factor")

	other := p.open(t)
	other.signIn(email, password)
	other.see("Digite o código")
	other.picture(t, rules(t), "second-factor-asked")
	other.fill("code", "nonsense")
	other.press("Confirmar")
	other.see("código incorreto")
	other.picture(t, rules(t), "second-factor-refused")
	other.fill("code", code)
	other.press("Confirmar")
	other.see("Rede Clara")
}
