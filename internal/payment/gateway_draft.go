package payment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// GatewayDraft is the gateway that a company chooses. An edge reads it from a
// form; Go callers fill it in.
type GatewayDraft struct {
	Provider string
	// Options are those of the provider's list that are given; "" removes one.
	// The others stay as they were when the provider was last chosen: a secret
	// need not be typed again.
	Options map[string]string

	Problems input.Problems // what the form had wrong
}

// maxOption is enough for a certificate with its chain and its key.
const maxOption = 32 << 10

// ReadGateway reads a draft from the field provider and those of the provider's
// options that are given.
func (s *Service) ReadGateway(in *input.Form) GatewayDraft {
	in.Require("provider")
	draft := GatewayDraft{Provider: in.Choice("provider", s.providerNames()...).Value, Options: map[string]string{}}
	for _, option := range s.providers[draft.Provider].Options {
		if given := option.read(in); given.Given() {
			draft.Options[option.Name] = given.Value
		}
	}
	draft.Problems = in.Problems()
	return draft
}

func (o Option) read(in *input.Form) input.Opt[string] {
	if len(o.Choices) > 0 {
		return in.Choice(o.Name, o.Choices...)
	}
	return in.Text(o.Name, maxOption)
}

func (s *Service) providerNames() []string {
	names := make([]string, len(s.options.Providers))
	for i, provider := range s.options.Providers {
		names[i] = provider.Name
	}
	return names
}

// check refuses a provider that there is not, and options that are not the
// provider's.
func (d GatewayDraft) check(service *Service) error {
	if d.Problems.Any() {
		return d.Problems.Err()
	}
	provider, known := service.providers[d.Provider]
	if !known || !service.offers(d.Provider) {
		return fault.Field("provider", "must be one of: "+strings.Join(service.providerNames(), ", "))
	}
	var refused fault.Fields
	for _, name := range slices.Sorted(maps.Keys(d.Options)) {
		if reason := provider.refuses(name, d.Options[name]); reason != "" {
			refused.Add(name, reason)
		}
	}
	return refused.Err()
}

// refuses says why an option cannot have a value; "" when it can.
func (p Provider) refuses(name, value string) string {
	i := slices.IndexFunc(p.Options, func(option Option) bool { return option.Name == name })
	switch {
	case i < 0:
		return "unknown field"
	case value == "", len(p.Options[i].Choices) == 0, slices.Contains(p.Options[i].Choices, value):
		return ""
	}
	return "must be one of: " + strings.Join(p.Options[i].Choices, ", ")
}

// ConfigureGateway chooses a company's gateway. Charges at a gateway that it had
// before are checked there until they can be paid no more.
func (s *Service) ConfigureGateway(ctx context.Context, actor account.Actor, draft GatewayDraft) (Setup, error) {
	if err := draft.check(s); err != nil {
		return Setup{}, err
	}
	var configured Setup
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		if err := account.LockTx(ctx, tx); err != nil {
			return err
		}
		before, err := s.previousSetup(ctx, tx, s.providers[draft.Provider])
		if err != nil {
			return err
		}
		change := gatewayChange{action: gatewaySet, before: before, after: before.with(draft, tx.Now())}
		if err := s.checkOptions(change.after); err != nil {
			return err
		}
		err = s.applyGateway(ctx, tx, &change)
		configured = change.after
		return err
	})
	if err != nil {
		return Setup{}, err
	}
	return s.describe(configured)
}

// previousSetup is what the company configured for a provider before, with its
// options, or a new setup.
func (s *Service) previousSetup(ctx context.Context, tx account.Tx, provider Provider) (Setup, error) {
	setup, err := sqldb.One(ctx, tx, scanSetup, `
		SELECT `+setupColumns+` FROM gateways WHERE company_id = ? AND provider = ? {for update}`,
		tx.Company.ID, provider.Name)
	if errors.Is(err, sqldb.ErrNotFound) {
		return Setup{CompanyID: tx.Company.ID, Provider: provider, name: provider.Name, key: id.NewCode(24)}, nil // 142 bits
	}
	if err != nil {
		return setup, err
	}
	setup.Provider = provider
	setup.plain, err = s.unseal(setup)
	return setup, err
}

// with returns the setup in use with the options of a draft over its own. The
// count of failures begins again: the new options are meant to end them.
func (u Setup) with(draft GatewayDraft, now time.Time) Setup {
	u.plain = maps.Clone(u.plain)
	if u.plain == nil {
		u.plain = map[string]string{}
	}
	maps.Copy(u.plain, draft.Options)
	maps.DeleteFunc(u.plain, func(_, value string) bool { return value == "" })
	u.Active, u.Failures, u.Problem, u.resumeAt, u.UpdatedAt = true, 0, "", time.Time{}, now
	return u
}

