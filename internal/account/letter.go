package account

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// restoreLife is how long a former address can be had back from its mailbox.
const restoreLife = 3 * 24 * time.Hour

// How many letters of one kind a user gets in a day, and how many a company has
// written to addresses that were never confirmed: those may be of strangers.
const (
	noticesOfUser        = 5
	noticesToUnconfirmed = 10
)

// Notice is a letter about what happened to an account, in Portuguese with the same
// in English below. Who reads it may not be the user: it holds nothing that a user
// can write.
type Notice struct {
	Kind    string // what it is counted under
	Subject string
	Text    string
	English string
}

// noticeTx writes to a user, in the transaction of what happened. One letter too many
// is not written, and what happened goes on: the audit log has it.
func (s *Service) noticeTx(ctx context.Context, tx *sqldb.Tx, to storedUser, notice Notice) error {
	if !s.SendsMail() {
		return nil
	}
	quotas := []quota{{"letter " + notice.Kind + ":" + strconv.FormatInt(to.ID, 10), noticesOfUser, dayWindow}}
	if to.confirmedAt == 0 {
		key := "letters unconfirmed:" + strconv.FormatInt(to.CompanyID, 10)
		quotas = append(quotas, quota{key, noticesToUnconfirmed, dayWindow})
	}
	err := countAttemptTx(ctx, tx, quotas)
	if fault.KindOf(err) == fault.KindRateLimited {
		return nil
	}
	if err != nil {
		return err
	}
	return s.mailTx(ctx, tx, to.CompanyID, Mail{
		To:      to.Email,
		Subject: "Carteira: " + notice.Subject,
		Text:    "Olá.\n\n" + notice.Text + "\n\n--\n" + notice.English + "\n",
	})
}

// TellOwnersTx writes to all owners of the actor's company who have signed in once,
// in the transaction of what they should know.
func (s *Service) TellOwnersTx(ctx context.Context, tx Tx, notice Notice) error {
	return s.tellOwners(ctx, tx, 0, notice)
}

// tellOwners leaves a user out who became one just now.
func (s *Service) tellOwners(ctx context.Context, tx Tx, but int64, notice Notice) error {
	if !s.SendsMail() || tx.Actor.Program != "" {
		return nil
	}
	owners, err := sqldb.All(ctx, tx, scanStored, `
		SELECT `+storedColumns+` FROM users u WHERE u.company_id = ? AND u.role = 'owner' ORDER BY u.id`, tx.Company.ID)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if owner.ID == but || owner.passwordHash == "" && owner.confirmedAt == 0 {
			continue
		}
		if err := s.noticeTx(ctx, tx.Tx, owner, notice); err != nil {
			return err
		}
	}
	return nil
}

// tellOfUser writes to those who should know of a change of a user.
func (s *Service) tellOfUser(ctx context.Context, tx Tx, change *userChange) error {
	if tx.Actor.Program != "" || !s.SendsMail() {
		return nil
	}
	switch before, after := change.before, change.after; {
	case change.action == EmailChanged:
		return s.tellFormerAddress(ctx, tx.Tx, before)
	case change.action == EmailRestored:
		return s.noticeTx(ctx, tx.Tx, before, s.replacedNotice())
	case before.passwordHash != "" && before.passwordHash != after.passwordHash: // not the first one
		return s.noticeTx(ctx, tx.Tx, after, s.accountNotice("password", "a senha foi trocada",
			"A senha da sua conta foi trocada.", "The password of your account was changed."))
	case before.totp == "" && after.totp != "":
		return s.noticeTx(ctx, tx.Tx, after, s.accountNotice("factor", "a verificação em duas etapas foi ativada",
			"A verificação em duas etapas da sua conta foi ativada, com novos códigos de recuperação.",
			"The second factor of your account was switched on, with new recovery codes."))
	case before.totp != "" && after.totp == "":
		return s.noticeTx(ctx, tx.Tx, after, s.accountNotice("factor", "a verificação em duas etapas foi desativada",
			"A verificação em duas etapas da sua conta foi desativada.", "The second factor of your account was switched off."))
	case before.Role != RoleOwner && after.Role == RoleOwner:
		return s.tellOwners(ctx, tx, after.ID, s.ownerNotice())
	}
	return nil
}

func (s *Service) ownerNotice() Notice {
	return Notice{
		Kind:    "owner",
		Subject: "há um novo dono da conta",
		Text: "Mais uma pessoa é dona da conta da sua empresa. Veja quem:\n\n" + s.publicURL + "/settings/users\n\n" +
			"Se nenhum dos donos fez isso, troque a sua senha e remova essa pessoa.",
		English: "Another person owns your company's account. See who at the address above; if no owner did that, " +
			"change your password and remove the person.",
	}
}

// accountNotice is a notice about what lets a user in, with the way to a new password.
func (s *Service) accountNotice(kind, subject, words, english string) Notice {
	return Notice{
		Kind:    kind,
		Subject: subject,
		Text: words + "\n\nSe não foi você, crie outra senha agora; isso encerra todas as sessões:\n\n" + s.publicURL + "/forgot\n\n" +
			"Peça também a outro dono da conta, ou a quem opera o sistema, que veja o registro de auditoria.",
		English: english + " If it was not you, set another password now at the address above; that ends all sessions.",
	}
}

