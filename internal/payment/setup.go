package payment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Setup is a gateway as a company has configured it.
type Setup struct {
	ID          int64
	CompanyID   int64
	Provider    Provider
	Options     map[string]string // those that may be shown; of secrets, how they end
	CallbackURL string            // to be entered at the gateway, where no charge carries it
	Active      bool
	Failures    int       // failed calls in a row
	Problem     string    // what the last of them said
	PausedUntil time.Time // it has failed so often that it is not called before this; zero: it is called
	UpdatedAt   time.Time

	name     string            // of the provider, which this program may not know any more
	plain    map[string]string // the options in the clear; nil unless the setup was read for a change
	sealed   string
	key      string
	resumeAt time.Time
}

// unseal reads the options of a setup in the clear.
func (s *Service) unseal(setup Setup) (map[string]string, error) {
	options := map[string]string{}
	if setup.sealed == "" {
		return options, nil
	}
	plain, err := s.box.Open(setup.sealed, optionsContext(setup.ID))
	if err != nil {
		return nil, fmt.Errorf("options of gateway %d: %w", setup.ID, err)
	}
	err = json.Unmarshal(plain, &options)
	return options, err
}

// describe fills in what people are shown.
func (s *Service) describe(setup Setup) (Setup, error) {
	var err error
	if setup.plain, err = s.unseal(setup); err != nil {
		return setup, err
	}
	setup.Options, setup.plain = setup.shown(), nil
	setup.CallbackURL = s.callbackURL(setup)
	if setup.blocked(s.db.Now()) {
		setup.PausedUntil = setup.resumeAt
	}
	return setup, nil
}

func (s *Service) callbackURL(setup Setup) string {
	return s.options.PublicURL + "/gateways/" + setup.name + "/" + setup.key
}

func (s *Service) env(setup Setup) Env {
	return Env{
		Client: s.options.Client, CallbackURL: s.callbackURL(setup), Now: s.db.Now, // payers go back to the page of their order
	}
}

// flow is how the charges of a gateway are paid, as far as that is known before
// there is one: of a provider that does both, an option says which.
func (s *Service) flow(setup Setup) Flow {
	if options, err := s.unseal(setup); err == nil && Flow(options["flow"]) == FlowRedirect {
		return FlowRedirect
	}
	return setup.Provider.Flow
}

// computes reports whether the gateway has the bank compute amounts by the day.
func (s *Service) computes(setup Setup) bool {
	if setup.Provider.Computes == nil {
		return false
	}
	options, err := s.unseal(setup)
	return err == nil && setup.Provider.Computes(options)
}

// Gateway returns the gateway that the company has chosen.
func (s *Service) Gateway(ctx context.Context, actor account.Actor) (Setup, error) {
	setup, err := s.active(ctx, s.db, actor.Company.ID)
	if err != nil {
		return Setup{}, err
	}
	return s.describe(setup)
}

// active finds the setup in use; none is a fault of the field gateway.
func (s *Service) active(ctx context.Context, querier sqldb.Querier, companyID int64) (Setup, error) {
	setup, err := activeSetup(ctx, querier, companyID)
	if errors.Is(err, sqldb.ErrNotFound) || err == nil && !s.offers(setup.name) {
		return setup, fault.Field("gateway",
			"no payment gateway is set up; choose one in the panel, or with `carteira gateway set`")
	}
	setup.Provider = s.providers[setup.name]
	return setup, err
}

// activeIf is active for callers that also serve a company without a gateway: has is false then.
func (s *Service) activeIf(ctx context.Context, companyID int64) (setup Setup, has bool, err error) {
	setup, err = s.active(ctx, s.db, companyID)
	if fault.KindOf(err) == fault.KindInvalid {
		return setup, false, nil
	}
	return setup, err == nil, err
}

// CheckGateway asks the gateway whether the credentials work. A gateway that can
// register our callback address does so.
func (s *Service) CheckGateway(ctx context.Context, actor account.Actor) error {
	return s.checkGateway(ctx, actor, func(gateway Gateway) registering {
		if registrar, ok := gateway.(Registrar); ok {
			return registrar.Register
		}
		return nil
	})
}

// ReplaceWebhook is CheckGateway after a person has read in a WebhookTaken which
// address is called now, and wants ours to be called instead.
func (s *Service) ReplaceWebhook(ctx context.Context, actor account.Actor, agreed string) error {
	return s.checkGateway(ctx, actor, func(gateway Gateway) registering {
		return func(ctx context.Context) error {
			if replacer, ok := gateway.(Replacer); ok {
				return replacer.Replace(ctx, agreed)
			}
			return &Refusal{Reason: "it has no webhook that could be replaced"}
		}
	})
}

// registering sets the callback address at a provider.
type registering func(ctx context.Context) error

func (s *Service) checkGateway(ctx context.Context, actor account.Actor, registers func(Gateway) registering) error {
	setup, err := s.active(ctx, s.db, actor.Company.ID)
	if err != nil {
		return err
	}
	gateway, err := s.open(setup)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	err = s.call(ctx, callAbout{setup, "check", ""}, func(ctx context.Context) error {
		return gateway.Check(ctx)
	})
	if register := registers(gateway); register != nil && err == nil {
		err = s.call(ctx, callAbout{setup, "register", ""}, register)
	}
	written := actor.Write(ctx, s.db, func(tx account.Tx) error {
		return recordGatewayHealth(ctx, tx.Tx, setup, err)
	})
	return errors.Join(explain(setup, err), written)
}

