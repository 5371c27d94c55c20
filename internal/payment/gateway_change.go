package payment

import (
	"context"
	"encoding/json"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

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
func (s *Service) applyGateway(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change *gatewayChange) error {
	if err := deactivateAll(ctx, tx, actor.Company.ID); err != nil {
		return err
	}
	if change.action == gatewaySet {
		if err := s.writeSetup(ctx, tx, &change.after); err != nil {
			return err
		}
	}
	if s.options.Told != nil {
		if err := s.options.Told(ctx, tx, actor, change.after.Provider.Title); err != nil {
			return err
		}
	}
	return account.WriteAudit(ctx, tx, actor, change.audit())
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
