package cli

import (
	"context"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
)

func reminderCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reminder",
		Short: "Messages about due dates: rules, templates, channels, the log",
		Long: `Reminders are messages to customers about their due dates. A rule says how many
days before or after, at which hour, to whom, through which channels and in
which words. Nothing is sent until a rule is active.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(
		ruleCommand(), templateCommand(), channelCommand(),
		reminderLog(), reminderDecide(), reminderTest(), reminderPreview(), reminderOptOut(),
		reminderSettings(),
	)
	return cmd
}

func reminderLog() *cobra.Command {
	cmd := addJSON(addCompany(&cobra.Command{
		Use: "log", Short: "List messages, the newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCompany(cmd, func(ctx context.Context, program *app.App, actor account.Actor) error {
				in := form(cmd)
				filter, page := reminder.ReadFilter(in), in.Page()
				if err := in.Err(); err != nil {
					return err
				}
				messages, _, err := program.Reminders.Messages(ctx, actor, filter, page)
				if err != nil {
					return err
				}
				heading := []string{
					"ID", "STATUS", "ARRIVAL", "CUSTOMER ID", "CUSTOMER", "DUE DATE", "RULE", "CHANNEL", "AT",
					"REASON",
				}
				return printList(cmd, messages, heading, func(message reminder.Message) []any {
					at := message.UpdatedAt
					if message.Status == reminder.Scheduled {
						at = message.RunAt
					}
					return []any{
						message.ID, message.Status, message.Arrival, message.CustomerID, message.Customer,
						message.DueOn, message.RuleName, message.Channel,
						when(at, actor.Company.Zone), message.Reason,
					}
				})
			})
		},
	}))
	cmd.Flags().String("status", "", "scheduled, sending, sent, failed, skipped, unknown or dismissed")
	cmd.Flags().String("arrival", "", "what the carrier reported: sent, failed, delivered or read")
	cmd.Flags().Int64("customer-id", 0, "only messages to this customer")
	cmd.Flags().Int64("rule-id", 0, "only messages of this rule")
	cmd.Flags().Int64("channel-id", 0, "only messages of this channel")
	cmd.Flags().String("due-from", "", "due date on or after, YYYY-MM-DD")
	cmd.Flags().String("due-to", "", "due date on or before, YYYY-MM-DD")
	cmd.Flags().Int64("per-page", input.DefaultPageSize, "how many, at most 200")
	cmd.Flags().Int64("page", 1, "which of them")
	return cmd
}

func reminderDecide() *cobra.Command {
	cmd := addID(act(&cobra.Command{
		Use:   "decide",
		Short: "Say what becomes of a message that may or may not have been sent",
		Long: `Decide ends the doubt about a message with the status unknown: resend sends it
again, sent notes that it arrived, dismiss lets it be. What failed or was
skipped can be sent again too. Who has paid meanwhile gets nothing.`,
		Example: "  carteira reminder decide --company 1 --id 12 --as dismiss",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id, _ := in.ID("id").Get()
		decision, _ := in.Choice("as", string(reminder.Resend), string(reminder.MarkSent), string(reminder.Dismiss)).Get()
		if err := in.Err(); err != nil {
			return nil, err
		}
		message, err := program.Reminders.Decide(ctx, actor, id, reminder.Decision(decision))
		return map[string]any{"id": message.ID, "status": message.Status, "reason": message.Reason}, err
	}), "message")
	cmd.Flags().String("as", "", "resend, sent or dismiss")
	must(cmd.MarkFlagRequired("as"))
	return cmd
}

func reminderTest() *cobra.Command {
	cmd := act(&cobra.Command{
		Use:     "test",
		Short:   "Send a message through a channel now, and show what the carrier says",
		Example: "  carteira reminder test --company 1 --channel-id 2 --to ana@example.com",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id, _ := in.ID("channel_id").Get()
		asked, err := program.Reminders.ReadTest(ctx, actor, id, in)
		if err != nil {
			return nil, err
		}
		result, err := program.Reminders.Test(ctx, actor, id, asked)
		return map[string]any{
			"sent": result.Sent, "receipt": result.Receipt, "problem": result.Problem,
			"duration_ms": result.Duration.Milliseconds(),
		}, err
	})
	cmd.Flags().Int64("channel-id", 0, "id of the channel")
	cmd.Flags().String("to", "", "e-mail address or phone number")
	cmd.Flags().Int64("template-id", 0, "template to send (default: a plain sentence)")
	cmd.Flags().Int64("customer-id", 0, "customer to fill it with (default: samples)")
	must(cmd.MarkFlagRequired("channel-id"))
	return cmd
}

func reminderPreview() *cobra.Command {
	cmd := act(&cobra.Command{
		Use:     "preview",
		Short:   "Show a template as a customer would get it",
		Example: "  carteira reminder preview --company 1 --template-id 1 --customer-id 12",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		preview, err := program.Reminders.Preview(ctx, actor, reminder.PreviewRequest{
			TemplateID: in.ID("template_id").Value,
			CustomerID: in.ID("customer_id").Value,
			Draft:      reminder.ReadTemplate(in),
		})
		return map[string]any{
			"subject": preview.Subject, "text": preview.Text, "whatsapp_params": preview.Params,
			"problem": preview.Problem,
		}, err
	})
	cmd.Flags().Int64("template-id", 0, "id of the template")
	cmd.Flags().Int64("customer-id", 0, "id of the customer")
	must(cmd.MarkFlagRequired("template-id"))
	must(cmd.MarkFlagRequired("customer-id"))
	return cmd
}

func reminderOptOut() *cobra.Command {
	cmd := act(&cobra.Command{
		Use:     "optout",
		Short:   "Note that a customer wants no messages, or wants them again",
		Example: "  carteira reminder optout --company 1 --customer-id 12\n  carteira reminder optout --company 1 --customer-id 12 --remove",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id, _ := in.ID("customer_id").Get()
		remove, _ := in.Bool("remove").Get()
		return map[string]any{"customer_id": id, "opted_out": !remove}, program.Reminders.SetOptOut(
			ctx,
			actor,
			id,
			!remove,
		)
	})
	cmd.Flags().Int64("customer-id", 0, "id of the customer")
	cmd.Flags().Bool("remove", false, "the customer wants messages again")
	must(cmd.MarkFlagRequired("customer-id"))
	return cmd
}

func reminderSettings() *cobra.Command {
	cmd := act(&cobra.Command{
		Use:     "settings",
		Short:   "Show and change when customers are left in peace",
		Example: "  carteira reminder settings --company 1 --quiet-from 20:00 --quiet-to 09:00",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		s, err := program.Reminders.Settings(ctx, actor)
		if in.Given("quiet_from") || in.Given("quiet_to") {
			s, err = program.Reminders.SetSettings(ctx, actor, reminder.ReadSettings(in))
		}
		return map[string]any{"quiet_from": reminder.Clock(s.Quiet.From), "quiet_to": reminder.Clock(s.Quiet.To)}, err
	})
	cmd.Flags().String("quiet-from", "", "when quiet hours begin, such as 21:00")
	cmd.Flags().String("quiet-to", "", "when they end; the same as the beginning: there are none")
	return cmd
}
