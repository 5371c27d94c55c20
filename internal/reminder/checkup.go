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
func (s *Service) CheckChannels(ctx context.Context, a account.Actor) (int, error) {
	channels, err := s.Channels(ctx, a)
	if err != nil {
		return 0, err
	}
	var failures []error
	for _, c := range channels {
		if err := s.checkChannel(ctx, c); err != nil {
			failures = append(failures, fmt.Errorf("channel %d: %w", c.ID, err))
		}
	}
	return len(channels), errors.Join(failures...)
}

func (s *Service) checkChannel(ctx context.Context, c Channel) error {
	kind, ok := s.kind(c.Kind)
	if !ok {
		return fmt.Errorf("this installation does not know channels of the kind %s", c.Kind)
	}
	secrets, err := s.open(c)
	if err != nil {
		return err
	}
	return s.tryOptions(ctx, kind, c.Options, secrets)
}
