package panel

import (
	"carteira/internal/payment"
	"carteira/internal/web/page"
)

// reviewText says why a payment needs a person, and what one does about it.
type reviewText struct{ short, why, advice string }

var reviewTexts = map[payment.Reason]reviewText{
	payment.ReasonLate: {
		"Came too late", "The money came after the code had expired or been cancelled.",
		"If the customer still owes it, apply it. If not, give it back through your gateway and dismiss it.",
	},
	payment.ReasonDouble: {
		"Paid twice", "The invoice had been paid already when this money came.",
		"Give it back through your gateway and dismiss it, or keep it as a credit that you agreed on with the customer.",
	},
	payment.ReasonWrongAmount: {
		"Wrong amount", "What came is not what the invoice says.",
		"Apply it if you accept this amount for the invoice. If not, give it back and dismiss it.",
	},
	payment.ReasonWrongCurrency: {
		"Not in reais", "The gateway says that the money is not in reais.",
		"Look at it in your account at the gateway before you decide.",
	},
	payment.ReasonWrongReference: {
		"Of another charge",
		"The gateway says that this money is for something else than the charge of this invoice.",
		"Look at it in your account at the gateway: it may not be this customer's.",
	},
	payment.ReasonCancelledInvoice: {
		"Invoice cancelled", "The invoice had been cancelled: nobody owed this any more.",
		"Give it back and dismiss it, or open the invoice again first and then apply it.",
	},
	payment.ReasonDeletedInvoice: {
		"Invoice deleted", "The invoice was deleted together with its customer.",
		"There is nothing to apply it to: give it back and dismiss it.",
	},
	payment.ReasonRefunded: {
		"Given back", "The money was given back at the gateway, wholly or in part, or is disputed.",
		"If the invoice was paid by it, decide with the customer what is owed now. Then dismiss it.",
	},
}

var resolutionTexts = map[payment.Resolution]string{
	"": "To be decided", payment.Applied: "Applied to the invoice", payment.Dismissed: "Dismissed",
	payment.Credited: "Kept as credit",
}

type stateText struct{ text, tone string }

// attemptTexts are the states of charges.
var attemptTexts = map[string]stateText{
	"reserved": {"Being made", "warn"}, "pending": {"Can be paid", "note"},
	"cancelling": {"Being cancelled", "warn"},
	"paid":       {"Paid by the customer", "good"}, "cancelled": {"Charge cancelled", ""},
	"expired": {"Charge expired", ""}, "refused": {"Refused by the gateway", "bad"},
}

// providerText explains a gateway to a company that chooses one.
type providerText struct {
	About    string
	Needs    []string
	Callback string // what is to be done with the callback address; empty: it has none
	Confirms string // how a payment becomes known
}

const (
	byItself   = "Payments are recorded by themselves, usually within seconds."
	registered = "It is told to the provider by itself when the gateway is checked. You need not enter it anywhere."
)

var providerTexts = map[string]providerText{
	"pixkey": {
		About:    "Your own PIX key. No account anywhere and no fee: the money goes straight to your bank.",
		Confirms: "You see the money in your bank and confirm each payment here.",
		Needs:    []string{"A PIX key of your company", "Your name and city, as your bank has them"},
	},
	"mercadopago": {
		About:    "PIX through Mercado Pago.",
		Confirms: byItself,
		Needs: []string{
			"An account at Mercado Pago with a PIX key",
			"An application under Suas integrações, for its access token",
			"The secret signature of that application's webhooks",
		},
		Callback: "Enter it under Webhooks of your application, event Payments, or event Order with the Orders API, to get " +
			"the secret signature. With the Payments API every charge tells it to Mercado Pago, too.",
	},
	"mercadopago_checkout": {
		About: "The payment page of Mercado Pago: PIX, and cards and boleto if you want. The payer goes there " +
			"and comes back.",
		Confirms: byItself,
		Needs: []string{
			"An account at Mercado Pago",
			"An application under Suas integrações, for its access token",
			"The secret signature of that application's webhooks",
		},
		Callback: "Enter it under Webhooks of your application, event Order, to hear of payments and to get the secret signature.",
	},
	"asaas": {
		About: "PIX through Asaas.", Confirms: byItself, Callback: registered,
		Needs: []string{
			"An account at Asaas that was approved", "An API key",
			"A CPF or CNPJ to use for customers who have none: Asaas wants one of every payer",
		},
	},
	"asaas_checkout": {
		About:    "The payment page of Asaas: PIX, boleto and card on one page. The payer goes there.",
		Confirms: byItself,
		Callback: registered,
		Needs: []string{
			"An account at Asaas that was approved", "An API key",
			"A CPF or CNPJ to use for customers who have none: Asaas wants one of every payer",
		},
	},
	"efi": {
		About:    "PIX through Efí, by the central bank's own interface.",
		Confirms: byItself,
		Callback: registered,
		Needs: []string{
			"An account at Efí with a PIX key", "An application with the scopes for PIX",
			"The application's certificate, as text (PEM) or as a .p12 file",
		},
	},
	"bacen": {
		About: "PIX through your own bank, by the central bank's own interface: Banco do Brasil, Bradesco, Efí, Inter, " +
			"Itaú, Santander, Sicoob, Sicredi and others.",
		Confirms: byItself,
		Callback: registered,
		Needs: []string{
			"An account with a PIX key at a bank that has the PIX API in your contract",
			"An application at the bank's portal, with the scopes for PIX",
			"The application's certificate, as text (PEM) or as a .p12 file",
		},
	},
	"woovi": {
		About: "PIX through Woovi (OpenPix).", Confirms: byItself, Callback: registered,
		Needs: []string{"An account at Woovi", "An AppID of an API application"},
	},
	"sandbox": {
		About:    "For trying things out: everything works as with a real gateway, but no money moves.",
		Confirms: "A button on the payment page does what a bank would.",
		Needs:    []string{"Nothing"},
	},
}

