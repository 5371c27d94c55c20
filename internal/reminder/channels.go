package reminder

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Channel is a company's way to send messages.
type Channel struct {
	ID        int64
	Kind      string
	Name      string
	Options   map[string]string // those that are no secret
	Active    bool
	PerMinute int // 0: as fast as it goes
	Failures  int // attempts that failed since one succeeded
	Problem   string
	ProblemAt time.Time // of the last of them
	CreatedAt time.Time
	UpdatedAt time.Time

	sealed string
	nextAt time.Time
}

// maxPerMinute keeps the time between two messages above a hundredth of a
// second.
const maxPerMinute = 6000

// Channels lists the company's.
func (s *Service) Channels(ctx context.Context, a account.Actor) ([]Channel, error) {
	return channels(ctx, s.db, a.Company.ID)
}

// FindChannel returns one of them.
func (s *Service) FindChannel(ctx context.Context, a account.Actor, channelID int64) (Channel, error) {
	return channelByID(ctx, s.db, a.Company.ID, channelID)
}

// CreateChannel makes a channel from the fields kind, name, per_minute, active
// and the options of its kind, each under its own name. Secrets that it made by
// itself are in shown, and are not shown again.
func (s *Service) CreateChannel(ctx context.Context, a account.Actor, in *input.Form) (c Channel, shown map[string]string, err error) {
	in.Require("kind")
	names := make([]string, len(s.options.Kinds))
	for i, k := range s.options.Kinds {
		names[i] = k.Name
	}
	kindName, _ := in.Choice("kind", names...).Get()
	kind, ok := s.kind(kindName)
	if !ok {
		return c, nil, in.Err()
	}
	c = Channel{Kind: kind.Name, Name: kind.Title, Active: true, PerMinute: kind.PerMinute, Options: map[string]string{}}
	s.readChannel(in, &c)
	secrets, shown := map[string]string{}, map[string]string{}
	for _, o := range kind.Options {
		if o.Generated && !in.Sent(o.Name) {
			secrets[o.Name] = "whsec_" + id.NewCode(40)
			shown[o.Name] = secrets[o.Name]
		}
		if o.Required && o.Default == "" {
			in.Require(o.Name)
		}
	}
	readOptions(in, kind, c.Options, secrets)
	if err := s.tryOptions(ctx, in, kind, c.Options, secrets); err != nil {
		return c, nil, err
	}
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		c.CreatedAt, c.UpdatedAt = tx.Now(), tx.Now()
		if c.ID, err = insertChannel(ctx, tx, a.Company.ID, c); err != nil {
			return err
		}
		c.sealed = s.seal(c.ID, secrets)
		if err := setSecrets(ctx, tx, a.Company.ID, c.ID, c.sealed); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, c.deed("created", nil, c.fields()))
	})
	return c, shown, err
}

// UpdateChannel changes what is given; a secret that is not given stays. What
// was wrong with the channel is forgotten, since it may be right now.
func (s *Service) UpdateChannel(ctx context.Context, a account.Actor, channelID int64, in *input.Form) (Channel, error) {
	in.Ignore("kind")
	in.MustNotClear("name")
	before, err := s.FindChannel(ctx, a, channelID)
	if err != nil {
		return before, err
	}
	kind, ok := s.kind(before.Kind)
	if !ok {
		return before, fault.Conflict("this installation does not know channels of the kind " + before.Kind)
	}
	for _, o := range kind.Options {
		if o.Required {
			in.MustNotClear(o.Name)
		}
	}
	secrets, err := s.open(before)
	if err != nil {
		return before, err
	}
	options := maps.Clone(before.Options)
	readOptions(in, kind, options, secrets)
	s.readChannel(in, &before)
	if err := s.tryOptions(ctx, in, kind, options, secrets); err != nil { // looks names up: not in the transaction
		return before, err
	}
	var c Channel
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if c, err = lockChannel(ctx, tx, a.Company.ID, channelID); err != nil {
			return err
		}
		known := c.fields()
		s.readChannel(in, &c)
		c.Options, c.sealed, c.UpdatedAt = options, s.seal(c.ID, secrets), tx.Now()
		c.Failures, c.Problem, c.ProblemAt = 0, "", time.Time{}
		tx.OnCommit(s.wake.Hint)
		if err := updateChannel(ctx, tx, a.Company.ID, c); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, c.deed("updated", known, c.fields()))
	})
	return c, err
}

