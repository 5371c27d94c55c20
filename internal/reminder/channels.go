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
	"carteira/internal/platform/rows"
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
	HeardAt   time.Time // when its carrier last reported on messages
	CreatedAt time.Time
	UpdatedAt time.Time

	// CallbackKey is in the address that the carrier calls, VerifyToken what it
	// asks for there once.
	CallbackKey string
	VerifyToken string

	sealed string
	nextAt time.Time
}

// maxPerMinute keeps the time between two messages above a hundredth of a
// second.
const maxPerMinute = 6000

// Channels lists the channels of the company.
func (s *Service) Channels(ctx context.Context, actor account.Actor) ([]Channel, error) {
	return channels(ctx, s.db, actor.Company.ID)
}

// FindChannel returns a channel of the company.
func (s *Service) FindChannel(ctx context.Context, actor account.Actor, channelID int64) (Channel, error) {
	return channelByID(ctx, s.db, actor.Company.ID, channelID)
}

// ChannelDraft is what a caller wants a channel to be; a change leaves alone
// what is not given. An emptied secret stays: forms show none.
type ChannelDraft struct {
	Kind      string // of a new channel
	Name      input.Opt[string]
	Active    input.Opt[bool]
	PerMinute input.Opt[int]
	Options   map[string]input.Opt[string] // by the names of the kind's options, secrets too

	Problems input.Problems
}

// ReadNewChannel reads a new channel from the fields kind, name, per_minute,
// active and the options of its kind, each under its own name.
func (s *Service) ReadNewChannel(in *input.Form) ChannelDraft {
	in.Require("kind")
	names := make([]string, len(s.options.Kinds))
	for i, kind := range s.options.Kinds {
		names[i] = kind.Name
	}
	name := in.Choice("kind", names...).Value
	kind, ok := s.kind(name)
	if !ok {
		return ChannelDraft{Problems: in.Problems()}
	}
	for _, option := range kind.Options {
		if option.Required && option.Default == "" {
			in.Require(option.Name)
		}
	}
	return readChannel(in, kind)
}

// ReadChannelChanges reads changes of a channel. Its kind decides which
// options there are.
func (s *Service) ReadChannelChanges(
	ctx context.Context, actor account.Actor, channelID int64, in *input.Form,
) (ChannelDraft, error) {
	kind, err := s.kindOfChannel(ctx, actor, channelID)
	if err != nil {
		return ChannelDraft{}, err
	}
	in.Ignore("kind")
	in.MustNotClear("name")
	for _, option := range kind.Options {
		if option.Required {
			in.MustNotClear(option.Name)
		}
	}
	return readChannel(in, kind), nil
}

// kindOfChannel finds the kind of a channel.
func (s *Service) kindOfChannel(ctx context.Context, actor account.Actor, channelID int64) (Kind, error) {
	channel, err := s.FindChannel(ctx, actor, channelID)
	if err != nil {
		return Kind{}, err
	}
	kind, ok := s.kind(channel.Kind)
	if !ok {
		return kind, fault.Conflict("this installation does not know channels of the kind " + channel.Kind)
	}
	return kind, nil
}

func readChannel(in *input.Form, kind Kind) ChannelDraft {
	in.Ignore("id", "created_at", "updated_at", "options")
	draft := ChannelDraft{Kind: kind.Name, Options: map[string]input.Opt[string]{}}
	ChannelFields.Read(in, &draft)
	for _, option := range kind.Options {
		if len(option.Choices) > 0 {
			draft.Options[option.Name] = in.Choice(option.Name, option.Choices...)
		} else {
			draft.Options[option.Name] = in.Line(option.Name, 2000)
		}
	}
	draft.Problems = in.Problems()
	return draft
}