// checkOptions refuses options that are missing, and those that the provider
// refuses, all at once.
func (s *Service) checkOptions(setup Setup) error {
	var refused fault.Fields
	for _, option := range setup.Provider.Options {
		if option.Required && setup.plain[option.Name] == "" {
			refused.Add(option.Name, "is required by "+setup.Provider.Title)
		}
	}
	_, err := setup.Provider.Open(setup.plain, s.env(setup))
	if err != nil && fault.FieldsOf(err).Empty() {
		return err
	}
	for field, reasons := range fault.FieldsOf(err).All() {
		for _, reason := range reasons {
			if setup.plain[field] != "" || len(refused.Get(field)) == 0 {
				refused.Add(field, reason)
			}
		}
	}
	return refused.Err()
}

// ClearGateway leaves the company without a gateway. Charges that can still be
// paid are checked all the same.
func (s *Service) ClearGateway(ctx context.Context, actor account.Actor) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := s.active(ctx, tx, actor.Company.ID)
		if err != nil {
			return err
		}
		if before.plain, err = s.unseal(before); err != nil { // a gateway with a lost key can be cleared too
			before.plain = nil
		}
		change := gatewayChange{action: gatewayCleared, before: before, after: before}
		change.after.Active = false
		return s.applyGateway(ctx, tx, &change)
	})
}

func optionsContext(id int64) string { return fmt.Sprintf("gateway:%d", id) }

// Reseal seals with the current key the options that an older one sealed, so that
// the old key can be removed after a change. No option changes, so applyGateway
// has no part in it.
func (s *Service) Reseal(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		stale, err := sqldb.All(ctx, tx, scanSetup, `
			SELECT `+setupColumns+` FROM gateways WHERE options <> '' AND options NOT LIKE ? /* every company_id */`,
			"v1."+s.box.CurrentID()+".%")
		if err != nil {
			return err
		}
		for _, setup := range stale {
			plain, err := s.box.Open(setup.sealed, optionsContext(setup.ID))
			if err != nil {
				return fmt.Errorf("reseal %s: %w", optionsContext(setup.ID), err)
			}
			setup.sealed = s.box.Seal(plain, optionsContext(setup.ID))
			if err := setOptions(ctx, tx, setup); err != nil {
				return err
			}
		}
		return nil
	})
}

// lateCheck is how long a charge may wait to be looked after before something
// is wrong with the server that should.
const lateCheck = time.Hour

// CheckCharges looks for invoices that could be paid twice, and for charges
// without a next check.
func (s *Service) CheckCharges(ctx context.Context) (checkup.Finding, error) {
	double, err := sqldb.Values[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT invoice_id FROM charges WHERE state IN ('reserved', 'pending')
		GROUP BY company_id, invoice_id HAVING count(*) > 1 ORDER BY invoice_id LIMIT 100 /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if len(double) > 0 {
		return checkup.Bad("cancel all but one of the charges in the panel",
			"%d invoices have more than one charge that can be paid, the first are %v", len(double),
			double[:min(len(double), 5)]), nil
	}
	late, err := sqldb.Value[int64](ctx, s.db, `
		SELECT count(*) FROM charges WHERE next_check_at < ? /* every company_id */`, s.db.Now().Add(-lateCheck).UnixMicro())
	if err != nil {
		return checkup.Finding{}, err
	}
	if late > 0 {
		return checkup.Warn("start the server, or see its log for \"settle charges\"",
			"%d charges should have been asked after more than an hour ago", late), nil
	}
	return checkup.Good("no invoice has two charges, and all are looked after"), nil
}

// CheckReviews counts the payments that wait for a person.
func (s *Service) CheckReviews(ctx context.Context) (checkup.Finding, error) {
	open, err := sqldb.Value[int64](ctx, s.db, `
		SELECT count(*) FROM payment_reviews WHERE resolved_at IS NULL /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if open > 0 {
		return checkup.Warn("decide about them in the panel, under payments", "%d payments wait for a person", open), nil
	}
	return checkup.Good("no payment waits for a person"), nil
}

// AskGateway asks the company's gateway whether the credentials work, and
// records nothing of it. A company without a gateway is not asked about.
func (s *Service) AskGateway(ctx context.Context, actor account.Actor) (asked int, err error) {
	setup, err := activeSetup(ctx, s.db, actor.Company.ID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	setup.Provider = s.providers[setup.name]
	gateway, err := s.open(setup)
	if err != nil {
		return 1, err
	}
	err = s.call(ctx, callAbout{setup, "check", ""}, func(ctx context.Context) error {
		return gateway.Check(ctx)
	})
	return 1, explain(setup, err)
}
