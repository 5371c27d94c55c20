package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

func gatewayCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "gateway", Short: "Payment gateways: set, show, check, clear", Args: cobra.NoArgs}
	cmd.AddCommand(gatewaySet(), gatewayShow(), gatewayCheck(), gatewayClear(), gatewayProviders())
	return cmd
}

func gatewaySet() *cobra.Command {
	set := addCompany(&cobra.Command{
		Use:   "set",
		Short: "Choose a company's payment gateway and tell it the credentials",
		Long: `Set chooses the gateway. What it has to be told depends on the provider:
"gateway providers" lists it. An option that is not given stays as it was when
the provider was last chosen.

A secret on the command line can be read by everybody who lists processes:
--option NAME=@FILE reads it from a file, --option NAME=@- from standard input.
Nothing is sent to the provider; "gateway check" does that.`,
		Example: `  carteira gateway set --company 1 --provider pixkey --option key=ana@example.com --option name="Ana Internet"` +
			` --option city=Recife
  carteira gateway set --company 1 --provider mercadopago --option access_token=@token.txt --option webhook_secret=@secret.txt
  carteira gateway set --company 1 --provider sandbox`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := gatewayForm(cmd)
			if err != nil {
				return err
			}
			return withCompany(cmd, func(ctx context.Context, program *app.App, actor account.Actor) error {
				setup, err := program.Payments.ConfigureGateway(ctx, actor, program.Payments.ReadGateway(in))
				if err != nil {
					return optionError(err)
				}
				return printJSON(cmd, setupRecord(setup))
			})
		},
	})
	set.Flags().String("provider", "", "name of the provider")
	set.Flags().StringArray("option", nil, "NAME=VALUE, NAME=@FILE or NAME=@- (may be repeated)")
	must(set.MarkFlagRequired("provider"))
	return set
}

// gatewayForm makes a form of the provider and its options, which is strict: a
// misspelt option is refused.
func gatewayForm(cmd *cobra.Command) (*input.Form, error) {
	provider, err := cmd.Flags().GetString("provider")
	if err != nil {
		return nil, err
	}
	options, err := cmd.Flags().GetStringArray("option")
	if err != nil {
		return nil, err
	}
	values := map[string]string{"provider": provider}
	for _, option := range options {
		name, value, ok := strings.Cut(option, "=")
		if !ok || name == "" || name == "provider" {
			return nil, usageError{fmt.Errorf("--option %s: want NAME=VALUE, NAME=@FILE or NAME=@-", name)}
		}
		if values[name], err = optionValue(cmd.InOrStdin(), value); err != nil {
			return nil, fmt.Errorf("--option %s: %w", name, err)
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return input.FromJSON(text)
}

// optionError names the options that were refused as they are given.
func optionError(err error) error {
	var reasons []string
	for field, all := range fault.FieldsOf(err).All() {
		flag := "--option " + field
		if field == "provider" {
			flag = "--provider"
		}
		for _, reason := range all {
			reasons = append(reasons, flag+" "+reason)
		}
	}
	if len(reasons) == 0 {
		return err
	}
	return errors.New(strings.Join(reasons, "; "))
}

// optionValue reads the file, or standard input, that follows an @.
func optionValue(stdin io.Reader, value string) (string, error) {
	file, named := strings.CutPrefix(value, "@")
	if !named {
		return value, nil
	}
	var text []byte
	var err error
	if file == "-" {
		text, err = io.ReadAll(io.LimitReader(stdin, 1<<20))
	} else {
		text, err = os.ReadFile(file)
	}
	if !utf8.Valid(text) { // a .p12 file, say
		return base64.StdEncoding.EncodeToString(text), err
	}
	return strings.TrimSpace(string(text)), err
}

func setupRecord(setup payment.Setup) map[string]any {
	return map[string]any{
		"id": setup.ID, "provider": setup.Provider.Name, "flow": setup.Provider.Flow,
		"options": setup.Options, "callback_url": setup.CallbackURL,
		"failures": setup.Failures, "problem": setup.Problem,
	}
}

func gatewayShow() *cobra.Command {
	return act(&cobra.Command{
		Use: "show", Short: "Print a company's gateway; of secrets, how they end",
	}, func(ctx context.Context, program *app.App, actor account.Actor, _ *input.Form) (any, error) {
		setup, err := program.Payments.Gateway(ctx, actor)
		return setupRecord(setup), err
	})
}

func gatewayCheck() *cobra.Command {
	cmd := act(&cobra.Command{
		Use: "check", Short: "Ask the gateway whether the credentials work",
		Long: `Check calls the provider with the company's credentials and makes nothing that
could be paid. A provider that can be told by itself where to call back is told.

At a bank a PIX key calls one system. When that is another one, check names its
address and changes nothing; --replace-webhook with that address takes its place.`,
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		err := checkOrReplace(ctx, program, actor, in.Text("replace_webhook", maxAddress).Value)
		if taken, found := errors.AsType[*payment.WebhookTaken](err); found {
			err = fmt.Errorf("%w; to have us called instead: --replace-webhook %s", err, taken.URL)
		}
		return map[string]any{"works": true}, err
	})
	cmd.Flags().String("replace-webhook", "", "address of another system that the PIX key calls now, and shall not any more")
	return cmd
}

// maxAddress is more than any webhook's address has.
const maxAddress = 2000

func checkOrReplace(ctx context.Context, program *app.App, actor account.Actor, agreed string) error {
	if agreed != "" {
		return program.Payments.ReplaceWebhook(ctx, actor, agreed)
	}
	return program.Payments.CheckGateway(ctx, actor)
}

func gatewayClear() *cobra.Command {
	return act(&cobra.Command{
		Use: "clear", Short: "Leave a company without a gateway",
		Long: `Clear ends the making of charges. Those that can still be paid are looked after
until nothing can come of them; then the credentials are forgotten.`,
	}, func(ctx context.Context, program *app.App, actor account.Actor, _ *input.Form) (any, error) {
		err := program.Payments.ClearGateway(ctx, actor)
		return map[string]any{"cleared": true}, err
	})
}

func gatewayProviders() *cobra.Command {
	return addJSON(&cobra.Command{
		Use: "providers", Short: "List the providers and their options", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(_ context.Context, program *app.App) error {
				return printList(cmd, program.Payments.Providers(),
					[]string{"PROVIDER", "FLOW", "OPTIONS"}, func(provider payment.Provider) []any {
						var options []string
						for _, option := range provider.Options {
							name := option.Name
							if !option.Required {
								name = "[" + name + "]"
							}
							options = append(options, name)
						}
						return []any{provider.Name, provider.Flow, strings.Join(options, " ")}
					})
			})
		},
	})
}

func paymentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "payment",
		Short: "Payments: those that need a person, confirmation by hand",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(paymentReviews(), paymentResolve(), paymentConfirm())
	return cmd
}

func paymentReviews() *cobra.Command {
	cmd := list("List payments that need a person",
		[]string{
			"ID", "REASON", "AMOUNT", "CUSTOMER", "INVOICE", "PROVIDER", "PAYMENT", "PAID AT",
			"RESOLUTION",
		},
		func(ctx context.Context, program *app.App, actor account.Actor) ([]payment.Review, error) {
			var all []payment.Review
			for page := (input.Page{Number: 1, Size: input.MaxPageSize}); ; page.Number++ {
				some, total, err := program.Payments.Reviews(ctx, actor, payment.ReviewFilter{}, page)
				all = append(all, some...)
				if err != nil || page.Number >= page.Last(total) {
					return all, err
				}
			}
		},
		func(actor account.Actor, review payment.Review) []any {
			resolution := string(review.Resolution)
			if resolution == "" {
				resolution = "open"
			}
			return []any{
				review.ID, review.Reason, review.Payment.Amount, review.Payment.CustomerName,
				review.Payment.InvoiceID, review.Payment.Provider, review.Payment.ID,
				when(review.Payment.PaidAt, review.Payment.PaidAt.Location()), resolution,
			}
		})
	cmd.Use = "reviews"
	return cmd
}

func paymentResolve() *cobra.Command {
	cmd := addID(act(&cobra.Command{
		Use:     "resolve",
		Short:   "Decide about a payment that needs a person",
		Long:    "Resolve applies a payment to its invoice, whatever was wrong with it, or dismisses it as dealt with elsewhere.",
		Example: `  carteira payment resolve --company 1 --id 7 --resolution dismissed --note "Given back on Monday"`,
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		review, err := program.Payments.Decide(ctx, actor, payment.ReadDecision(in, id))
		return map[string]any{"id": review.ID, "reason": review.Reason, "resolution": review.Resolution}, err
	}), "review")
	cmd.Flags().String("resolution", "", "applied or dismissed")
	cmd.Flags().String(
		"difference",
		"",
		"of less money than is to pay: partial (the rest is to come) or discount (it is enough)",
	)
	cmd.Flags().String("note", "", "why, for your own eyes")
	must(cmd.MarkFlagRequired("resolution"))
	return cmd
}

func paymentConfirm() *cobra.Command {
	cmd := act(&cobra.Command{
		Use:   "confirm",
		Short: "Take note that an invoice was paid to the company's own PIX key",
		Long: `Confirm is for the provider pixkey, where no gateway tells that money came. Less than
is to pay needs --difference; more is received as what it is. Who confirmed, and
when, is kept.`,
		Example: `  carteira payment confirm --company 1 --invoice 12 --amount 35.00 --payment-id E00416968202601311200abcdefghijk`,
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("invoice").Value
		out, err := program.Payments.ConfirmByHand(ctx, actor, payment.ReadConfirmation(in, id))
		return map[string]any{"id": out.ID, "status": out.Status, "renewed": out.Renewed}, err
	})
	cmd.Flags().String("invoice", "", "id of the invoice")
	cmd.Flags().String("amount", "", "what came, such as 35.00")
	cmd.Flags().String(
		"difference",
		"",
		"of less money than is to pay: partial (the rest is to come) or discount (it is enough)",
	)
	cmd.Flags().String("payment-id", "", "the bank's end-to-end id (optional)")
	cmd.Flags().String("paid-on", "", "the day on which it came, YYYY-MM-DD (default: today)")
	cmd.Flags().String("note", "", "for your own eyes")
	must(cmd.MarkFlagRequired("invoice"))
	must(cmd.MarkFlagRequired("amount"))
	return cmd
}
