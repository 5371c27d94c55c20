package cli

import (
	"cmp"
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

	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

func gatewayCommand() *cobra.Command {
	return group("gateway", "Payment gateways: set, show, check, clear",
		gatewaySet(),
		act(command{use: "show", short: "Print a company's gateway; of secrets, how they end"},
			func(ctx context.Context, c call) (any, error) {
				setup, err := c.Payments.Gateway(ctx, c.actor)
				return setupRecord(setup), err
			}),
		gatewayCheck(),
		act(command{
			use: "clear", short: "Leave a company without a gateway",
			long: `Clear ends the making of charges. Those that can still be paid are looked after
until nothing can come of them; then the credentials are forgotten.`,
		}, func(ctx context.Context, c call) (any, error) {
			return map[string]any{"cleared": true}, c.Payments.ClearGateway(ctx, c.actor)
		}),
		opened(command{use: "providers", short: "List the providers and their options", flags: jsonFlag},
			func(_ context.Context, c call) error {
				return printList(c.cmd, c.Payments.Providers(), "PROVIDER,FLOW,OPTIONS", func(provider payment.Provider) []any {
					return []any{provider.Name, provider.Flow, optionNames(provider)}
				})
			}))
}

// optionNames lists a provider's options, those that may be left out in brackets.
func optionNames(provider payment.Provider) string {
	names := make([]string, len(provider.Options))
	for i, option := range provider.Options {
		names[i] = option.Name
		if !option.Required {
			names[i] = "[" + option.Name + "]"
		}
	}
	return strings.Join(names, " ")
}

func gatewaySet() *cobra.Command {
	return bare(command{
		use: "set", short: "Choose a company's payment gateway and tell it the credentials",
		long: `Set chooses the gateway. What it has to be told depends on the provider:
"gateway providers" lists it. An option that is not given stays as it was when
the provider was last chosen.

A secret on the command line can be read by everybody who lists processes:
--option NAME=@FILE reads it from a file, --option NAME=@- from standard input.
Nothing is sent to the provider; "gateway check" does that.`,
		example: `  carteira gateway set --company 1 --provider pixkey --option key=ana@example.com --option name="Ana Internet"` +
			` --option city=Recife
  carteira gateway set --company 1 --provider mercadopago --option access_token=@token.txt --option webhook_secret=@secret.txt
  carteira gateway set --company 1 --provider sandbox`,
		flags: `
			provider!    name of the provider
			option:list  NAME=VALUE, NAME=@FILE or NAME=@- (may be repeated)` + companyFlag,
	}, func(cmd *cobra.Command, args []string) error {
		in, err := gatewayForm(cmd)
		if err != nil {
			return err
		}
		return openFor(cmd, args, func(ctx context.Context, c call) error {
			setup, err := c.Payments.ConfigureGateway(ctx, c.actor, c.Payments.ReadGateway(in))
			if err != nil {
				return optionError(err)
			}
			return printJSON(cmd, setupRecord(setup))
		})
	})
}

// gatewayForm makes a form of the provider and its options, which is strict: a
// misspelt option is refused.
func gatewayForm(cmd *cobra.Command) (*input.Form, error) {
	options, err := cmd.Flags().GetStringArray("option")
	if err != nil {
		return nil, err
	}
	values := map[string]string{"provider": text(cmd, "provider")}
	for _, option := range options {
		name, value, ok := strings.Cut(option, "=")
		if !ok || name == "" || name == "provider" {
			return nil, usageError{fmt.Errorf("--option %s: want NAME=VALUE, NAME=@FILE or NAME=@-", name)}
		}
		if values[name], err = optionValue(cmd.InOrStdin(), value); err != nil {
			return nil, fmt.Errorf("--option %s: %w", name, err)
		}
	}
	body, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return input.FromJSON(body)
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

func gatewayCheck() *cobra.Command {
	return act(command{
		use: "check", short: "Ask the gateway whether the credentials work",
		long: `Check calls the provider with the company's credentials and makes nothing that
could be paid. A provider that can be told by itself where to call back is told.

At a bank a PIX key calls one system. When that is another one, check names its
address and changes nothing; --replace-webhook with that address takes its place.`,
		flags: "replace-webhook address of another system that the PIX key calls now, and shall not any more",
	}, func(ctx context.Context, c call) (_ any, err error) {
		if agreed := c.in.Text("replace_webhook", maxAddress).Value; agreed != "" {
			err = c.Payments.ReplaceWebhook(ctx, c.actor, agreed)
		} else {
			err = c.Payments.CheckGateway(ctx, c.actor)
		}
		if taken, found := errors.AsType[*payment.WebhookTaken](err); found {
			err = fmt.Errorf("%w; to have us called instead: --replace-webhook %s", err, taken.URL)
		}
		return map[string]any{"works": true}, err
	})
}

// maxAddress is more than any webhook's address has.
const maxAddress = 2000

const differenceFlag = "\ndifference of less money than is to pay: partial (the rest is to come) or discount (it is enough)"

func paymentCommand() *cobra.Command {
	return group("payment", "Payments: those that need a person, confirmation by hand",
		paymentReviews(),
		act(command{
			use: "resolve", short: "Decide about a payment that needs a person",
			long:    "Resolve applies a payment to its invoice, whatever was wrong with it, or dismisses it as dealt with elsewhere.",
			example: `  carteira payment resolve --company 1 --id 7 --resolution dismissed --note "Given back on Monday"`,
			flags: `
				id!:int      id of the review
				resolution!  applied or dismissed
				note         why, for your own eyes` + differenceFlag,
		}, func(ctx context.Context, c call) (any, error) {
			review, err := c.Payments.Decide(ctx, c.actor, payment.ReadDecision(c.in, c.id()))
			return map[string]any{"id": review.ID, "reason": review.Reason, "resolution": review.Resolution}, err
		}),
		act(command{
			use: "confirm", short: "Take note that an invoice was paid to the company's own PIX key",
			long: `Confirm is for the provider pixkey, where no gateway tells that money came. Less than
is to pay needs --difference; more is received as what it is. Who confirmed, and
when, is kept.`,
			example: `  carteira payment confirm --company 1 --invoice 12 --amount 35.00 --payment-id E00416968202601311200abcdefghijk`,
			flags: `
				invoice!    id of the invoice
				amount!     what came, such as 35.00
				payment-id  the bank's end-to-end id (optional)
				paid-on     the day on which it came, YYYY-MM-DD (default: today)
				note        for your own eyes; why, of what is written off
				difference  of less money than is to pay: partial (the rest is to come), discount (it is enough) or write_off (it is lost)`,
		}, func(ctx context.Context, c call) (any, error) {
			out, err := c.Payments.ConfirmByHand(ctx, c.actor, payment.ReadConfirmation(c.in, c.in.ID("invoice").Value))
			return map[string]any{"id": out.ID, "status": out.Status, "renewed": out.Renewed}, err
		}))
}

func paymentReviews() *cobra.Command {
	return list(command{use: "reviews", short: "List payments that need a person"},
		"ID,REASON,AMOUNT,CUSTOMER,INVOICE,PROVIDER,PAYMENT,PAID AT,RESOLUTION",
		func(ctx context.Context, c call) (all []payment.Review, err error) {
			for page := (input.Page{Number: 1, Size: input.MaxPageSize}); ; page.Number++ {
				some, total, err := c.Payments.Reviews(ctx, c.actor, payment.ReviewFilter{}, page)
				all = append(all, some...)
				if err != nil || page.Number >= page.Last(total) {
					return all, err
				}
			}
		},
		func(_ call, review payment.Review) []any {
			paid := review.Payment
			return []any{
				review.ID, review.Reason, paid.Amount, paid.CustomerName, paid.InvoiceID, paid.Provider, paid.ID,
				when(paid.PaidAt, paid.PaidAt.Location()), cmp.Or(string(review.Resolution), "open"),
			}
		})
}

func statementCommand() *cobra.Command {
	return group("statement", "Bank statements: import", bare(command{
		use: "import FILE", short: "Match the credits of a bank statement with open invoices",
		long: `Import reads OFX, or CSV whose headings say date, amount, description and
identifier, and prints each credit with what it seems to pay. With --apply the sure
ones are booked, on the bank's day: those that have the txid of a charge, or whose
amount and CPF, CNPJ or whole name fit one open invoice alone. The rest is for a
person, on the page Payments, Bank statement. A line that was booked is never booked
again, whichever file it comes in.`,
		example: "  carteira statement import march.ofx --company 1\n  carteira statement import march.ofx --company 1 --apply",
		args:    cobra.ExactArgs(1),
		flags:   "apply:bool book the sure ones" + companyFlag,
	}, func(cmd *cobra.Command, args []string) error {
		content, err := readStatement(args[0])
		if err != nil {
			return err
		}
		return openFor(cmd, args, func(ctx context.Context, c call) error {
			result, err := importStatement(ctx, c, content)
			if err != nil {
				return statementError(err)
			}
			return printJSON(cmd, result)
		})
	}))
}

// readStatement reads no more of a file than may be one.
func readStatement(name string) (content []byte, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(file, payment.MaxStatement+1))
}

// statementError says what is wrong with the file, which is no flag.
func statementError(err error) error {
	if reasons := fault.FieldsOf(err).Get("file"); len(reasons) > 0 {
		return fmt.Errorf("%s", reasons[0])
	}
	return err
}

// reasonOf is the first thing that is wrong.
func reasonOf(err error) string {
	if field, reason := fault.FieldsOf(err).First(); field != "" {
		return field + " " + reason
	}
	return fault.Public(err)
}

// statementLine is what the command prints of a credit.
type statementLine struct {
	Date        string           `json:"date"`
	Amount      string           `json:"amount"`
	Description string           `json:"description"`
	Match       payment.Match    `json:"match"`
	By          payment.Evidence `json:"by,omitempty"`
	InvoiceID   int64            `json:"invoice_id,omitempty"`
	Customer    string           `json:"customer,omitempty"`
	Booked      bool             `json:"booked"`
	Problem     string           `json:"problem,omitempty"`
}

func importStatement(ctx context.Context, c call, content []byte) (map[string]any, error) {
	reading, err := c.Payments.ReadStatement(ctx, c.actor, content)
	if err != nil {
		return nil, err
	}
	lines := make([]statementLine, len(reading.Proposals))
	var bookings []payment.Booking
	for n, p := range reading.Proposals {
		lines[n] = statementLine{
			Date: p.Line.On.String(), Amount: p.Line.Amount.String(), Description: p.Line.Description,
			Match: p.Match, By: p.By, InvoiceID: p.Invoice.ID, Customer: p.Invoice.Customer.Name,
			Booked: p.Match == payment.MatchBooked,
		}
		if flag(c.cmd, "apply") && p.Match == payment.MatchSure {
			bookings = append(bookings, payment.Booking{Number: p.Number, InvoiceID: p.Invoice.ID})
		}
	}
	booked, err := c.Payments.BookStatement(ctx, c.actor, content, bookings)
	for _, one := range booked {
		lines[one.Number].Booked = one.Err == nil
		if one.Err != nil {
			lines[one.Number].Problem = reasonOf(one.Err)
		}
	}
	return map[string]any{
		"lines": lines, "debits": reading.Debits, "future": reading.Future, "unread": reading.Unread,
	}, err
}
