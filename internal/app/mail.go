package app

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"

	"carteira/internal/account"
	"carteira/internal/platform/config"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/internal/reminder/smtp"
)

// everywhere is what the operator's own mail server may be reached in: unlike
// those of companies, it is the operator who names it.
var everywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// mailer hands mails to users to the operator's mail server; nil without one.
func mailer(cfg config.Config, db *sqldb.DB) account.Mailer {
	if cfg.Mail == nil {
		return nil
	}
	security, port := "starttls", "587"
	if cfg.Mail.Scheme == "smtps" {
		security, port = "tls", "465"
	}
	password, _ := cfg.Mail.User.Password()
	sender, err := smtp.Kind.Open(map[string]string{
		"host": cfg.Mail.Hostname(), "port": cmp.Or(cfg.Mail.Port(), port), "security": security,
		"from": cfg.MailFrom, "from_name": "Carteira",
		"username": cfg.Mail.User.Username(), "password": password,
	}, reminder.Env{Gate: outbound.NewGate(everywhere, nil).Near()})
	return func(ctx context.Context, mail account.Mail) error {
		if err != nil {
			return fmt.Errorf("CARTEIRA_MAIL_URL: %w", err)
		}
		_, err := sender.Send(ctx, reminder.Letter{
			ID:      mail.ID,
			To:      mail.To,
			Subject: mail.Subject,
			Text:    mail.Text,
			At:      db.Now(),
		})
		if err != nil {
			return fmt.Errorf("mail server: %w", err)
		}
		return nil
	}
}

// tellGateway writes to the owners of a company that its money goes elsewhere.
func tellGateway(accounts *account.Service) func(context.Context, *sqldb.Tx, account.Actor, string) error {
	return func(ctx context.Context, tx *sqldb.Tx, actor account.Actor, what string) error {
		who := cmp.Or(actor.Name, actor.By())
		return accounts.TellOwnersTx(ctx, tx, actor, "Carteira: o destino do dinheiro foi alterado", "Olá.\n\n"+
			who+" alterou o gateway ou a chave PIX de "+actor.Company.Name+": "+what+".\n\n"+
			"Se nenhum de vocês fez isso, troquem as senhas e configurem o gateway de novo.\n")
	}
}
