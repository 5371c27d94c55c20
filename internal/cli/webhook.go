package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/webhook"
)

func webhookCommand() *cobra.Command {
	const idFlag = "\nid!:int id of the webhook"
	return group("webhook", "Webhooks: list, replay, rotate",
		act(command{
			use: "replay", short: "Send again what happened since a time and was not delivered",
			long: `Replay asks for every event since a time that the webhook wants and has not
confirmed: what happened while it was off, what it refused, what failed. The
server sends them in the background, beside what is new.`,
			example: `  carteira webhook replay --company 1 --id 3 --since 2027-01-31
  carteira webhook replay --company 1 --id 3 --since 2027-01-31T18:00:00-03:00`,
			flags: "since! a day such as 2027-01-31, or a time such as 2027-01-31T18:00:00-03:00" + idFlag,
		}, func(ctx context.Context, c call) (any, error) {
			since, err := readSince(c.in, c.actor.Company.Zone)
			if err != nil {
				return nil, err
			}
			replay, err := c.Webhooks.StartReplay(ctx, c.actor, c.id(), since)
			return map[string]any{
				"id": replay.ID, "webhook_id": replay.WebhookID, "since": when(replay.Since, c.actor.Company.Zone),
			}, err
		}),
		act(command{
			use: "rotate", short: "Replace the secret of a webhook; for 24 hours the old one signs too", flags: idFlag,
		}, func(ctx context.Context, c call) (any, error) {
			secret, err := c.Webhooks.RotateSecret(ctx, c.actor, c.id())
			return map[string]any{"webhook_id": c.id(), "secret": secret}, err
		}),
		act(command{
			use: "rotate-callback", short: "Replace the callback secret; for 24 hours the old one signs too",
		}, func(ctx context.Context, c call) (any, error) {
			secret, err := c.Webhooks.RotateCallbackSecret(ctx, c.actor)
			return map[string]any{"secret": secret}, err
		}),
		list(command{short: "List a company's webhooks"}, webhookColumns,
			func(ctx context.Context, c call) ([]webhook.Webhook, error) { return c.Webhooks.List(ctx, c.actor) }, webhookRow))
}

const webhookColumns = "ID,URL,EVENTS,ACTIVE,FAILURES,NOTICE"

func webhookRow(_ call, hook webhook.Webhook) []any {
	return []any{hook.ID, hook.URL, hook.Events, hook.Active, hook.Failures, hook.Notice}
}

// readSince reads a day of the company, or a moment.
func readSince(in *input.Form, zone *time.Location) (time.Time, error) {
	text, _ := in.Line("since", 64).Get()
	if day, err := civil.Parse(text); err == nil {
		return day.Start(zone), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fault.Field("since", "must be a day such as 2027-01-31, or a time such as 2027-01-31T18:00:00-03:00")
	}
	return at, nil
}
