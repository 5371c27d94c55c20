package payment

import (
	"context"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
)

// AutopayRequestDraft is how a customer is to be asked. An edge reads it from a
// form; Go callers fill it in.
type AutopayRequestDraft struct {
	Journey Journey
	Account PayerAccount // of a JourneyRequest

	Problems input.Problems // what the form had wrong
}

// ReadAutopayRequest reads a draft from the fields journey, ispb, branch and
// account. People write accounts with dots and a hyphen, which are left out.
func ReadAutopayRequest(in *input.Form) AutopayRequestDraft {
	return AutopayRequestDraft{
		Journey: Journey(in.Choice("journey", string(JourneyCode), string(JourneyRequest)).Or(string(JourneyCode))),
		Account: PayerAccount{
			ISPB:    unpunctuated(in.Line("ispb", 30).Value),
			Branch:  unpunctuated(in.Line("branch", 30).Value),
			Account: unpunctuated(in.Line("account", 30).Value),
		},
		Problems: in.Problems(),
	}
}

var unpunctuated = strings.NewReplacer(".", "", "-", "", " ", "", "/", "").Replace

// accountField is one of the fields that name a payer's account.
type accountField struct {
	name, value string
	least, most int // digits
	wrong       string
}

func (d AutopayRequestDraft) accountFields() []accountField {
	return []accountField{
		{"ispb", d.Account.ISPB, 8, 8, "must be digits, eight of them in the ISPB of the bank"},
		{"branch", d.Account.Branch, 1, 4, "must be digits, four at most, without the check digit"},
		{"account", d.Account.Account, 1, 20, "must be digits, twenty at most, the check digit included"},
	}
}

// refused says what a draft lacks.
func (d AutopayRequestDraft) refused() (refused fault.Fields) {
	for _, field := range d.accountFields() {
		given := len(field.value)
		switch {
		case d.Journey == JourneyCode && given > 0:
			refused.Add(field.name, "belongs to the journey request")
		case d.Journey == JourneyRequest && given == 0:
			refused.Add(field.name, "is required by the journey request")
		case given > 0 && (given < field.least || given > field.most || !digitsOnly(field.value)):
			refused.Add(field.name, field.wrong)
		}
	}
	return refused
}

func digitsOnly(value string) bool {
	for _, letter := range value {
		if letter < '0' || letter > '9' {
			return false
		}
	}
	return true
}

// requestLife is how long a payer can answer.
const requestLife = 7 * day

// AskAutopay asks a customer for the authorisation to debit what falls due. A
// customer who was asked and has not answered is not asked again.
func (s *Service) AskAutopay(
	ctx context.Context, actor account.Actor, customerID int64, draft AutopayRequestDraft,
) (Autopay, error) {
	if err := draft.Problems.With(draft.refused()).Err(); err != nil {
		return Autopay{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
	defer cancel()
	ask := asking{draft: draft}
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		ask.reserved = authorisation{}
		return s.reserveAuthorisation(ctx, tx, customerID, &ask)
	})
	crashpoint.Here("authorisation-reserved")
	if err != nil {
		return Autopay{}, err
	}
	if ask.reserved.id != 0 {
		if err := s.sendReserved(ctx, ask); err != nil {
			return Autopay{}, err
		}
	}
	return s.Autopay(ctx, actor, customerID)
}

// asking is one call of AskAutopay.
type asking struct {
	draft    AutopayRequestDraft
	setup    Setup
	reserved authorisation // zero: the customer was asked before
}

func (s *Service) sendReserved(ctx context.Context, ask asking) error {
	work, err := s.authorisationWork(ctx, ask.reserved)
	if err == nil {
		err = s.authorise(ctx, work)
	}
	return explain(ask.setup, err)
}

// reserveAuthorisation stores an authorisation before the gateway is called.
func (s *Service) reserveAuthorisation(ctx context.Context, tx account.Tx, customerID int64, ask *asking) error {
	record, err := customer.LockTx(ctx, tx, customerID)
	if err != nil {
		return err
	}
	newest, err := newestAuthorisation(ctx, tx, tx.Company.ID, customerID)
	if err != nil {
		return err
	}
	if newest.state.live() {
		return asked(newest, ask.draft.Journey)
	}
	if ask.setup, err = s.active(ctx, tx, tx.Company.ID); err != nil {
		return err
	}
	every, err := s.askable(*ask, record)
	if err != nil {
		return err
	}
	if ask.setup.blocked(tx.Now()) {
		return fault.Upstream(ask.setup.Problem, nil)
	}
	change := authorisationChange{after: s.newAuthorisation(tx.Actor, record, *ask, tx.Now())}
	change.after.every = every
	if err := s.applyAuthorisation(ctx, tx, &change); err != nil {
		return err
	}
	ask.reserved = change.after
	return nil
}

// asked answers for a customer who has been asked, or has authorised, already.
func asked(newest authorisation, journey Journey) error {
	if newest.state == authActive {
		return fault.Conflict("the customer has authorised already; end that first to ask anew")
	}
	if newest.journey != journey {
		return fault.Conflict("the customer was asked in another way already; end that first to ask anew")
	}
	return nil
}