// to sets what is given, options and secrets by the list of the kind.
func (d ChannelDraft) to(channel *Channel, kind Kind, secrets map[string]string) {
	ChannelFields.To(&d, channel)
	for _, option := range kind.Options {
		into, given := channel.Options, d.Options[option.Name]
		if option.Secret {
			into = secrets
		}
		switch {
		case given.Value != "":
			into[option.Name] = given.Value
		case given.Given() && !option.Secret:
			delete(into, option.Name)
		}
		if _, has := into[option.Name]; !has && option.Default != "" {
			into[option.Name] = option.Default
		}
	}
}

// hostOptions are the options that say which machine the secrets of a channel are
// sent to.
var hostOptions = []string{"host", "port", "security", "base_url"}

// secretsForNewHost refuses a draft that would send stored secrets to another
// machine than the one they were typed for.
func (d ChannelDraft) secretsForNewHost(channel Channel, kind Kind, secrets map[string]string) error {
	moved := slices.ContainsFunc(hostOptions, func(name string) bool {
		given := d.Options[name]
		return given.Given() && given.Value != channel.Options[name]
	})
	var refused fault.Fields
	for _, option := range kind.Options {
		if moved && option.Secret && secrets[option.Name] != "" && d.Options[option.Name].Value == "" {
			refused.Add(option.Name, "must be typed again, since the address it is sent to changes")
		}
	}
	return refused.Err()
}

// CreateChannel makes a channel. Secrets that it made by itself are in shown,
// and are not shown again.
func (s *Service) CreateChannel(
	ctx context.Context, actor account.Actor, draft ChannelDraft,
) (channel Channel, shown map[string]string, err error) {
	if err := draft.Problems.Err(); err != nil {
		return channel, nil, err
	}
	kind, ok := s.kind(draft.Kind)
	if !ok {
		return channel, nil, fault.Field("kind", "is not known to this installation")
	}
	channel = Channel{
		Kind:      kind.Name,
		Name:      kind.Title,
		Active:    true,
		PerMinute: kind.PerMinute,
		Options:   map[string]string{},

		CallbackKey: id.NewCode(32),
		VerifyToken: id.NewCode(32),
	}
	secrets, shown := map[string]string{}, map[string]string{}
	for _, option := range kind.Options {
		if option.Generated && !draft.Options[option.Name].HasValue() {
			secrets[option.Name] = "whsec_" + id.NewCode(40)
			shown[option.Name] = secrets[option.Name]
		}
	}
	draft.to(&channel, kind, secrets)
	if err := s.tryOptions(ctx, kind, channel.Options, secrets); err != nil {
		return channel, nil, err
	}
	err = actor.Write(ctx, s.db, func(tx account.Tx) error {
		return s.applyChannel(ctx, tx, change[Channel]{after: &channel}, secrets)
	})
	return channel, shown, err
}

// errChannelChanged says that another change came between the trial of the
// options and the lock of the channel.
var errChannelChanged = fault.Conflict("another change of the channel was made at the same moment; try again")

// UpdateChannel changes what is given; a secret that is not given stays. What
// was wrong with the channel is forgotten, since it may be right now.
func (s *Service) UpdateChannel(
	ctx context.Context, actor account.Actor, channelID int64, draft ChannelDraft,
) (channel Channel, err error) {
	const tries = 3
	for range tries {
		channel, err = s.updateChannel(ctx, actor, channelID, draft)
		if !errors.Is(err, errChannelChanged) {
			break
		}
	}
	return channel, err
}

