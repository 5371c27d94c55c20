package reminder

import (
	"context"
	"maps"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
)

// PhoneState is how a channel is connected to the phone that it sends through.
type PhoneState string

// The states of a phone.
const (
	PhoneMissing   PhoneState = "missing"   // the bridge has no instance of the channel's name
	PhoneAway      PhoneState = "away"      // not connected
	PhoneWaiting   PhoneState = "waiting"   // the code is to be scanned
	PhoneConnected PhoneState = "connected" // messages go out
)

// Phone is the phone of a channel, as its bridge describes it.
type Phone struct {
	State     PhoneState
	Number    string   // digits, of a connected phone; empty where the bridge does not say
	Code      string   // what the QR code to scan says; empty while the bridge prepares it
	Instances []string // that the bridge has; only of PhoneMissing
}

// PhoneLink connects a channel to a phone by a QR code. What its bridge does not do
// is a *Refusal with a reason to show.
type PhoneLink interface {
	// Look asks the bridge, and changes nothing there.
	Look(ctx context.Context) (Phone, error)
	// Connect makes the instance where it is missing, and has the bridge show a code.
	Connect(ctx context.Context) error
	// Disconnect signs the phone out.
	Disconnect(ctx context.Context) error
}

// Phone asks the bridge of a channel for the state of its phone.
func (s *Service) Phone(ctx context.Context, actor account.Actor, channelID int64) (Phone, error) {
	link, _, err := s.phoneLink(ctx, actor, channelID)
	if err != nil {
		return Phone{}, err
	}
	return link.Look(ctx)
}

// ConnectPhone has the bridge of a channel show a code to scan.
func (s *Service) ConnectPhone(ctx context.Context, actor account.Actor, channelID int64) error {
	return s.changePhone(ctx, actor, channelID, "channel.phone_connected", PhoneLink.Connect)
}

// DisconnectPhone signs the phone of a channel out at its bridge.
func (s *Service) DisconnectPhone(ctx context.Context, actor account.Actor, channelID int64) error {
	return s.changePhone(ctx, actor, channelID, "channel.phone_disconnected", PhoneLink.Disconnect)
}

// changePhone writes the audit log first: the bridge may do it and its answer be lost.
func (s *Service) changePhone(
	ctx context.Context, actor account.Actor, channelID int64, action string, do func(PhoneLink, context.Context) error,
) error {
	link, channel, err := s.phoneLink(ctx, actor, channelID)
	if err != nil {
		return err
	}
	err = actor.Write(ctx, s.db, func(tx account.Tx) error {
		entry := account.AuditEntry{Action: action, Record: "channel", ID: channelID, Name: channel.Name}
		return account.WriteAudit(ctx, tx, entry)
	})
	if err != nil {
		return err
	}
	return do(link, ctx)
}

// phoneLink opens the link of a channel to its phone.
func (s *Service) phoneLink(ctx context.Context, actor account.Actor, channelID int64) (PhoneLink, Channel, error) {
	channel, err := s.FindChannel(ctx, actor, channelID)
	if err != nil {
		return nil, channel, err
	}
	kind, _ := s.kind(channel.Kind)
	if kind.Phone == nil {
		return nil, channel, fault.NotFound("channel")
	}
	all, err := s.open(channel)
	if err != nil {
		return nil, channel, err
	}
	maps.Copy(all, channel.Options)
	link, err := kind.Phone(all, s.options.Env)
	return link, channel, err
}
