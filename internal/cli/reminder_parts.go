package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
)

func ruleCommand() *cobra.Command {
	create := act(ruleFlags(&cobra.Command{
		Use:   "create",
		Short: "Make a rule; it is off unless --active is given",
		Example: `  carteira reminder rule create --company 1 --name "3 dias antes" --offset-days -3 --hour 09:00` +
			` --template-id 1 --channels 2,3 --active`,
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		rule, err := program.Reminders.CreateRule(ctx, actor, reminder.ReadNewRule(in))
		return ruleJSON(rule), err
	})
	set := addID(act(ruleFlags(&cobra.Command{
		Use:     "set",
		Short:   "Change a rule; what is not given stays, what is not sent is planned anew",
		Example: "  carteira reminder rule set --company 1 --id 1 --active=false",
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id, _ := in.ID("id").Get()
		rule, err := program.Reminders.UpdateRule(ctx, actor, id, reminder.ReadRuleChanges(in))
		return ruleJSON(rule), err
	}), "rule")
	cmd := &cobra.Command{Use: "rule", Short: "Rules: create, delete, list, set", Args: cobra.NoArgs}
	cmd.AddCommand(create, set,
		deleteReminder("rule", "Delete a rule and what it has scheduled", (*reminder.Service).DeleteRule),
		list("List a company's rules",
			[]string{
				"ID", "NAME", "ACTIVE", "WHEN", "PLAN ID", "PRODUCT ID", "STATUS", "CHANNELS",
				"TEMPLATE ID",
			},
			func(ctx context.Context, program *app.App, actor account.Actor) ([]reminder.Rule, error) {
				return program.Reminders.Rules(ctx, actor)
			},
			func(_ account.Actor, rule reminder.Rule) []any {
				return []any{
					rule.ID, rule.Name, rule.Active, rule.When(), rule.PlanID, rule.ProductID,
					rule.Status, ids(rule.Channels), rule.TemplateID,
				}
			}))
	return cmd
}

func ruleFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String("name", "", "name of the rule")
	cmd.Flags().Bool("active", false, "whether it sends")
	cmd.Flags().String("on", "", "what it sends on: due, a due date; paid, a payment, for which it sends a receipt (default: due)")
	cmd.Flags().Int("offset-days", 0, "days from the due date to the message: -3 is three days before")
	cmd.Flags().String("hour", "", "hour of the company's day, such as 09:00")
	cmd.Flags().String("plan-id", "", "only customers of this plan; empty: of any")
	cmd.Flags().String("product-id", "", "only customers of this product; empty: of any")
	cmd.Flags().String("status", "", "only customers who then are Ativo, Vence hoje or Vencido")
	cmd.Flags().String("channels", "", "ids of channels, the first to try in front, such as 2,3")
	cmd.Flags().Int64("template-id", 0, "id of the template")
	return cmd
}

func ruleJSON(rule reminder.Rule) any {
	return map[string]any{
		"id": rule.ID, "name": rule.Name, "active": rule.Active, "on": rule.On, "offset_days": rule.OffsetDays,
		"hour": reminder.Clock(rule.Minute), "plan_id": rule.PlanID,
		"product_id": rule.ProductID, "status": rule.Status, "channels": rule.Channels,
		"template_id": rule.TemplateID,
	}
}

func ids(list []int64) string {
	texts := make([]string, len(list))
	for i, id := range list {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ",")
}

func templateCommand() *cobra.Command {
	create := act(templateFlags(&cobra.Command{
		Use:   "create",
		Short: "Make a template",
		Long:  "Create makes a template. Its texts may have variables in braces:\n\n" + variableHelp(),
		Example: `  carteira reminder template create --company 1 --name Lembrete --subject "Vence {vencimento}" \
    --text "Olá {primeiro_nome}, seu plano {plano} de {valor} vence em {vencimento}."`,
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		template, err := program.Reminders.CreateTemplate(ctx, actor, reminder.ReadNewTemplate(in))
		return templateJSON(template), err
	})
	set := addID(act(templateFlags(&cobra.Command{
		Use: "set", Short: "Change a template; what is not given stays",
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id, _ := in.ID("id").Get()
		template, err := program.Reminders.UpdateTemplate(ctx, actor, id, reminder.ReadTemplateChanges(in))
		return templateJSON(template), err
	}), "template")
	cmd := &cobra.Command{Use: "template", Short: "Templates: create, delete, list, set", Args: cobra.NoArgs}
	cmd.AddCommand(create, set,
		deleteReminder("template", "Delete a template that no rule uses", (*reminder.Service).DeleteTemplate),
		list("List a company's templates",
			[]string{"ID", "NAME", "SUBJECT", "TEXT", "WHATSAPP NAME"},
			func(ctx context.Context, program *app.App, actor account.Actor) ([]reminder.Template, error) {
				return program.Reminders.Templates(ctx, actor)
			},
			func(_ account.Actor, template reminder.Template) []any {
				return []any{
					template.ID, template.Name, template.Subject, oneLine(template.Text),
					template.Approved.Name,
				}
			}))
	return cmd
}

func variableHelp() string {
	var out strings.Builder
	for _, variable := range reminder.Variables {
		fmt.Fprintf(&out, "  %-32s %s\n", "{"+variable.Name+"} or {"+variable.Local+"}", variable.Help)
	}
	return out.String()
}

func templateFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String("name", "", "name of the template")
	cmd.Flags().String("subject", "", "subject of an e-mail (default: the company's name)")
	cmd.Flags().String("text", "", "the words")
	cmd.Flags().String("whatsapp-name", "", "name of the template that Meta approved, for whatsapp_cloud")
	cmd.Flags().String("whatsapp-language", "", "its language (default: pt_BR)")
	cmd.Flags().String("whatsapp-params", "", "what fills its gaps, one on each line: {first_name}, or {{nome}} = {first_name}")
	cmd.Flags().String("whatsapp-header", "", "what fills the gap of its header: a text, or the address of a picture, PDF or video")
	cmd.Flags().String("whatsapp-button", "", "what fills the link of its button, such as {payment_link}")
	return cmd
}

func templateJSON(template reminder.Template) any {
	return map[string]any{
		"id": template.ID, "name": template.Name, "subject": template.Subject,
		"text": template.Text, "whatsapp_name": template.Approved.Name,
		"whatsapp_language": template.Approved.Language,
		"whatsapp_params":   template.Approved.Params,
		"whatsapp_header":   template.Approved.Header,
		"whatsapp_button":   template.Approved.Button,
	}
}

func channelCommand() *cobra.Command {
	create := channelFlags(act(&cobra.Command{
		Use:   "create",
		Short: "Make a channel",
		Long: "Create makes a channel. Each kind has options of its own, given as --option name=value;\n" +
			"`carteira reminder channel kinds` lists them. A secret that is made by itself is printed once.",
		Example: `  carteira reminder channel create --company 1 --kind smtp --option host=smtp.example.com \
    --option username=ana --option password=… --option from=ana@example.com`,
	}, nil))
	create.RunE = channelRun(func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		channel, shown, err := program.Reminders.CreateChannel(ctx, actor, program.Reminders.ReadNewChannel(in))
		return channelJSON(channel, shown), err
	})
	create.Flags().String("kind", "", "whatsapp_cloud, evolution, smtp, http or log")
	must(create.MarkFlagRequired("kind"))
	set := addID(channelFlags(act(&cobra.Command{
		Use: "set", Short: "Change a channel; what is not given stays, secrets too",
	}, nil)), "channel")
	set.RunE = channelRun(func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id, _ := in.ID("id").Get()
		draft, err := program.Reminders.ReadChannelChanges(ctx, actor, id, in)
		if err != nil {
			return nil, err
		}
		channel, err := program.Reminders.UpdateChannel(ctx, actor, id, draft)
		return channelJSON(channel, nil), err
	})
	cmd := &cobra.Command{Use: "channel", Short: "Channels: create, delete, kinds, list, set", Args: cobra.NoArgs}
	cmd.AddCommand(create, set, kindsCommand(),
		deleteReminder("channel", "Delete a channel that no rule uses", (*reminder.Service).DeleteChannel),
		list("List a company's channels",
			[]string{"ID", "KIND", "NAME", "ACTIVE", "PER MINUTE", "OPTIONS"},
			func(ctx context.Context, program *app.App, actor account.Actor) ([]reminder.Channel, error) {
				return program.Reminders.Channels(ctx, actor)
			},
			func(_ account.Actor, channel reminder.Channel) []any {
				return []any{
					channel.ID, channel.Kind, channel.Name, channel.Active, channel.PerMinute,
					optionList(channel.Options),
				}
			}))
	return cmd
}

func channelFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String("name", "", "name of the channel (default: that of its kind)")
	cmd.Flags().Bool("active", true, "whether it sends")
	cmd.Flags().Int(
		"per-minute",
		0,
		"how many messages a minute it sends at most; 0: as fast as it goes (default: that of its kind)",
	)
	cmd.Flags().StringArray("option", nil, "an option of its kind, name=value; may be given several times")
	return cmd
}

func channelJSON(channel reminder.Channel, shown map[string]string) any {
	v := map[string]any{
		"id": channel.ID, "kind": channel.Kind, "name": channel.Name, "active": channel.Active,
		"per_minute": channel.PerMinute, "options": channel.Options,
	}
	if len(shown) > 0 {
		v["secrets"] = shown
	}
	return v
}

func optionList(options map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		parts = append(parts, name+"="+options[name])
	}
	return strings.Join(parts, " ")
}

// channelRun calls a use case with a form of the flags and of the options.
func channelRun(
	do func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error),
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		return withCompany(cmd, func(ctx context.Context, program *app.App, actor account.Actor) error {
			in, given, err := optionForm(cmd)
			if err != nil {
				return err
			}
			value, err := do(ctx, program, actor, in)
			if err != nil {
				return nameOptions(err, given)
			}
			return printJSON(cmd, value)
		})
	}
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

func kindsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "kinds", Short: "List the kinds of channels and their options", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(_ context.Context, program *app.App) error {
				for _, kind := range program.Reminders.Kinds() {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", kind.Name, kind.Title)
					for _, option := range kind.Options {
						fmt.Fprintf(cmd.OutOrStdout(), "  %-16s %s%s\n", option.Name, option.Help, optionNotes(option))
					}
				}
				return nil
			})
		},
	}
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

func deleteReminder(
	what, short string,
	do func(service *reminder.Service, ctx context.Context, actor account.Actor, id int64) error,
) *cobra.Command {
	return addID(act(&cobra.Command{Use: "delete", Short: short},
		func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
			id, _ := in.ID("id").Get()
			return map[string]any{"id": id, "deleted": true}, do(program.Reminders, ctx, actor, id)
		}), what)
}
