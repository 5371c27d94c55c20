package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"carteira/internal/payment"
	"carteira/internal/platform/fault"
)

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
