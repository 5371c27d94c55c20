package smtp

import (
	"cmp"

	"carteira/internal/reminder"
)

// service is a mail service as it publishes itself; docs/reminders.md says what
// was looked up, and when. The port follows from how the connection is encrypted.
type service struct {
	name, title string
	host        string
	security    string
	port        string // empty: the usual one
	user        string // empty: each has an own
	hint        string
}

const wholeAddress = "The user is the whole e-mail address, and the password is the mailbox's."

var services = []service{
	{
		name: "gmail", title: "Gmail, Google Workspace", host: "smtp.gmail.com", security: startTLS,
		hint: "Google takes no ordinary password here: turn on 2-step verification and make an app password for the user's account.",
	},
	{
		name: "microsoft365", title: "Outlook, Microsoft 365", host: "smtp.office365.com", security: startTLS,
		hint: "The administrator has to allow authenticated SMTP for this mailbox. Microsoft turns passwords off by default from " +
			"the end of December 2026, and addresses of outlook.com and hotmail.com take none: choose a mailing service then.",
	},
	{name: "locaweb", title: "Locaweb", host: "email-ssl.com.br", security: implicit, hint: wholeAddress},
	{name: "hostinger", title: "Hostinger", host: "smtp.hostinger.com", security: implicit, hint: wholeAddress},
	{
		name: "titan", title: "Titan (HostGator and others)", host: "smtp.titan.email", security: implicit,
		hint: "The user is the whole e-mail address. In Titan, allow third-party apps first.",
	},
	{name: "uol", title: "UOL", host: "smtps.uol.com.br", security: startTLS, hint: wholeAddress},
	{
		name: "zoho", title: "Zoho Mail", host: "smtppro.zoho.com", security: implicit,
		hint: "With 2-step verification, make an app password. For an address of zoho.com the server is smtp.zoho.com.",
	},
	{
		name: "ses", title: "Amazon SES", host: "email-smtp.sa-east-1.amazonaws.com", security: startTLS,
		hint: "Make SMTP credentials in the console of SES: access keys do not work. In another region the server's name has that region.",
	},
	{
		name: "mailgun", title: "Mailgun", host: "smtp.mailgun.org", security: startTLS,
		hint: "The user and password are those of the domain's SMTP credentials. In the EU the server is smtp.eu.mailgun.org.",
	},
	{
		name: "sendgrid", title: "SendGrid", host: "smtp.sendgrid.net", security: startTLS, user: "apikey",
		hint: "The user is the word apikey, and the password is an API key that may send mail.",
	},
	{
		name: "brevo", title: "Brevo", host: "smtp-relay.brevo.com", security: startTLS,
		hint: "The user is the SMTP login of the account, and the password is an SMTP key, not the account's password.",
	},
	{
		name: "resend", title: "Resend (resend.com)", host: "smtp.resend.com", security: implicit, user: "resend",
		hint: "The user is the word resend, and the password is an API key.",
	},
	{
		name: "relay", title: "Own relay, without a password", security: none, port: "25",
		hint: "For a server in your own network that takes mail without signing in: leave user and password empty. " +
			"The operator has to allow its network.",
	},
}

// presets are the services as forms offer them.
func presets() []reminder.Preset {
	list := make([]reminder.Preset, len(services))
	for n, service := range services {
		port := "587"
		if service.security == implicit {
			port = "465"
		}
		list[n] = reminder.Preset{
			Name:  service.name,
			Title: service.title,
			Hint:  service.hint,
			Options: map[string]string{
				"host": service.host, "port": cmp.Or(service.port, port), "security": service.security,
				"username": service.user,
			},
		}
	}
	return list
}