// gatewayCache keeps gateways open: some have tokens or keys that they got from
// the provider.
type gatewayCache struct {
	mu   sync.Mutex
	byID map[int64]cachedGateway
}

type cachedGateway struct {
	sealed  string // the options that it was opened with
	gateway Gateway
}

// open makes the gateway of a setup, or returns the one in the cache.
func (s *Service) open(setup Setup) (Gateway, error) {
	s.gateways.mu.Lock()
	defer s.gateways.mu.Unlock()
	if known, ok := s.gateways.byID[setup.ID]; ok && known.sealed == setup.sealed {
		return known.gateway, nil
	}
	if setup.Provider.Open == nil {
		return nil, fmt.Errorf("this program has no gateway %q", setup.name)
	}
	options, err := s.unseal(setup)
	if err != nil {
		return nil, err
	}
	gateway, err := setup.Provider.Open(options, s.env(setup))
	if err != nil {
		return nil, fmt.Errorf("open gateway %d: %w", setup.ID, err)
	}
	if s.gateways.byID == nil {
		s.gateways.byID = map[int64]cachedGateway{}
	}
	s.gateways.byID[setup.ID] = cachedGateway{setup.sealed, gateway}
	return gateway, nil
}

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
	setup, err := sqldb.One(ctx, s.db, scanSetup,
		`SELECT `+setupColumns+` FROM gateways WHERE company_id = ? AND provider = ?`, actor.Company.ID, provider)
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

// TryGateway asks the provider of a draft whether its options work, and keeps
// nothing of them: a gateway that works is not given up for one that does not.
func (s *Service) TryGateway(ctx context.Context, actor account.Actor, draft GatewayDraft) error {
	if err := draft.check(s); err != nil {
		return err
	}
	var setup Setup
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		before, err := s.previousSetup(ctx, actor.In(tx), s.providers[draft.Provider])
		setup = before.with(draft, tx.Now())
		return err
	})
	if err != nil {
		return err
	}
	if err := s.checkOptions(setup); err != nil {
		return err
	}
	gateway, err := setup.Provider.Open(setup.plain, s.env(setup))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	return explain(setup, s.call(ctx, callAbout{setup, "check", ""}, gateway.Check))
}

// gatewayAction is what happened to a gateway's configuration, as the audit log
// names it.
type gatewayAction string

const (
	gatewaySet     gatewayAction = "gateway.set"
	gatewayCleared gatewayAction = "gateway.cleared"
)

// gatewayChange is one change of a gateway's configuration; both sides have
// their options in the clear. Before has no ID when the company never chose the
// provider.
type gatewayChange struct {
	action        gatewayAction
	before, after Setup
}

// applyGateway writes a change of a gateway's configuration and its audit line.
// It is the only place that writes one. These writes stay outside: Reseal, which
// changes the key and no option; Prune, which drops the options of a gateway that
// was left; and the health of a gateway (recordGatewayHealth, setAside, spaceOut),
// which is the engine's.
func (s *Service) applyGateway(ctx context.Context, tx account.Tx, change *gatewayChange) error {
	if err := deactivateAll(ctx, tx); err != nil {
		return err
	}
	if change.action == gatewaySet {
		if err := s.writeSetup(ctx, tx.Tx, &change.after); err != nil {
			return err
		}
	}
	if s.options.Told != nil {
		if err := s.options.Told(ctx, tx, change.after.Provider.Title); err != nil {
			return err
		}
	}
	return account.WriteAudit(ctx, tx, change.audit())
}

// writeSetup stores a setup. Its options are sealed for its id, so a new one is
// inserted without them.
func (s *Service) writeSetup(ctx context.Context, tx *sqldb.Tx, setup *Setup) error {
	plain, err := json.Marshal(setup.plain)
	if err != nil {
		return err
	}
	if setup.ID == 0 {
		if setup.ID, err = insertSetup(ctx, tx, *setup); err != nil {
			return err
		}
	}
	setup.sealed = s.box.Seal(plain, optionsContext(setup.ID))
	return updateSetup(ctx, tx, *setup)
}

func (c *gatewayChange) audit() account.AuditEntry {
	entry := account.AuditEntry{
		Action: string(c.action),
		Record: "gateway",
		ID:     c.after.ID,
		Name:   c.after.Provider.Title,
		Before: auditSetup(c.before),
	}
	if c.action == gatewaySet {
		entry.After = auditSetup(c.after)
	}
	return entry
}

// setupFields are what the audit log shows of a setup besides the options of its
// provider.
var setupFields = []struct {
	name string
	of   func(Setup) any
}{
	{"provider", func(setup Setup) any { return setup.name }},
	{"active", func(setup Setup) any { return setup.Active }},
}

// auditSetup is a setup as the audit log shows it: of a secret, how it ends.
func auditSetup(setup Setup) account.AuditFields {
	fields := account.AuditFields{}
	for _, field := range setupFields {
		fields[field.name] = field.of(setup)
	}
	for name, value := range setup.shown() {
		fields[name] = value
	}
	return fields
}

// shown are the options that people may see: of a secret, how it ends.
func (u Setup) shown() map[string]string {
	options := map[string]string{}
	for _, option := range u.Provider.Options {
		value := u.plain[option.Name]
		if option.Secret && value != "" {
			value = masked(value)
		}
		if value != "" {
			options[option.Name] = value
		}
	}
	return options
}

// masked shows how a secret ends, where it is long enough for that to give
// nothing away.
func masked(secret string) string {
	const shown = 4
	if runes := []rune(secret); len(runes) >= 4*shown {
		return "…" + string(runes[len(runes)-shown:])
	}
	return "…"
}
