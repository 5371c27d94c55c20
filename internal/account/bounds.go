package account

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Bounds are how much of what costs space or calls others a company may have.
type Bounds struct {
	Tokens      int64
	Customers   int64         // 0: as many as it likes
	Uploads     int64         // files that wait to be imported
	UploadBytes int64         // of all of them
	Outgoing    int           // posts of the panel that call others, in OutgoingIn
	OutgoingIn  time.Duration // the span that Outgoing is counted in
}

// Bounds are the company's. A stranger who made the company through a signup link
// has much less until somebody pays for it.
func (c Company) Bounds() Bounds {
	if c.Subscription.Anonymous {
		return Bounds{
			Tokens:      2,
			Customers:   300,
			Uploads:     2,
			UploadBytes: 1 << 20,
			Outgoing:    5,
			OutgoingIn:  time.Hour,
		}
	}
	return Bounds{
		Tokens:      50,
		Uploads:     10,
		UploadBytes: 64 << 20,
		Outgoing:    30,
		OutgoingIn:  15 * time.Minute,
	}
}

// roomForToken refuses one token too many. The company is locked, so that two at
// once cannot both be the last.
func roomForToken(ctx context.Context, tx *sqldb.Tx, actor Actor) error {
	company, err := lockCompany(ctx, tx, actor.Company.ID)
	if err != nil {
		return err
	}
	n, err := countTokens(ctx, tx, company.ID)
	if limit := company.Bounds().Tokens; err == nil && n >= limit {
		err = fault.Field(
			"name",
			fmt.Sprintf("the company has %d tokens, the most there can be; delete one that is not used", limit),
		)
	}
	return err
}

// CountOutgoing counts a post of the panel that calls somebody else's machine,
// and refuses one too many.
func (s *Service) CountOutgoing(ctx context.Context, actor Actor) error {
	bounds := actor.Company.Bounds()
	err := s.countAttempt(
		ctx,
		[]quota{{"outgoing:" + strconv.FormatInt(actor.Company.ID, 10), bounds.Outgoing, bounds.OutgoingIn}},
	)
	if fault.KindOf(err) == fault.KindRateLimited {
		return fault.Later(
			fault.New(fault.KindRateLimited, "too many tests of other machines; wait a little and try again"),
			bounds.OutgoingIn,
		)
	}
	return err
}
