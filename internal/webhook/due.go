package webhook

import (
	"context"
	"time"
)

// NextDue is when the next delivery is to be sent; zero: never, as things are.
func (s *Service) NextDue(ctx context.Context) (time.Time, error) { return s.sender.NextDue(ctx) }

// AwaitDue waits a while for what is due to be sent, by this process or another,
// and returns 1 when something was due. The clock of the installation must stand.
func (s *Service) AwaitDue(ctx context.Context) (int, error) {
	_, err := s.sender.AwaitDue(ctx)
	return 1, err
}