// updateChannel tries the options outside the transaction, since that looks
// names up, and writes them only if the channel is still the one that was tried.
func (s *Service) updateChannel(
	ctx context.Context, actor account.Actor, channelID int64, draft ChannelDraft,
) (Channel, error) {
	tried, err := s.FindChannel(ctx, actor, channelID)
	if err != nil {
		return tried, err
	}
	kind, ok := s.kind(tried.Kind)
	if !ok {
		return tried, fault.Conflict("this installation does not know channels of the kind " + tried.Kind)
	}
	if err := draft.Problems.Err(); err != nil {
		return tried, err
	}
	secrets, err := s.open(tried)
	if err != nil {
		return tried, err
	}
	channel := tried
	channel.Options = maps.Clone(tried.Options)
	if err := draft.secretsForNewHost(tried, kind, secrets); err != nil {
		return tried, err
	}
	draft.to(&channel, kind, secrets)
	if err := s.tryOptions(ctx, kind, channel.Options, secrets); err != nil {
		return tried, err
	}
	err = actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := lockChannel(ctx, tx, channelID)
		if err != nil {
			return err
		}
		if before.sealed != tried.sealed || !maps.Equal(before.Options, tried.Options) {
			return errChannelChanged
		}
		channel = before
		channel.Options = maps.Clone(before.Options)
		draft.to(&channel, kind, secrets)
		channel.Failures, channel.Problem, channel.ProblemAt = 0, "", time.Time{}
		tx.OnCommit(s.wake.Hint)
		return s.applyChannel(ctx, tx, change[Channel]{&before, &channel}, secrets)
	})
	return channel, err
}

// DeleteChannel removes a channel that no rule uses.
func (s *Service) DeleteChannel(ctx context.Context, actor account.Actor, channelID int64) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		channel, err := lockChannel(ctx, tx, channelID)
		if err != nil {
			return err
		}
		list, err := rules(ctx, tx, actor.Company.ID)
		if err != nil {
			return err
		}
		for _, rule := range list {
			if slices.Contains(rule.Channels, channelID) {
				return fault.Conflict(fmt.Sprintf("rule %d, %s, uses this channel", rule.ID, rule.Name))
			}
		}
		err = tx.Do(ctx, `
			UPDATE reminder_messages SET status = 'skipped', reason = ?, claim = '', updated_at = ?
			WHERE company_id = ? AND channel_id = ? AND status = 'scheduled'`, "the channel was deleted",
			tx.Now().UnixMicro(), tx.Company.ID, channelID)
		if err != nil {
			return err
		}
		return s.applyChannel(ctx, tx, change[Channel]{before: &channel}, nil)
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
func (s *Service) sender(channel Channel) (Sender, error) {
	kind, ok := s.kind(channel.Kind)
	if !ok {
		return nil, &Refusal{Reason: "this installation does not know channels of the kind " + channel.Kind}
	}
	all, err := s.open(channel)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, channel.Options)
	return kind.Open(all, s.options.Env)
}

func channelContext(channelID int64) string {
	return fmt.Sprintf("reminder-channel:%d", channelID)
}

func (s *Service) seal(channelID int64, secrets map[string]string) string {
	plain, _ := json.Marshal(secrets) // texts always encode
	return s.box.Seal(plain, channelContext(channelID))
}

func (s *Service) open(channel Channel) (map[string]string, error) {
	plain, err := s.box.Open(channel.sealed, channelContext(channel.ID))
	if err != nil {
		return nil, fmt.Errorf("secrets of channel %d: %w", channel.ID, err)
	}
	secrets := map[string]string{}
	err = json.Unmarshal(plain, &secrets)
	return secrets, err
}

// SecretNames lists the secrets that a channel has, by the names of its options.
func (s *Service) SecretNames(channel Channel) ([]string, error) {
	secrets, err := s.open(channel)
	return slices.Sorted(maps.Keys(secrets)), err
}

// Reseal seals with the current key what an older one sealed, so that after a
// change of key the old one can be put away.
func (s *Service) Reseal(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		stale, err := sqldb.All(ctx, tx, rows.Into(func(secrets *sealedSecrets) []any {
			return []any{&secrets.companyID, &secrets.channelID, &secrets.sealed}
		}), `SELECT company_id, id, secrets FROM reminder_channels WHERE secrets NOT LIKE ?
			AND secrets <> '' /* every company_id */`, "v1."+s.box.CurrentID()+".%")
		if err != nil {
			return err
		}
		for _, old := range stale {
			secrets, err := s.open(Channel{ID: old.channelID, sealed: old.sealed})
			if err != nil {
				return err
			}
			err = setSecrets(ctx, tx, old.companyID, old.channelID, s.seal(old.channelID, secrets))
			if err != nil {
				return err
			}
		}
		return nil
	})
}
