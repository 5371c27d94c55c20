package payment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"carteira/internal/account"
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
	return options, json.Unmarshal(plain, &options)
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
		return setup, errNoGateway()
	}
	setup.Provider = s.providers[setup.name]
	return setup, err
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