// optionWords are the English texts of what gateways call their options and of
// the choices that these have.
var optionWords = map[string]string{
	"Asaas (página de pagamento)": "Asaas (payment page)", "Chave PIX própria": "Own PIX key",
	"Simulador (sem dinheiro)": "Simulator (no money)", "Chave PIX": "PIX key", "Tipo da chave": "Kind of key",
	"Nome de quem recebe": "Name of who receives", "Cidade": "City", "Assinatura secreta": "Secret signature",
	"E-mail de quem paga": "E-mail of payers", "Meios de pagamento": "Means of payment", "Fluxo": "Flow",
	"Chave de API": "API key", "Token do webhook": "Webhook token", "E-mail para avisos": "E-mail for warnings",
	"CPF ou CNPJ padrão": "CPF or CNPJ to fall back on", "Certificado (PEM ou .p12)": "Certificate (PEM or .p12)",
	"Chave privada (PEM)": "Private key (PEM)", "Senha do certificado": "Password of the certificate",
	"API Pix do seu banco": "PIX API of your bank", "Banco": "Bank", "Escopos": "Scopes",
	"Multa, juros e desconto": "Late fee, interest and discount", "Chave do aplicativo": "Key of the application",
	"Conta corrente": "Account", "Endereço da API": "Address of the API", "Endereço do token": "Address of the token",
	"Versões por recurso": "Versions by resource", "Credenciais no token": "Credentials in the token call",
	"Autoridades do banco (PEM)": "Authorities of the bank (PEM)", "Agência que recebe": "Branch that receives",
	"Conta que recebe": "Account that receives", "Tipo da conta que recebe": "Kind of account that receives",
	"Ambiente": "Environment", "Autorização do webhook": "Webhook authorization",

	"production": "Production: real money", "sandbox": "The provider's sandbox: for trials", "pix": "PIX",
	"all": "PIX, cards and boleto", "redirect": "A page of the gateway", "cpf": "CPF", "cnpj": "CNPJ", "phone": "Phone",
	"email": "E-mail", "random": "Random key", "efi": "Efí", "bb": "Banco do Brasil", "bradesco": "Bradesco",
	"inter": "Inter", "itau": "Itaú", "santander": "Santander", "sicoob": "Sicoob", "sicredi": "Sicredi",
	"other": "Another bank", "banrisul": "Banrisul", "c6": "C6 Bank", "pagbank": "PagBank", "basic": "HTTP Basic",
	"form": "Form", "no": "No", "yes": "Yes", "corrente": "Current account", "poupanca": "Savings account",
	"pagamento": "Payment account", "payments": "Payments API", "orders": "Orders API", "starttls": "STARTTLS (usual)",
	"tls": "TLS from the beginning", "none": "Not encrypted", "daily": "A code for each day",
	"bank": "One code: the bank computes",
}

// optionWord is such a text in the reader's language; a proper name stays.
func optionWord(lang page.Lang, text string) string {
	if english, ok := optionWords[text]; ok {
		return lang.T(english)
	}
	return text
}
