package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
)

func ruleCommand() *cobra.Command {
	const flags = `
		name             name of the rule
		active:bool      whether it sends
		on               what it sends on: due, a due date; paid, a payment, for which it sends a receipt (default: due)
		offset-days:int  days from the due date to the message: -3 is three days before
		hour             hour of the company's day, such as 09:00
		plan-id          only customers of this plan; empty: of any
		product-id       only customers of this product; empty: of any
		status           only customers who then are Ativo, Vence hoje or Vencido
		channels         ids of channels, the first to try in front, such as 2,3
		template-id:int  id of the template`
	const idFlag = "\nid!:int id of the rule"
	return group("rule", "Rules: create, delete, list, set",
		act(command{
			use: "create", short: "Make a rule; it is off unless --active is given", flags: flags,
			example: `  carteira reminder rule create --company 1 --name "3 dias antes" --offset-days -3 --hour 09:00` +
				` --template-id 1 --channels 2,3 --active`,
		}, func(ctx context.Context, c call) (any, error) {
			return showRule(c.Reminders.CreateRule(ctx, c.actor, reminder.ReadNewRule(c.in)))
		}),
		act(command{
			use: "set", short: "Change a rule; what is not given stays, what is not sent is planned anew", flags: flags + idFlag,
			example: "  carteira reminder rule set --company 1 --id 1 --active=false",
		}, func(ctx context.Context, c call) (any, error) {
			return showRule(c.Reminders.UpdateRule(ctx, c.actor, c.id(), reminder.ReadRuleChanges(c.in)))
		}),
		act(command{use: "delete", short: "Delete a rule and what it has scheduled", flags: idFlag},
			func(ctx context.Context, c call) (any, error) {
				return c.done("deleted", c.Reminders.DeleteRule(ctx, c.actor, c.id()))
			}),
		listOf(command{short: "List a company's rules"}, reminder.RuleFields,
			func(ctx context.Context, c call) ([]reminder.Rule, error) { return c.Reminders.Rules(ctx, c.actor) }))
}

func showRule(rule reminder.Rule, err error) (any, error) {
	record := maps.Collect(reminder.RuleFields.In(account.InRecord, &rule))
	record["channels"] = rule.Channels
	return record, err
}

func templateCommand() *cobra.Command {
	const flags = `
		name               name of the template
		subject            subject of an e-mail (default: the company's name)
		text               the words
		whatsapp-name      name of the template that Meta approved, for whatsapp_cloud
		whatsapp-language  its language (default: pt_BR)
		whatsapp-params    what fills its gaps, one on each line: {first_name}, or {{nome}} = {first_name}
		whatsapp-header    what fills the gap of its header: a text, or the address of a picture, PDF or video
		whatsapp-button    what fills the link of its button, such as {payment_link}`
	const idFlag = "\nid!:int id of the template"
	return group("template", "Templates: create, delete, list, set",
		act(command{
			use: "create", short: "Make a template", flags: flags,
			long: "Create makes a template. Its texts may have variables in braces:\n\n" + variableHelp(),
			example: `  carteira reminder template create --company 1 --name Lembrete --subject "Vence {vencimento}" \
    --text "Olá {primeiro_nome}, seu plano {plano} de {valor} vence em {vencimento}."`,
		}, func(ctx context.Context, c call) (any, error) {
			return showTemplate(c.Reminders.CreateTemplate(ctx, c.actor, reminder.ReadNewTemplate(c.in)))
		}),
		act(command{use: "set", short: "Change a template; what is not given stays", flags: flags + idFlag},
			func(ctx context.Context, c call) (any, error) {
				return showTemplate(c.Reminders.UpdateTemplate(ctx, c.actor, c.id(), reminder.ReadTemplateChanges(c.in)))
			}),
		act(command{use: "delete", short: "Delete a template that no rule uses", flags: idFlag},
			func(ctx context.Context, c call) (any, error) {
				return c.done("deleted", c.Reminders.DeleteTemplate(ctx, c.actor, c.id()))
			}),
		list(command{short: "List a company's templates"}, "ID,NAME,SUBJECT,TEXT,WHATSAPP NAME",
			func(ctx context.Context, c call) ([]reminder.Template, error) {
				return c.Reminders.Templates(ctx, c.actor)
			},
			func(_ call, template reminder.Template) []any {
				return []any{template.ID, template.Name, template.Subject, oneLine(template.Text), template.Approved.Name}
			}))
}

func variableHelp() string {
	var out strings.Builder
	for _, variable := range reminder.Variables {
		fmt.Fprintf(&out, "  %-32s %s\n", "{"+variable.Name+"} or {"+variable.Local+"}", variable.Help)
	}
	return out.String()
}

func showTemplate(template reminder.Template, err error) (any, error) {
	record := maps.Collect(reminder.TemplateFields.In(account.InRecord, &template))
	record["whatsapp_params"] = template.Approved.Params
	return record, err
}