// replacedNotice is for the address that gave way to the one before.
func (s *Service) replacedNotice() Notice {
	return Notice{
		Kind:    "restored",
		Subject: "o e-mail da conta voltou ao anterior",
		Text: "O e-mail da conta voltou a ser o anterior, por um link que foi enviado para lá. Este já não entra na conta.\n\n" +
			"Se isso está errado, fale com outro dono da conta ou com quem opera o sistema.",
		English: "The account has its former e-mail address again, by a link that was sent there. This one does not sign in any more.",
	}
}

// tellFormerAddress writes to an address that signed in until now. Where it was
// confirmed it can be had back from there; an address that never was may be of a
// stranger, to hand the account to.
func (s *Service) tellFormerAddress(ctx context.Context, tx *sqldb.Tx, former storedUser) error {
	notice := Notice{
		Kind:    "address",
		Subject: "o e-mail da conta foi trocado",
		Text:    former.Email + " não entra mais na conta: o e-mail dela foi trocado.\n\n",
		English: former.Email + " does not sign in any more: the account has another e-mail address. ",
	}
	if former.confirmedAt == 0 {
		notice.Text += "Se não foi você, fale com outro dono da conta ou com quem opera o sistema."
		notice.English += "If it was not you, talk to another owner of the account or to who runs this system."
		return s.noticeTx(ctx, tx, former, notice)
	}
	link, hash := newLink()
	notice.Text += "Se não foi você, abra este link dentro de três dias: o e-mail volta a ser este, todas as sessões são " +
		"encerradas e você cria outra senha.\n\n" + s.publicURL + "/email/" + link
	notice.English += "If it was not you, open the address above within three days: this e-mail address comes back, all sessions " +
		"end, and you set another password."
	err := insertPasswordLink(ctx, tx, former.User, newPasswordLink{hash, forRestore, restoreLife, former.Email})
	if err != nil {
		return err
	}
	return s.noticeTx(ctx, tx, former, notice)
}

// comeback is what an account gets when its former address comes back: a password
// that is not known to anyone, and the link by which to set another.
type comeback struct {
	passwordHash string
	link         string
	linkHash     []byte
}

func (s *Service) newReturn(ctx context.Context, used AddressLink) (back comeback, err error) {
	if used.Restores == "" {
		return back, nil
	}
	unknown, _ := newLink()
	back.link, back.linkHash = newLink()
	back.passwordHash, err = HashPassword(ctx, unknown)
	return back, err
}

// restoreAddress gives a user the former address back. Who changed it may know the
// password and read the mailbox of the other one: neither lets in any more.
func (s *Service) restoreAddress(ctx context.Context, tx *sqldb.Tx, link AddressLink, back comeback, from Visitor) error {
	before, err := lockUser(ctx, tx, link.User.CompanyID, link.User.ID)
	if err != nil {
		return err
	}
	if err := refuseTaken(ctx, tx, before.ID, link.Restores); err != nil {
		return err
	}
	change := userChange{EmailRestored, before, before}
	change.after.Email, change.after.confirmedAt = link.Restores, tx.Now().UnixMicro()
	change.after.passwordHash = back.passwordHash
	if err := s.applyUser(ctx, actorOf(before.User, from).In(tx), &change); err != nil {
		return err
	}
	if err := deleteEveryLink(ctx, tx, before.User); err != nil {
		return err
	}
	if err := dropOldDevices(ctx, tx, before.User, 0); err != nil {
		return err
	}
	if err := endSessions(ctx, tx, before.CompanyID, before.ID, 0); err != nil {
		return err
	}
	return insertPasswordLink(ctx, tx, before.User, newPasswordLink{hash: back.linkHash, purpose: forReset, life: resetLife})
}

// tellOfDevice writes to a user who signed in with a browser that is not known.
func (s *Service) tellOfDevice(ctx context.Context, tx *sqldb.Tx, user User, from Visitor) error {
	if !s.SendsMail() {
		return nil
	}
	to, err := userByID(ctx, tx, user.CompanyID, user.ID)
	if err != nil {
		return err
	}
	where, of := "", ""
	if address, err := netip.ParseAddr(from.Address); err == nil {
		where, of = ", a partir do endereço "+address.String(), ", from the address "+address.String()
	}
	return s.noticeTx(ctx, tx, to, s.accountNotice("device", "entrada em um novo navegador",
		"Alguém entrou na sua conta com um navegador que ainda não era conhecido"+where+".",
		"Your account was entered with a browser that was not known yet"+of+"."))
}

// tellOfRecovery writes to a user after a recovery code passed the second factor.
func (s *Service) tellOfRecovery(ctx context.Context, tx *sqldb.Tx, user storedUser) error {
	if !s.SendsMail() {
		return nil
	}
	left, err := countRecovery(ctx, tx, user.CompanyID, user.ID)
	if err != nil {
		return err
	}
	return s.noticeTx(ctx, tx, user, s.accountNotice("recovery", "um código de recuperação foi usado",
		fmt.Sprintf("Um código de recuperação da sua conta foi usado. Restam %d.", left),
		fmt.Sprintf("A recovery code of your account was used. %d are left.", left)))
}
