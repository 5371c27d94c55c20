package payment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Setup is a gateway as a company has set it up.
type Setup struct {
	ID          int64
	CompanyID   int64
	Provider    Provider
	Options     map[string]string // those that may be shown; of secrets, how they end
	CallbackURL string            // to be told to the gateway, where it does not learn it with each charge
	Active      bool
	Failures    int       // failed calls in a row
	Problem     string    // what the last of them said
	PausedUntil time.Time // it has failed so often that it is not asked before this; zero: it is asked
	UpdatedAt   time.Time

	name     string // of the provider, which this program may not know any more
	sealed   string
	key      string
	resumeAt time.Time
}

// maxOption is enough for a certificate with its chain and its key.
const maxOption = 32 << 10

func errNoGateway() error {
	return fault.Field("gateway", "no payment gateway is set up; choose one in the panel, or with `carteira gateway set`")
}

// ConfigureGateway chooses a company's gateway, from the fields provider and
// those that the provider asks for. What is not given stays as it was when the
// provider was last chosen: a secret need not be typed again. Charges that were
// made elsewhere are looked after there until nothing can come of them.
func (s *Service) ConfigureGateway(ctx context.Context, a account.Actor, in *input.Form) (Setup, error) {
	in.Require("provider")
	name, _ := in.Choice("provider", s.providerNames()...).Get()
	p, known := s.providers[name]
	if !known {
		return Setup{}, in.Err()
	}
	given := readOptions(in, p)
	if err := in.Err(); err != nil {
		return Setup{}, err
	}
	var u Setup
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if err := account.LockTx(ctx, tx, a); err != nil {
			return err
		}
		if u, err = s.setupOf(ctx, tx, a, p); err != nil {
			return err
		}
		options, err := s.merge(u, given)
		if err != nil {
			return err
		}
		if err := s.try(u, options); err != nil {
			return err
		}
		before := u
		if err := s.activateTx(ctx, tx, &u, options); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, account.AuditEntry{
			Action: "gateway.set", Record: "gateway", ID: u.ID, Name: p.Title, Before: s.shown(before), After: s.shown(u),
		})
	})
	if err != nil {
		return Setup{}, err
	}
	return s.describe(u)
}

func (s *Service) providerNames() []string {
	names := make([]string, len(s.options.Providers))
	for i, p := range s.options.Providers {
		names[i] = p.Name
	}
	return names
}

// readOptions reads the options that were given, an emptied one as "".
func readOptions(in *input.Form, p Provider) map[string]string {
	given := map[string]string{}
	for _, o := range p.Options {
		var v string
		var ok bool
		if len(o.Choices) > 0 {
			v, ok = in.Choice(o.Name, o.Choices...).Get()
		} else {
			v, ok = in.Text(o.Name, maxOption).Get()
		}
		if ok && in.Given(o.Name) {
			given[o.Name] = v
		}
	}
	return given
}

// setupOf is what the company told of a provider before, or a fresh one.
func (s *Service) setupOf(ctx context.Context, tx *sqldb.Tx, a account.Actor, p Provider) (Setup, error) {
	u, err := setupOfProvider(ctx, tx, a.Company.ID, p.Name)
	if errors.Is(err, sqldb.ErrNotFound) {
		return Setup{CompanyID: a.Company.ID, Provider: p, name: p.Name, key: id.NewCode(24)}, nil // 142 bits
	}
	u.Provider = p
	return u, err
}

// merge puts what was given over what is kept.
func (s *Service) merge(u Setup, given map[string]string) (map[string]string, error) {
	options, err := s.unseal(u)
	if err != nil {
		return nil, err
	}
	maps.Copy(options, given)
	maps.DeleteFunc(options, func(_, v string) bool { return v == "" })
	return options, nil
}

// try refuses options that are missing, and what the provider has against the
// others, all at once.
func (s *Service) try(u Setup, options map[string]string) error {
	var refused fault.Fields
	for _, o := range u.Provider.Options {
		if o.Required && options[o.Name] == "" {
			refused.Add(o.Name, "is required by "+u.Provider.Title)
		}
	}
	_, err := u.Provider.Open(options, s.env(u))
	if err != nil && fault.FieldsOf(err).Empty() {
		return err
	}
	for field, reasons := range fault.FieldsOf(err).All() {
		for _, reason := range reasons {
			if options[field] != "" || len(refused.Get(field)) == 0 {
				refused.Add(field, reason)
			}
		}
	}
	return refused.Err()
}

// activateTx stores a setup as the one in use. Whatever failed before is
// forgotten: somebody has just put it right.
func (s *Service) activateTx(ctx context.Context, tx *sqldb.Tx, u *Setup, options map[string]string) error {
	plain, err := json.Marshal(options)
	if err != nil {
		return err
	}
	if err := deactivateAll(ctx, tx, u.CompanyID); err != nil {
		return err
	}
	u.Active, u.Failures, u.Problem, u.resumeAt, u.UpdatedAt = true, 0, "", time.Time{}, tx.Now()
	if u.ID == 0 {
		if u.ID, err = insertSetup(ctx, tx, *u); err != nil {
			return err
		}
	}
	u.sealed = s.box.Seal(plain, optionsContext(u.ID))
	return updateSetup(ctx, tx, *u)
}

func optionsContext(id int64) string { return fmt.Sprintf("gateway:%d", id) }

