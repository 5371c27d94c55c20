package payment

import (
	"context"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Autopay is what is known of a customer's PIX Automático.
type Autopay struct {
	State     customer.Autopay
	Newest    *AutopayRequest // what the customer was asked for last; nil: never
	NextDebit *AutopayDebit   // the first that is announced; nil: none is
	Failed    *AutopayDebit   // the newest that failed, unless a later one was paid; nil: none did
	History   []AutopayStep   // the newest first
	Journeys  []Journey       // by which the company's gateway asks; none: it has no PIX Automático
	Left      bool            // the company uses another gateway now: nothing is debited by the authorisation
}

// AutopayRequest is an authorisation that a customer was asked for.
type AutopayRequest struct {
	Provider  string
	Journey   Journey
	Every     Every
	PixCode   string // that the payer authorises with, while it is asked for
	AskedAt   time.Time
	ExpiresAt time.Time // of the request
	ActiveAt  time.Time // zero: the payer has not authorised
	EndedAt   time.Time // zero: it has not ended
	EndedBy   EndedBy
	Reason    string // of the end
	Problem   string // what the gateway failed with when it was last asked
}

// AutopayDebit is a debit of an invoice.
type AutopayDebit struct {
	InvoiceID int64
	Amount    money.Cents
	On        civil.Date // of the newest attempt
	Retries   int
	Failure   string // why the newest attempt failed
}

// AutopayStep is a line of the history.
type AutopayStep = authorisationStep

// Autopay returns what is known of a customer's PIX Automático. It calls no
// gateway.
func (s *Service) Autopay(ctx context.Context, actor account.Actor, customerID int64) (Autopay, error) {
	record, err := customer.FindIn(ctx, s.db, actor, customerID)
	if err != nil {
		return Autopay{}, err
	}
	known := Autopay{State: record.Autopay}
	newest, err := newestAuthorisation(ctx, s.db, actor.Company.ID, customerID)
	if err != nil {
		return known, err
	}
	setup, has, err := s.activeIf(ctx, actor.Company.ID)
	if has {
		known.Journeys = s.journeys(setup)
	}
	if err != nil || newest.id == 0 {
		return known, err
	}
	known.Newest = newest.request()
	known.Left = newest.left(setup)
	if known.History, err = stepsOf(ctx, s.db, actor.Company.ID, customerID); err != nil {
		return known, err
	}
	debits, err := sqldb.All(ctx, s.db, scanCharge, `SELECT `+chargeColumns+` FROM charges
		WHERE company_id = ? AND authorisation_id > 0 AND authorisation_id IN (
			SELECT id FROM authorisations WHERE company_id = ? AND customer_id = ?) AND debit_on <> ''
		ORDER BY id DESC LIMIT 20`, actor.Company.ID, actor.Company.ID, customerID)
	known.addDebits(debits)
	return known, err
}

// addDebits chooses what is shown of the debits, the newest of which come first.
func (a *Autopay) addDebits(debits []charge) {
	paidSince := false
	for _, charge := range debits {
		switch {
		case charge.state == paid:
			paidSince = true
		case charge.state == pending:
			if a.NextDebit == nil || charge.debit.on.Before(a.NextDebit.On) {
				a.NextDebit = charge.shownDebit(charge.debit.failure)
			}
		case paidSince || a.Failed != nil:
		case charge.state == refused:
			a.Failed = charge.shownDebit(charge.problem)
		case charge.debit.failure != "":
			a.Failed = charge.shownDebit(charge.debit.failure)
		}
	}
}

func (c charge) shownDebit(failure string) *AutopayDebit {
	return &AutopayDebit{
		InvoiceID: c.invoiceID,
		Amount:    c.order.Amount,
		On:        c.debit.on,
		Retries:   c.debit.retries,
		Failure:   failure,
	}
}

// Asks reports whether the company's gateway has a journey.
func (a Autopay) Asks(journey Journey) bool { return slices.Contains(a.Journeys, journey) }

func (a authorisation) request() *AutopayRequest {
	shown := &AutopayRequest{
		Provider: a.provider, Journey: a.journey, Every: a.every,
		AskedAt: a.createdAt, ExpiresAt: a.expiresAt, ActiveAt: a.activeAt, EndedAt: a.endedAt,
		EndedBy: a.endedBy, Reason: a.reason, Problem: a.problem,
	}
	if a.state == authAsked && a.journey == JourneyCode { // one that pays, too, is the payer's alone
		shown.PixCode = a.pixCode
	}
	return shown
}

// mandate is what the gateway is asked for.
func (a authorisation) mandate(payer Payer) Mandate {
	return Mandate{
		Reference:   a.Reference,
		Journey:     a.journey,
		Description: a.description,
		Payer:       payer,
		Account:     a.account,
		Every:       a.every,
		From:        a.from,
		Minimum:     a.minimum,
		Retries:     true,
		ExpiresAt:   a.expiresAt,
	}
}

// journeys are the ways in which a gateway asks payers for an authorisation;
// none: it has no PIX Automático.
func (s *Service) journeys(setup Setup) []Journey {
	gateway, err := s.open(setup)
	debitor, can := gateway.(Debitor)
	if err != nil || !can {
		return nil
	}
	return JourneysOf(debitor)
}

// SimulateAutopay has the payer of a gateway that only pretends do something about
// the newest authorisation of a customer, and records at once what comes of it.
func (s *Service) SimulateAutopay(
	ctx context.Context, actor account.Actor, customerID int64, deed string,
) (Autopay, error) {
	if _, err := customer.FindIn(ctx, s.db, actor, customerID); err != nil {
		return Autopay{}, err
	}
	newest, err := newestAuthorisation(ctx, s.db, actor.Company.ID, customerID)
	if err != nil {
		return Autopay{}, err
	}
	if newest.id == 0 || !newest.state.live() {
		return Autopay{}, fault.Conflict("the customer has not been asked, or it has ended")
	}
	act, pretends := s.options.SimulatePayer[newest.provider]
	if !pretends {
		return Autopay{}, fault.Forbidden("the customer's bank is real")
	}
	setup, err := s.setupByID(ctx, newest.companyID, newest.gatewayID)
	if err != nil {
		return Autopay{}, err
	}
	err = s.call(ctx, callAbout{setup, "simulate", newest.Reference}, func(ctx context.Context) error {
		return act(ctx, newest.ID, deed)
	})
	if err != nil {
		return Autopay{}, err
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return markAuthorisation(ctx, tx, setup, newest.Ref)
	})
	if err == nil {
		_, err = s.checkAuthorisations(ctx)
	}
	if err != nil {
		return Autopay{}, err
	}
	return s.Autopay(ctx, actor, customerID)
}