// askable refuses customers and gateways without PIX Automático, and returns how
// often the customer is debited.
func (s *Service) askable(ask asking, record customer.Customer) (Every, error) {
	gateway, err := s.open(ask.setup)
	if err != nil {
		return "", err
	}
	debitor, can := gateway.(Debitor)
	if !can {
		return "", fault.Field("gateway", "the company's gateway has no PIX Automático")
	}
	var refused fault.Fields
	if !slices.Contains(JourneysOf(debitor), ask.draft.Journey) {
		refused.Add("journey", "the company's gateway does not have this journey")
	}
	every, known := everyOf(record.Period())
	switch {
	case record.IsCancelled():
		refused.Add("customer", "is cancelled")
	case record.Plan.ID == 0:
		refused.Add("plan_id", "the customer needs a plan")
	case !known:
		refused.Add("plan_id", "PIX Automático is weekly, monthly, quarterly, half-yearly or yearly")
	case record.Price() == 0:
		refused.Add("plan_id", "costs nothing")
	}
	return every, refused.Err()
}

// Debitable reports whether a customer's plan has a period that PIX Automático
// has, and costs something.
func Debitable(record customer.Customer) bool {
	_, known := everyOf(record.Period())
	return known && record.Price() > 0 && !record.IsCancelled()
}

// everyOf is a plan's period as PIX Automático has it.
func everyOf(period civil.Period) (Every, bool) {
	months := map[int]Every{1: EveryMonth, 3: EveryQuarter, 6: EveryHalfYear, 12: EveryYear}
	switch {
	case period == civil.Period{Unit: civil.Week, Count: 1}, period == civil.Period{Unit: civil.Day, Count: 7}:
		return EveryWeek, true
	case period == civil.Period{Unit: civil.Year, Count: 1}:
		return EveryYear, true
	case period.Unit == civil.Month:
		every, known := months[period.Count]
		return every, known
	}
	return "", false
}

func (s *Service) newAuthorisation(
	actor account.Actor, record customer.Customer, ask asking, now time.Time,
) authorisation {
	made := authorisation{
		Ref:         Ref{Reference: id.NewCode(32)},
		companyID:   actor.Company.ID,
		gatewayID:   ask.setup.ID,
		provider:    ask.setup.name,
		customerID:  record.ID,
		journey:     ask.draft.Journey,
		from:        actor.Today(now).AddDays(1),
		minimum:     record.Price(),
		description: record.Plan.Name,
		state:       authReserved,
		expiresAt:   now.Add(requestLife),
		claim:       id.NewCode(16),
		nextCheck:   now.Add(s.lease()),
		createdAt:   now,
	}
	if made.journey == JourneyRequest {
		made.account = &ask.draft.Account
	}
	if record.DueOn.After(made.from) {
		made.from = record.DueOn
	}
	return made
}

// EndAutopay ends a customer's authorisation, or takes back that the customer was
// asked. Debits that are announced are cancelled, as far as they can be. The
// gateway hears of it at once, and until it has.
func (s *Service) EndAutopay(ctx context.Context, actor account.Actor, customerID int64) (Autopay, error) {
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		if _, err := customer.LockTx(ctx, tx, customerID); err != nil {
			return err
		}
		newest, err := newestAuthorisation(ctx, tx, actor.Company.ID, customerID)
		if err != nil {
			return err
		}
		return s.endTx(ctx, tx, newest, "")
	})
	if err != nil {
		return Autopay{}, err
	}
	return s.Autopay(ctx, actor, customerID)
}

// endTx has an authorisation of a customer ended at the gateway, if it lives. The caller
// has locked the customer.
func (s *Service) endTx(ctx context.Context, tx account.Tx, newest authorisation, reason string) error {
	if !newest.state.live() {
		return nil
	}
	locked, err := lockAuthorisation(ctx, tx.Tx, tx.Company.ID, newest.id)
	if err != nil || !locked.state.live() {
		return err
	}
	change := authorisationChange{locked, locked}
	change.after.end(ByCompany, reason, tx.Now())
	if !locked.busy(tx.Now()) {
		change.after.nextCheck = tx.Now()
	}
	return s.applyAuthorisation(ctx, tx, &change)
}

// PayerBank is a bank that a request for an authorisation can go to.
type PayerBank struct{ ISPB, Name string }

// PayerBanks are the banks where most people have their accounts, by name; any
// other is named by its ISPB. They were held in November 2026 against the list of
// the Central Bank's participants in guibranco/BancosBrasileiros of August 2026.
var PayerBanks = []PayerBank{
	{"05463212", "Ailos"},
	{"19540550", "Asaas"},
	{"04902979", "Banco da Amazônia"},
	{"00000000", "Banco do Brasil"},
	{"07237373", "Banco do Nordeste"},
	{"59285411", "Banco Pan"},
	{"28127603", "Banestes"},
	{"92702067", "Banrisul"},
	{"61186680", "BMG"},
	{"60746948", "Bradesco"},
	{"00000208", "BRB"},
	{"30306294", "BTG Pactual"},
	{"31872495", "C6 Bank"},
	{"00360305", "Caixa Econômica Federal"},
	{"37880206", "Cora"},
	{"09089356", "Efí"},
	{"00416968", "Inter"},
	{"60701190", "Itaú"},
	{"10573521", "Mercado Pago"},
	{"17184037", "Mercantil"},
	{"20855875", "Neon"},
	{"18236120", "Nubank"},
	{"08561701", "PagBank"},
	{"22896431", "PicPay"},
	{"58160789", "Safra"},
	{"90400888", "Santander"},
	{"02038232", "Sicoob"},
	{"01181521", "Sicredi"},
	{"16501555", "Stone"},
	{"33264668", "XP"},
}
