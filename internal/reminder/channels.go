package reminder

import (
	"context"
	"encoding/json"
	"errors"
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

// Channels lists the channels of the company.
func (s *Service) Channels(ctx context.Context, a account.Actor) ([]Channel, error) {
	return channels(ctx, s.db, a.Company.ID)
}

// FindChannel returns a channel of the company.
func (s *Service) FindChannel(ctx context.Context, a account.Actor, channelID int64) (Channel, error) {
	return channelByID(ctx, s.db, a.Company.ID, channelID)
}

// ChannelDraft is what a caller wants a channel to be; a change leaves alone
// what is not given. An emptied secret stays: forms show none.
type ChannelDraft struct {
	Kind      string // of a new channel
	Name      input.Opt[string]
	Active    input.Opt[bool]
	PerMinute input.Opt[int64]
	Options   map[string]input.Opt[string] // by the names of the kind's options, secrets too

	Problems input.Problems
}

// ReadNewChannel reads a new channel from the fields kind, name, per_minute,
// active and the options of its kind, each under its own name.
func (s *Service) ReadNewChannel(in *input.Form) ChannelDraft {
	in.Require("kind")
	names := make([]string, len(s.options.Kinds))
	for i, k := range s.options.Kinds {
		names[i] = k.Name
	}
	name := in.Choice("kind", names...).Value
	kind, ok := s.kind(name)
	if !ok {
		return ChannelDraft{Problems: in.Problems()}
	}
	for _, o := range kind.Options {
		if o.Required && o.Default == "" {
			in.Require(o.Name)
		}
	}
	return readChannel(in, kind)
}

// ReadChannelChanges reads changes of a channel, whose kind says which options
// there are.
func (s *Service) ReadChannelChanges(ctx context.Context, a account.Actor, channelID int64, in *input.Form) (ChannelDraft, error) {
	kind, err := s.kindOfChannel(ctx, a, channelID)
	if err != nil {
		return ChannelDraft{}, err
	}
	in.Ignore("kind")
	in.MustNotClear("name")
	for _, o := range kind.Options {
		if o.Required {
			in.MustNotClear(o.Name)
		}
	}
	return readChannel(in, kind), nil
}

// kindOfChannel finds the kind of a channel.
func (s *Service) kindOfChannel(ctx context.Context, a account.Actor, channelID int64) (Kind, error) {
	c, err := s.FindChannel(ctx, a, channelID)
	if err != nil {
		return Kind{}, err
	}
	kind, ok := s.kind(c.Kind)
	if !ok {
		return kind, fault.Conflict("this installation does not know channels of the kind " + c.Kind)
	}
	return kind, nil
}

func readChannel(in *input.Form, kind Kind) ChannelDraft {
	in.Ignore("id", "created_at", "updated_at", "options")
	d := ChannelDraft{
		Kind: kind.Name, Name: in.Line("name", 100), Active: in.Bool("active"), PerMinute: in.Int("per_minute", 0, maxPerMinute),
		Options: map[string]input.Opt[string]{},
	}
	for _, o := range kind.Options {
		if len(o.Choices) > 0 {
			d.Options[o.Name] = in.Choice(o.Name, o.Choices...)
		} else {
			d.Options[o.Name] = in.Line(o.Name, 2000)
		}
	}
	d.Problems = in.Problems()
	return d
}

// to sets what is given, options and secrets by the list of the kind.
func (d ChannelDraft) to(c *Channel, kind Kind, secrets map[string]string) {
	c.Name = d.Name.Or(c.Name)
	c.Active = d.Active.Or(c.Active)
	c.PerMinute = int(d.PerMinute.Or(int64(c.PerMinute)))
	for _, o := range kind.Options {
		into, given := c.Options, d.Options[o.Name]
		if o.Secret {
			into = secrets
		}
		switch {
		case given.Value != "":
			into[o.Name] = given.Value
		case given.Given() && !o.Secret:
			delete(into, o.Name)
		}
		if _, has := into[o.Name]; !has && o.Default != "" {
			into[o.Name] = o.Default
		}
	}
}

// CreateChannel makes a channel. Secrets that it made by itself are in shown,
// and are not shown again.
func (s *Service) CreateChannel(ctx context.Context, a account.Actor, d ChannelDraft) (c Channel, shown map[string]string, err error) {
	if err := d.Problems.Err(); err != nil {
		return c, nil, err
	}
	kind, ok := s.kind(d.Kind)
	if !ok {
		return c, nil, fault.Field("kind", "is not known to this installation")
	}
	c = Channel{Kind: kind.Name, Name: kind.Title, Active: true, PerMinute: kind.PerMinute, Options: map[string]string{}}
	secrets, shown := map[string]string{}, map[string]string{}
	for _, o := range kind.Options {
		if o.Generated && !d.Options[o.Name].HasValue() {
			secrets[o.Name] = "whsec_" + id.NewCode(40)
			shown[o.Name] = secrets[o.Name]
		}
	}
	d.to(&c, kind, secrets)
	if err := s.tryOptions(ctx, kind, c.Options, secrets); err != nil {
		return c, nil, err
	}
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		return s.applyChannel(ctx, tx, a, change[Channel]{after: &c}, secrets)
	})
	return c, shown, err
}

// errChannelChanged says that another change came between the trial of the
// options and the lock of the channel.
var errChannelChanged = fault.Conflict("another change of the channel was made at the same moment; try again")

// UpdateChannel changes what is given; a secret that is not given stays. What
// was wrong with the channel is forgotten, since it may be right now.
func (s *Service) UpdateChannel(ctx context.Context, a account.Actor, channelID int64, d ChannelDraft) (c Channel, err error) {
	const tries = 3
	for range tries {
		if c, err = s.updateChannel(ctx, a, channelID, d); !errors.Is(err, errChannelChanged) {
			break
		}
	}
	return c, err
}

// updateChannel tries the options outside the transaction, since that looks
// names up, and writes them only if the channel is still the one that was tried.
func (s *Service) updateChannel(ctx context.Context, a account.Actor, channelID int64, d ChannelDraft) (Channel, error) {
	tried, err := s.FindChannel(ctx, a, channelID)
	if err != nil {
		return tried, err
	}
	kind, ok := s.kind(tried.Kind)
	if !ok {
		return tried, fault.Conflict("this installation does not know channels of the kind " + tried.Kind)
	}
	if err := d.Problems.Err(); err != nil {
		return tried, err
	}
	secrets, err := s.open(tried)
	if err != nil {
		return tried, err
	}
	c := tried
	c.Options = maps.Clone(tried.Options)
	d.to(&c, kind, secrets)
	if err := s.tryOptions(ctx, kind, c.Options, secrets); err != nil {
		return tried, err
	}
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, err := lockChannel(ctx, tx, a.Company.ID, channelID)
		if err != nil {
			return err
		}
		if before.sealed != tried.sealed || !maps.Equal(before.Options, tried.Options) {
			return errChannelChanged
		}
		c = before
		c.Options = maps.Clone(before.Options)
		d.to(&c, kind, secrets)
		c.Failures, c.Problem, c.ProblemAt = 0, "", time.Time{}
		tx.OnCommit(s.wake.Hint)
		return s.applyChannel(ctx, tx, a, change[Channel]{&before, &c}, secrets)
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
		return s.applyChannel(ctx, tx, a, change[Channel]{before: &c}, nil)
	})
}

// tryOptions opens a sender to see whether the options will do.
func (s *Service) tryOptions(ctx context.Context, kind Kind, options, secrets map[string]string) error {
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