// DeleteChannel removes a channel that no rule uses.
func (s *Service) DeleteChannel(ctx context.Context, a account.Actor, channelID int64) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		c, err := lockChannel(ctx, tx, a.Company.ID, channelID)
		if err != nil {
			return err
		}
		list, err := rules(ctx, tx, a.Company.ID)
		if err != nil {
			return err
		}
		for _, r := range list {
			if slices.Contains(r.Channels, channelID) {
				return fault.Conflict(fmt.Sprintf("rule %d, %s, uses this channel", r.ID, r.Name))
			}
		}
		if err := skipLane(ctx, tx, a.Company.ID, channelID, "the channel was deleted"); err != nil {
			return err
		}
		if err := removeChannel(ctx, tx, a.Company.ID, channelID); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, c.deed("deleted", c.fields(), nil))
	})
}

func (s *Service) readChannel(in *input.Form, c *Channel) {
	in.Ignore("id", "created_at", "updated_at", "options")
	if v, ok := in.Line("name", 100).Get(); ok && v != "" {
		c.Name = v
	}
	if v, ok := in.Bool("active").Get(); ok && in.Sent("active") {
		c.Active = v
	}
	if v, ok := in.Int("per_minute", 0, maxPerMinute).Get(); ok && in.Sent("per_minute") {
		c.PerMinute = int(v)
	}
}

// readOptions puts what a form says into the options and the secrets.
func readOptions(in *input.Form, kind Kind, options, secrets map[string]string) {
	for _, o := range kind.Options {
		into := options
		if o.Secret {
			into = secrets
		}
		v, ok := readOption(in, o)
		switch {
		case ok && v != "":
			into[o.Name] = v
		case ok && !o.Secret: // an emptied secret stays: forms show none
			delete(into, o.Name)
		}
		if _, has := into[o.Name]; !has && o.Default != "" {
			into[o.Name] = o.Default
		}
	}
}

func readOption(in *input.Form, o Option) (string, bool) {
	if len(o.Choices) > 0 {
		return in.Choice(o.Name, o.Choices...).Get()
	}
	return in.Line(o.Name, 2000).Get()
}

// tryOptions opens a sender to see whether the options will do.
func (s *Service) tryOptions(ctx context.Context, in *input.Form, kind Kind, options, secrets map[string]string) error {
	if err := in.Err(); err != nil {
		return err
	}
	all := maps.Clone(options)
	maps.Copy(all, secrets)
	if _, err := kind.Open(all, s.options.Env); err != nil {
		return err
	}
	if kind.Check == nil {
		return nil
	}
	return kind.Check(ctx, all, s.options.Env)
}

// sender opens a channel.
func (s *Service) sender(c Channel) (Sender, error) {
	kind, ok := s.kind(c.Kind)
	if !ok {
		return nil, &Refusal{Reason: "this installation does not know channels of the kind " + c.Kind}
	}
	all, err := s.open(c)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, c.Options)
	return kind.Open(all, s.options.Env)
}

func channelContext(channelID int64) string { return fmt.Sprintf("reminder-channel:%d", channelID) }

func (s *Service) seal(channelID int64, secrets map[string]string) string {
	plain, _ := json.Marshal(secrets) // texts always encode
	return s.box.Seal(plain, channelContext(channelID))
}

func (s *Service) open(c Channel) (map[string]string, error) {
	plain, err := s.box.Open(c.sealed, channelContext(c.ID))
	if err != nil {
		return nil, fmt.Errorf("secrets of channel %d: %w", c.ID, err)
	}
	secrets := map[string]string{}
	return secrets, json.Unmarshal(plain, &secrets)
}

// Reseal seals with the current key what an older one sealed, so that after a
// change of key the old one can be put away.
func (s *Service) Reseal(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		stale, err := sealedBefore(ctx, tx, s.box.CurrentID())
		if err != nil {
			return err
		}
		for _, old := range stale {
			secrets, err := s.open(Channel{ID: old.channelID, sealed: old.sealed})
			if err != nil {
				return err
			}
			if err := setSecrets(ctx, tx, old.companyID, old.channelID, s.seal(old.channelID, secrets)); err != nil {
				return err
			}
		}
		return nil
	})
}
