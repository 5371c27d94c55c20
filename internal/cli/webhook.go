package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/webhook"
)

func webhookCommand() *cobra.Command {
	replay := addID(act(&cobra.Command{
		Use:   "replay",
		Short: "Send again what happened since a time and was not delivered",
		Long: `Replay asks for every event since a time that the webhook wants and has not
confirmed: what happened while it was off, what it refused, what failed. The
server sends them in the background, beside what is new.`,
		Example: `  carteira webhook replay --company 1 --id 3 --since 2027-01-31
  carteira webhook replay --company 1 --id 3 --since 2027-01-31T18:00:00-03:00`,
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id, _ := in.ID("id").Get()
		since, err := readSince(in, actor.Company.Zone)
		if err != nil {
			return nil, err
		}
		r, err := program.Webhooks.StartReplay(ctx, actor, id, since)
		return map[string]any{"id": r.ID, "webhook_id": r.WebhookID, "since": when(r.Since, actor.Company.Zone)}, err
	}), "webhook")
	replay.Flags().String("since", "", "a day such as 2027-01-31, or a time such as 2027-01-31T18:00:00-03:00")
	must(replay.MarkFlagRequired("since"))

	cmd := &cobra.Command{Use: "webhook", Short: "Webhooks: list, replay, rotate", Args: cobra.NoArgs}
	cmd.AddCommand(replay, rotateCommand(), rotateCallbackCommand(), list("List a company's webhooks",
		[]string{"ID", "URL", "EVENTS", "ACTIVE", "FAILURES", "NOTICE"},
		func(ctx context.Context, program *app.App, actor account.Actor) ([]webhook.Webhook, error) {
			return program.Webhooks.List(ctx, actor)
		},
		func(_ account.Actor, hook webhook.Webhook) []any {
			names := make([]string, len(hook.Events))
			for i, event := range hook.Events {
				names[i] = string(event)
			}
			return []any{
				hook.ID, hook.URL, strings.Join(names, " "), hook.Active, hook.Failures,
				hook.Notice,
			}
		}))
	return cmd
}

func rotateCommand() *cobra.Command {
	return addID(act(&cobra.Command{
		Use:   "rotate",
		Short: "Replace the secret of a webhook; for 24 hours the old one signs too",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id, _ := in.ID("id").Get()
		secret, err := program.Webhooks.RotateSecret(ctx, actor, id)
		return map[string]any{"webhook_id": id, "secret": secret}, err
	}), "webhook")
}

func rotateCallbackCommand() *cobra.Command {
	return act(&cobra.Command{
		Use:   "rotate-callback",
		Short: "Replace the callback secret; for 24 hours the old one signs too",
	}, func(ctx context.Context, program *app.App, actor account.Actor, _ *input.Form) (any, error) {
		secret, err := program.Webhooks.RotateCallbackSecret(ctx, actor)
		return map[string]any{"secret": secret}, err
	})
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
