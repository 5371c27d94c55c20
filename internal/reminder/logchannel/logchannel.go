// Package logchannel is the channel that sends nothing: it writes a line into
// the program's log for each message, for demonstrations. It does not log the
// text, which is the customer's business, but how long it is; the log of
// messages has the words.
package logchannel

import (
	"context"
	"log/slog"
	"strings"

	"carteira/internal/reminder"
)

// Kind is how companies choose it.
var Kind = reminder.Kind{
	Name:       "log",
	Title:      "Trial, without sending",
	Reach:      reminder.ByAny,
	Idempotent: true,
	About:      "Sends nothing: for trying things out. The log of messages shows what would have been sent.",
	Open:       func(_ map[string]string, env reminder.Env) (reminder.Sender, error) { return sender{env.Log}, nil },
}

// refusedEnd is how the numbers end that this channel refuses, so that a failure
// can be tried out too.
const refusedEnd = "0000"

type sender struct{ log *slog.Logger }

// Send implements reminder.Sender.
func (s sender) Send(ctx context.Context, letter reminder.Letter) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", &reminder.Passing{Reason: "interrupted"}
	}
	if strings.HasSuffix(letter.Whatsapp, refusedEnd) {
		return "", &reminder.Refusal{Reason: "trial: numbers that end in " + refusedEnd + " are refused"}
	}
	if s.log != nil {
		s.log.InfoContext(ctx, "message for the log only", "company_id", letter.CompanyID, "key", letter.ID,
			"customer_id", letter.CustomerID, "characters", len([]rune(letter.Text)))
	}
	return "log:" + letter.ID, nil
}
