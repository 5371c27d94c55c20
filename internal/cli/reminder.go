package cli

import (
	"context"

	"github.com/spf13/cobra"

	"carteira/internal/reminder"
)

func reminderCommand() *cobra.Command {
	cmd := group("reminder", "Messages about due dates: rules, templates, channels, the log",
		ruleCommand(), templateCommand(), channelCommand(), reminderLog(), reminderDecide(), reminderTest(), reminderPreview(),
		act(command{
			use: "optout", short: "Note that a customer wants no messages, or wants them again",
			example: "  carteira reminder optout --company 1 --customer-id 12\n  carteira reminder optout --company 1 --customer-id 12 --remove",
			flags: `
				customer-id!:int  id of the customer
				remove:bool       the customer wants messages again`,
		}, func(ctx context.Context, c call) (any, error) {
			id, out := c.in.ID("customer_id").Value, !c.in.Bool("remove").Value
			return map[string]any{"customer_id": id, "opted_out": out}, c.Reminders.SetOptOut(ctx, c.actor, id, out)
		}),
		reminderSettings())
	cmd.Long = `Reminders are messages to customers about their due dates. A rule says how many
days before or after, at which hour, to whom, through which channels and in
which words. Nothing is sent until a rule is active.`
	return cmd
}

func reminderLog() *cobra.Command {
	return list(command{
		use: "log", short: "List messages, the newest first",
		flags: `
			status           scheduled, sending, sent, failed, skipped, unknown or dismissed
			arrival          what the carrier reported: sent, failed, delivered or read
			customer-id:int  only messages to this customer
			rule-id:int      only messages of this rule
			channel-id:int   only messages of this channel
			due-from         due date on or after, YYYY-MM-DD
			due-to           due date on or before, YYYY-MM-DD
			per-page:int=50  how many, at most 200
			page:int=1       which of them`,
	}, "ID,STATUS,ARRIVAL,CUSTOMER ID,CUSTOMER,DUE DATE,RULE,CHANNEL,AT,REASON",
		func(ctx context.Context, c call) ([]reminder.Message, error) {
			filter, page := reminder.ReadFilter(c.in), c.in.Page()
			if err := c.in.Err(); err != nil {
				return nil, err
			}
			messages, _, err := c.Reminders.Messages(ctx, c.actor, filter, page)
			return messages, err
		},
		func(c call, message reminder.Message) []any {
			at := message.UpdatedAt
			if message.Status == reminder.Scheduled {
				at = message.RunAt
			}
			return []any{
				message.ID, message.Status, message.Arrival, message.CustomerID, message.Customer, message.DueOn,
				message.RuleName, message.Channel, when(at, c.actor.Company.Zone), message.Reason,
			}
		})
}

func reminderDecide() *cobra.Command {
	return act(command{
		use: "decide", short: "Say what becomes of a message that may or may not have been sent",
		long: `Decide ends the doubt about a message with the status unknown: resend sends it
again, sent notes that it arrived, dismiss lets it be. What failed or was
skipped can be sent again too. Who has paid meanwhile gets nothing.`,
		example: "  carteira reminder decide --company 1 --id 12 --as dismiss",
		flags: `
			id!:int  id of the message
			as!      resend, sent or dismiss`,
	}, func(ctx context.Context, c call) (any, error) {
		id := c.id()
		decision := c.in.Choice("as", string(reminder.Resend), string(reminder.MarkSent), string(reminder.Dismiss)).Value
		if err := c.in.Err(); err != nil {
			return nil, err
		}
		message, err := c.Reminders.Decide(ctx, c.actor, id, reminder.Decision(decision))
		return map[string]any{"id": message.ID, "status": message.Status, "reason": message.Reason}, err
	})
}

func reminderTest() *cobra.Command {
	return act(command{
		use: "test", short: "Send a message through a channel now, and show what the carrier says",
		example: "  carteira reminder test --company 1 --channel-id 2 --to ana@example.com",
		flags: `
			channel-id!:int  id of the channel
			to               e-mail address or phone number
			template-id:int  template to send (default: a plain sentence)
			customer-id:int  customer to fill it with (default: samples)`,
	}, func(ctx context.Context, c call) (any, error) {
		id := c.in.ID("channel_id").Value
		asked, err := c.Reminders.ReadTest(ctx, c.actor, id, c.in)
		if err != nil {
			return nil, err
		}
		result, err := c.Reminders.Test(ctx, c.actor, id, asked)
		return map[string]any{
			"sent": result.Sent, "receipt": result.Receipt, "problem": result.Problem,
			"duration_ms": result.Duration.Milliseconds(),
		}, err
	})
}

func reminderPreview() *cobra.Command {
	return act(command{
		use: "preview", short: "Show a template as a customer would get it",
		example: "  carteira reminder preview --company 1 --template-id 1 --customer-id 12",
		flags: `
			template-id!:int  id of the template
			customer-id!:int  id of the customer`,
	}, func(ctx context.Context, c call) (any, error) {
		preview, err := c.Reminders.Preview(ctx, c.actor, reminder.PreviewRequest{
			TemplateID: c.in.ID("template_id").Value,
			CustomerID: c.in.ID("customer_id").Value,
			Draft:      reminder.ReadTemplate(c.in),
		})
		return map[string]any{
			"subject": preview.Subject, "text": preview.Text, "whatsapp_params": preview.Params,
			"problem": preview.Problem,
		}, err
	})
}

func reminderSettings() *cobra.Command {
	return act(command{
		use: "settings", short: "Show and change when customers are left in peace",
		example: "  carteira reminder settings --company 1 --quiet-from 20:00 --quiet-to 09:00",
		flags: `
			quiet-from  when quiet hours begin, such as 21:00
			quiet-to    when they end; the same as the beginning: there are none`,
	}, func(ctx context.Context, c call) (any, error) {
		s, err := c.Reminders.Settings(ctx, c.actor)
		if c.in.Given("quiet_from") || c.in.Given("quiet_to") {
			s, err = c.Reminders.SetSettings(ctx, c.actor, reminder.ReadSettings(c.in))
		}
		return map[string]any{"quiet_from": reminder.Clock(s.Quiet.From), "quiet_to": reminder.Clock(s.Quiet.To)}, err
	})
}
