package reminder

import (
	"context"
	"errors"
	"fmt"

	"carteira/internal/account"
)

// CheckChannels opens each of a company's channels, which proves that its
// secrets can be read, and asks whether its addresses may be reached. It sends
// nothing. It returns how many channels there are.
func (s *Service) CheckChannels(ctx context.Context, actor account.Actor) (int, error) {
	channels, err := s.Channels(ctx, actor)
	if err != nil {
		return 0, err
	}
	var failures []error
	for _, channel := range channels {
		if err := s.checkChannel(ctx, channel); err != nil {
			failures = append(failures, fmt.Errorf("channel %d: %w", channel.ID, err))
		}
	}
	return len(channels), errors.Join(failures...)
}

func (s *Service) checkChannel(ctx context.Context, channel Channel) error {
	kind, ok := s.kind(channel.Kind)
	if !ok {
		return fmt.Errorf("this installation does not know channels of the kind %s", channel.Kind)
	}
	secrets, err := s.open(channel)
	if err != nil {
		return err
	}
	return s.tryOptions(ctx, kind, channel.Options, secrets)
}
