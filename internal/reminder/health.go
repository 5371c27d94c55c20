package reminder

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// failingAfter is how many attempts in a row have to fail before a person is
// told: one customer with a wrong number is no matter of the channel.
const failingAfter = 3

// Failing tells whether a channel needs somebody to look at it.
func (c Channel) Failing() bool {
	return c.Active && c.Failures >= failingAfter
}

// recordHealth keeps count of the attempts that failed since one succeeded.
func recordHealth(ctx context.Context, tx *sqldb.Tx, companyID int64, channel Channel, outcome outcome) error {
	switch {
	case outcome.verdict != accepted:
		return addProblem(ctx, tx, companyID, channel.ID, outcome.problem)
	case channel.hears(tx.Now()): // a message that was taken may fail yet: reports say whether it works
		return nil
	}
	return clearProblem(ctx, tx, companyID, channel.ID)
}

// Attention is what waits for a person.
type Attention struct {
	Unknown int64     // messages that may or may not have been sent
	Failing []Channel // channels whose last attempts all failed
}

// Attention finds what waits for a person.
func (s *Service) Attention(ctx context.Context, actor account.Actor) (Attention, error) {
	count, err := countUnknown(ctx, s.db, actor.Company.ID)
	if err != nil {
		return Attention{}, err
	}
	list, err := channels(ctx, s.db, actor.Company.ID)
	out := Attention{Unknown: count}
	for _, channel := range list {
		if channel.Failing() {
			out.Failing = append(out.Failing, channel)
		}
	}
	return out, err
}