// SimulatesPayers reports whether the authorisations of a provider are only
// pretended.
func (s *Service) SimulatesPayers(provider string) bool {
	_, pretends := s.options.SimulatePayer[provider]
	return pretends
}

// AutopayFilter chooses customers by their PIX Automático; the zero one chooses
// all who were ever asked.
type AutopayFilter struct {
	State  customer.Autopay // "": any
	Failed bool             // only those with newest debits that failed
}

// ReadAutopayFilter reads a filter from the field state. Wrong values are left to
// in.Err.
func ReadAutopayFilter(in *input.Form) AutopayFilter {
	const failed = "failed"
	state, _ := in.Choice("state", string(customer.AutopayActive), string(customer.AutopayAsked), failed,
		string(customer.AutopayEnded)).Get()
	if state == failed {
		return AutopayFilter{Failed: true}
	}
	return AutopayFilter{State: customer.Autopay(state)}
}

// AutopayOf is what is known of one customer's PIX Automático, in a list: it has no
// history.
type AutopayOf struct {
	CustomerID   int64
	CustomerName string // empty: the customer is deleted
	Autopay
}

// Autopays lists customers by their PIX Automático, who was asked last first, and
// returns how many there are. It calls no gateway.
func (s *Service) Autopays(
	ctx context.Context, actor account.Actor, filter AutopayFilter, page input.Page,
) ([]AutopayOf, int64, error) {
	query := authorisationQuery{actor.Company.ID, filter, page}
	total, err := countNewest(ctx, s.db, query)
	if err != nil || page.Offset() >= total {
		return []AutopayOf{}, total, err
	}
	newest, err := newestOfCustomers(ctx, s.db, query)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.describeAll(ctx, actor, newest)
	return list, total, err
}

// describeAll adds to authorisations the names of their customers and what is to
// say of their debits.
func (s *Service) describeAll(ctx context.Context, actor account.Actor, newest []authorisation) ([]AutopayOf, error) {
	customers, ids := make([]int64, len(newest)), make([]int64, len(newest))
	for i, known := range newest {
		customers[i], ids[i] = known.customerID, known.id
	}
	names, err := customer.NamesIn(ctx, s.db, actor, customers)
	if err != nil {
		return nil, err
	}
	debits, err := debitsByAuthorisation(ctx, s.db, actor.Company.ID, ids)
	if err != nil {
		return nil, err
	}
	setup, _, err := s.activeIf(ctx, actor.Company.ID)
	if err != nil {
		return nil, err
	}
	list := make([]AutopayOf, len(newest))
	for i, known := range newest {
		list[i] = AutopayOf{
			CustomerID:   known.customerID,
			CustomerName: names[known.customerID],
			Autopay:      Autopay{State: known.state.shown(), Newest: known.request(), Left: known.left(setup)},
		}
		list[i].addDebits(debits[known.id])
	}
	return list, nil
}

// left reports whether the company uses another gateway than the one by which the
// payer has authorised.
func (a authorisation) left(setup Setup) bool {
	return a.state == authActive && a.gatewayID != setup.ID
}
