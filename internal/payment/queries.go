package payment

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// failingAt is how many failures in a row are worth a notice; one may be chance.
const failingAt = 3

// Failing reports whether a person should look at the gateway: it refuses, or it
// has failed several times in a row.
func (u Setup) Failing() bool {
	return u.Problem != "" && (u.Failures == 0 || u.Failures >= failingAt)
}

// SetupOf returns the company's configuration of a provider, also of one that is
// not in use: of secrets, how they end. A provider that the company never chose
// has no ID.
func (s *Service) SetupOf(ctx context.Context, actor account.Actor, provider string) (Setup, error) {
	p, known := s.providers[provider]
	if !known || !s.offers(provider) {
		return Setup{}, fault.NotFound("gateway")
	}
	setup, err := setupNamed(ctx, s.db, actor.Company.ID, provider)
	if errors.Is(err, sqldb.ErrNotFound) {
		return Setup{CompanyID: actor.Company.ID, Provider: p, Options: map[string]string{}, name: provider}, nil
	}
	if err != nil {
		return Setup{}, err
	}
	setup.Provider = p
	return s.describe(setup)
}

// Live is the charges at a gateway that can still be paid.
type Live struct {
	Charges int64
	Amount  money.Cents
}

// Live counts the charges of the company's gateway that can still be paid; it
// is zero without one.
func (s *Service) Live(ctx context.Context, actor account.Actor) (Live, error) {
	setup, err := activeSetup(ctx, s.db, actor.Company.ID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return Live{}, nil
	}
	if err != nil {
		return Live{}, err
	}
	return liveCharges(ctx, s.db, setup, s.db.Now())
}

// Attempt is one charge of an invoice, for its history.
type Attempt struct {
	ID        int64
	Provider  string
	Manual    bool // a person confirms its payment
	Amount    money.Cents
	State     string // reserved, pending, cancelling, paid, cancelled, expired or refused
	Problem   string // what the last call about it failed with
	CreatedAt time.Time
	ExpiresAt time.Time
	ClosedAt  time.Time // zero: it is not closed
}

// maxAttempts is how many charges of an invoice are shown.
const maxAttempts = 20

// Attempts lists the newest charges of an invoice, newest first.
func (s *Service) Attempts(ctx context.Context, actor account.Actor, invoiceID int64) ([]Attempt, error) {
	list, err := newestCharges(ctx, s.db, actor.Company.ID, invoiceID)
	if err != nil {
		return nil, err
	}
	attempts := make([]Attempt, len(list))
	for n, charge := range list {
		attempts[n] = Attempt{
			ID:        charge.id,
			Provider:  charge.provider,
			Manual:    s.providers[charge.provider].Manual,
			Amount:    charge.order.Amount,
			State:     string(charge.state),
			Problem:   charge.problem,
			CreatedAt: charge.createdAt,
			ExpiresAt: charge.ExpiresAt,
			ClosedAt:  charge.closedAt,
		}
	}
	return attempts, nil
}

// List lists the payments of a filter in the order of the page, with the reviews
// that are open, and how many there are.
func (s *Service) List(
	ctx context.Context,
	actor account.Actor,
	filter billing.PaymentFilter,
	page input.Page,
) ([]Payment, int64, error) {
	records, total, err := s.billing.Payments(ctx, actor, filter, page)
	if err != nil || len(records) == 0 {
		return []Payment{}, total, err
	}
	numbers := make([]int64, len(records))
	places := make(map[int64]int, len(records))
	for n, record := range records {
		numbers[n], places[record.ID] = record.ID, n
	}
	list, err := paymentsNumbered(ctx, s.db, actor.Company.ID, numbers)
	slices.SortFunc(list, func(a, b Payment) int { return cmp.Compare(places[a.Number], places[b.Number]) })
	for n := range list {
		list[n].Orphan = records[places[list[n].Number]].InvoiceStatus == ""
	}
	return list, total, err
}

// Payments lists the payments of an invoice, oldest first.
func (s *Service) Payments(ctx context.Context, actor account.Actor, invoiceID int64) ([]Payment, error) {
	return paymentsOf(ctx, s.db, actor.Company.ID, invoiceID)
}

// Review returns one payment that needs a person, or did.
func (s *Service) Review(ctx context.Context, actor account.Actor, reviewID int64) (Review, error) {
	return reviewByID(ctx, s.db, actor.Company.ID, reviewID)
}

const keptCharges = "id provider invoice_id customer_name reference gateway_ref amount_cents state created_at updated_at"

// The code of a page is no fact about the customer, and opens it.
const keptPages = "created_at"

const keptAuthorisations = `id provider reference gateway_ref journey account every state ended_by reason
	created_at updated_at`

// The file itself is shown in the panel.
const keptNotices = "id invoice_id kind created_at"

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, subject account.DataSubject,
) ([]account.Kept, error) {
	about := []any{actor.Company.ID, subject.CustomerID}
	return account.ReadKept(ctx, querier,
		account.KeptRows{
			Table: "charges", Columns: keptCharges, Args: about,
			Text: `SELECT ` + account.TextColumns(keptCharges) + ` FROM charges WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		},
		account.KeptRows{
			Table: "customer_pages", Columns: keptPages, Args: about,
			Text: `SELECT ` + account.TextColumns(keptPages) + ` FROM customer_pages WHERE company_id = ? AND customer_id = ?`,
		},
		account.KeptRows{
			Table: "authorisations", Columns: keptAuthorisations, Args: about,
			Text: `SELECT ` + account.TextColumns(keptAuthorisations) + ` FROM authorisations WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		},
		account.KeptRows{
			Table: "paid_notices", Columns: keptNotices, Args: about,
			Text: `SELECT ` + account.TextColumns(keptNotices) + ` FROM paid_notices WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		},
	)
}

// EraseTx takes the customer's name off charges, and the bank account off
// authorisations. The money stays: the law makes a
// company keep its books.
func (s *Service) EraseTx(ctx context.Context, tx account.Tx, subject account.DataSubject) error {
	if err := forgetAccounts(ctx, tx, subject.CustomerID); err != nil {
		return err
	}
	return namelessCharges(ctx, tx, subject.CustomerID)
}

func forgetAccounts(ctx context.Context, tx account.Tx, customerID int64) error {
	_, err := tx.Exec(ctx, `UPDATE authorisations SET account = '' WHERE company_id = ? AND customer_id = ?`,
		tx.Company.ID, customerID)
	return err
}

func namelessCharges(ctx context.Context, tx account.Tx, customerID int64) error {
	_, err := tx.Exec(ctx, `UPDATE charges SET customer_name = '' WHERE company_id = ? AND customer_id = ?`, tx.Company.ID,
		customerID)
	return err
}