func channelCommand() *cobra.Command {
	const flags = `
		name             name of the channel (default: that of its kind)
		active:bool=true whether it sends
		per-minute:int   how many messages a minute it sends at most; 0: as fast as it goes (default: that of its kind)
		option:list      an option of its kind, name=value; may be given several times`
	const idFlag = "\nid!:int id of the channel"
	return group("channel", "Channels: create, delete, kinds, list, set",
		withOptions(command{
			use: "create", short: "Make a channel",
			flags: flags + "\nkind! whatsapp_cloud, evolution, smtp, http or log",
			long: "Create makes a channel. Each kind has options of its own, given as --option name=value;\n" +
				"`carteira reminder channel kinds` lists them. A secret that is made by itself is printed once.",
			example: `  carteira reminder channel create --company 1 --kind smtp --option host=smtp.example.com \
    --option username=ana --option password=… --option from=ana@example.com`,
		}, func(ctx context.Context, c call) (any, error) {
			channel, shown, err := c.Reminders.CreateChannel(ctx, c.actor, c.Reminders.ReadNewChannel(c.in))
			return channelJSON(channel, shown), err
		}),
		withOptions(command{use: "set", short: "Change a channel; what is not given stays, secrets too", flags: flags + idFlag},
			func(ctx context.Context, c call) (any, error) {
				id := c.id()
				draft, err := c.Reminders.ReadChannelChanges(ctx, c.actor, id, c.in)
				if err != nil {
					return nil, err
				}
				channel, err := c.Reminders.UpdateChannel(ctx, c.actor, id, draft)
				return channelJSON(channel, nil), err
			}),
		act(command{use: "delete", short: "Delete a channel that no rule uses", flags: idFlag},
			func(ctx context.Context, c call) (any, error) {
				return c.done("deleted", c.Reminders.DeleteChannel(ctx, c.actor, c.id()))
			}),
		opened(command{use: "kinds", short: "List the kinds of channels and their options"}, printKinds),
		list(command{short: "List a company's channels"}, columns(reminder.ChannelFields)+",OPTIONS",
			func(ctx context.Context, c call) ([]reminder.Channel, error) {
				return c.Reminders.Channels(ctx, c.actor)
			},
			func(c call, channel reminder.Channel) []any {
				return append(row(c, reminder.ChannelFields, &channel), optionList(channel.Options))
			}))
}

func channelJSON(channel reminder.Channel, shown map[string]string) any {
	record := maps.Collect(reminder.ChannelFields.In(account.InRecord, &channel))
	record["options"] = channel.Options
	if len(shown) > 0 {
		record["secrets"] = shown
	}
	return record
}

func optionList(options map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		parts = append(parts, name+"="+options[name])
	}
	return strings.Join(parts, " ")
}

// withOptions is act with a form of the flags and of the options.
func withOptions(d command, do func(ctx context.Context, c call) (any, error)) *cobra.Command {
	return forCompany(d, func(ctx context.Context, c call) error {
		in, given, err := optionForm(c.cmd)
		if err != nil {
			return err
		}
		c.in = in
		value, err := do(ctx, c)
		if err != nil {
			return nameOptions(err, given)
		}
		return printJSON(c.cmd, value)
	})
}

// optionForm is a strict form: an option that the kind does not have is refused.
func optionForm(cmd *cobra.Command) (*input.Form, func(field string) bool, error) {
	fields := map[string]any{}
	for _, name := range []string{"kind", "name", "active", "per-minute", "id"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			fields[strings.ReplaceAll(name, "-", "_")] = f.Value.String()
		}
	}
	flags := maps.Clone(fields)
	options, err := cmd.Flags().GetStringArray("option")
	if err != nil {
		return nil, nil, err
	}
	for _, option := range options {
		name, value, ok := strings.Cut(option, "=")
		if _, taken := fields[name]; !ok || name == "" || taken {
			return nil, nil, fault.Field("option", "must be name=value, each name once")
		}
		fields[name] = value
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, nil, err
	}
	in, err := input.FromJSON(body)
	return in, func(field string) bool { _, ok := flags[field]; return ok }, err
}

// nameOptions names options by their flags.
func nameOptions(err error, isFlag func(field string) bool) error {
	fields := fault.FieldsOf(err)
	if fields.Empty() {
		return err
	}
	var renamed fault.Fields
	for field, reasons := range fields.All() {
		if !isFlag(field) {
			field = "option " + field
		}
		for _, reason := range reasons {
			renamed.Add(field, reason)
		}
	}
	return renamed.Err()
}

func printKinds(_ context.Context, c call) error {
	for _, kind := range c.Reminders.Kinds() {
		fmt.Fprintf(c.cmd.OutOrStdout(), "%s: %s\n", kind.Name, kind.Title)
		for _, option := range kind.Options {
			fmt.Fprintf(c.cmd.OutOrStdout(), "  %-16s %s%s\n", option.Name, option.Help, optionNotes(option))
		}
	}
	return nil
}

func optionNotes(option reminder.Option) string {
	var notes []string
	if option.Required {
		notes = append(notes, "required")
	}
	if option.Secret {
		notes = append(notes, "secret")
	}
	if option.Default != "" {
		notes = append(notes, "default "+option.Default)
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}