// unseal reads the options of a setup.
func (s *Service) unseal(u Setup) (map[string]string, error) {
	options := map[string]string{}
	if u.sealed == "" {
		return options, nil
	}
	plain, err := s.box.Open(u.sealed, optionsContext(u.ID))
	if err != nil {
		return nil, fmt.Errorf("options of gateway %d: %w", u.ID, err)
	}
	return options, json.Unmarshal(plain, &options)
}

// describe fills in what people are shown.
func (s *Service) describe(u Setup) (Setup, error) {
	options, err := s.unseal(u)
	if err != nil {
		return u, err
	}
	u.Options = map[string]string{}
	for _, o := range u.Provider.Options {
		v := options[o.Name]
		if o.Secret && v != "" {
			v = masked(v)
		}
		if v != "" {
			u.Options[o.Name] = v
		}
	}
	u.CallbackURL = s.callbackURL(u)
	if u.blocked(s.db.Now()) {
		u.PausedUntil = u.resumeAt
	}
	return u, nil
}

// shown is what the audit log tells of a setup: no secret, but that one changed.
func (s *Service) shown(u Setup) account.AuditFields {
	fields := account.AuditFields{"provider": u.name, "active": u.Active}
	if options, err := s.unseal(u); err == nil {
		for _, o := range u.Provider.Options {
			switch v := options[o.Name]; {
			case o.Secret && v != "":
				fields[o.Name] = masked(v)
			case v != "":
				fields[o.Name] = v
			}
		}
	}
	return fields
}

// masked shows how a secret ends, where it is long enough for that to give
// nothing away.
func masked(v string) string {
	const shown = 4
	if r := []rune(v); len(r) >= 4*shown {
		return "…" + string(r[len(r)-shown:])
	}
	return "…"
}

func (s *Service) callbackURL(u Setup) string {
	return s.options.PublicURL + "/gateways/" + u.name + "/" + u.key
}

func (s *Service) env(u Setup) Env {
	return Env{
		Client: s.options.Client, CallbackURL: s.callbackURL(u), Now: s.db.Now, // payers go back to the page of their order
	}
}

// flow is how the charges of a gateway are paid, as far as that is known before
// there is one: a provider that does both is told which.
func (s *Service) flow(u Setup) Flow {
	if options, err := s.unseal(u); err == nil && Flow(options["flow"]) == FlowRedirect {
		return FlowRedirect
	}
	return u.Provider.Flow
}

// Gateway returns the gateway that the company has chosen.
func (s *Service) Gateway(ctx context.Context, a account.Actor) (Setup, error) {
	u, err := s.active(ctx, s.db, a.Company.ID)
	if err != nil {
		return Setup{}, err
	}
	return s.describe(u)
}

// active finds the setup in use; none is a fault of the field gateway.
func (s *Service) active(ctx context.Context, q sqldb.Querier, companyID int64) (Setup, error) {
	u, err := activeSetup(ctx, q, companyID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return u, errNoGateway()
	}
	u.Provider = s.providers[u.name]
	return u, err
}

// ClearGateway leaves the company without a gateway. Charges that can still be
// paid are looked after all the same.
func (s *Service) ClearGateway(ctx context.Context, a account.Actor) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		u, err := s.active(ctx, tx, a.Company.ID)
		if err != nil {
			return err
		}
		if err := deactivateAll(ctx, tx, a.Company.ID); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, account.AuditEntry{Action: "gateway.cleared", Record: "gateway", ID: u.ID, Name: u.Provider.Title, Before: s.shown(u)})
	})
}

// CheckGateway asks the gateway whether the credentials work, and has one that
// can be told so call back to us.
func (s *Service) CheckGateway(ctx context.Context, a account.Actor) error {
	u, err := s.active(ctx, s.db, a.Company.ID)
	if err != nil {
		return err
	}
	gw, err := s.open(u)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	err = s.call(ctx, callAbout{u, "check", ""}, func(ctx context.Context) error { return gw.Check(ctx) })
	if r, ok := gw.(Registrar); ok && err == nil {
		err = s.call(ctx, callAbout{u, "register", ""}, func(ctx context.Context) error { return r.Register(ctx) })
	}
	written := a.Write(ctx, s.db, func(tx *sqldb.Tx) error { return heardTx(ctx, tx, u, err) })
	return errors.Join(explain(u, err), written)
}

// opened keeps gateways open: some have tokens or keys that they got from the
// provider.
type opened struct {
	mu   sync.Mutex
	byID map[int64]openGateway
}

type openGateway struct {
	sealed string // of the options it was opened with
	Gateway
}

// open makes the gateway of a setup, or returns the one that was made before.
func (s *Service) open(u Setup) (Gateway, error) {
	s.opened.mu.Lock()
	defer s.opened.mu.Unlock()
	if known, ok := s.opened.byID[u.ID]; ok && known.sealed == u.sealed {
		return known.Gateway, nil
	}
	if u.Provider.Open == nil {
		return nil, fmt.Errorf("this program has no gateway %q", u.name)
	}
	options, err := s.unseal(u)
	if err != nil {
		return nil, err
	}
	gw, err := u.Provider.Open(options, s.env(u))
	if err != nil {
		return nil, fmt.Errorf("open gateway %d: %w", u.ID, err)
	}
	if s.opened.byID == nil {
		s.opened.byID = map[int64]openGateway{}
	}
	s.opened.byID[u.ID] = openGateway{u.sealed, gw}
	return gw, nil
}
