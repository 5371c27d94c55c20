package payment

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// owing makes a customer with an open invoice.
func (w *world) owing(t *testing.T, name, amount string, more ...string) billing.Invoice {
	t.Helper()
	plan, err := w.catalog.CreatePlan(t.Context(), w.actor, catalog.ReadNewPlan(values("name", name, "value", amount, "period", "1month")))
	must(t, err)
	record, err := w.customers.Create(t.Context(), w.actor, customer.ReadNew(values(append([]string{
		"name", name, "plan_id", fmt.Sprint(plan.ID), "due_date", "2026-01-31",
	}, more...)...)))
	must(t, err)
	list, _, err := w.invoices.List(t.Context(), w.actor, billing.Filter{CustomerID: record.ID}, input.Page{Number: 1, Size: 1})
	must(t, err)
	return list[0]
}

// csvOf is a statement of the company's bank, each line as "amount;description".
func csvOf(lines ...string) []byte {
	var out strings.Builder
	out.WriteString("data;valor;descrição\n")
	for _, line := range lines {
		out.WriteString("31/01/2026;" + line + "\n")
	}
	return []byte(out.String())
}

func ofxOf(lines ...string) []byte {
	var out strings.Builder
	out.WriteString("OFXHEADER:100\n\n<OFX><BANKACCTFROM><ACCTID>123</BANKACCTFROM><BANKTRANLIST>\n")
	for n, line := range lines {
		amount, memo, _ := strings.Cut(line, ";")
		fmt.Fprintf(&out, "<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260131<TRNAMT>%s<FITID>%d<MEMO>%s</STMTTRN>\n", amount, 900+n, memo)
	}
	out.WriteString("</BANKTRANLIST></OFX>")
	return []byte(out.String())
}

func (w *world) read(t *testing.T, content []byte) []Proposal {
	t.Helper()
	reading, err := w.ReadStatement(t.Context(), w.actor, content)
	must(t, err)
	return reading.Proposals
}

// wantMatches compares match and evidence of each line.
func (w *world) wantMatches(t *testing.T, content []byte, want ...string) []Proposal {
	t.Helper()
	proposals := w.read(t, content)
	var got []string
	for _, p := range proposals {
		got = append(got, strings.TrimSpace(fmt.Sprint(p.Match, " ", p.By)))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("got %q, want %q", got, want)
	}
	return proposals
}

func (w *world) book(t *testing.T, content []byte, bookings ...Booking) []Booked {
	t.Helper()
	done, err := w.BookStatement(t.Context(), w.actor, content, bookings)
	must(t, err)
	return done
}

func TestStatementMatchesAreSureByCodeTaxIDOrWholeName(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		coded := world.invoice(t)
		payable := world.charged(t, coded.ID)
		joao := world.owing(t, "João Araújo Lima", "40.00")
		maria := world.owing(t, "Maria Souza", "50.00", "cpf_cnpj", "529.982.247-25")
		world.owing(t, "Pedro Alves", "60.00")
		world.owing(t, "Paulo Alves", "60.00")
		content := csvOf("35,00;PIX RECEBIDO "+strings.ToUpper(payable.Reference),
			"40,00;Pix recebido - Cp :60746948-JOAO ARAUJO LIMA", "50,00;Pix - Recebido - 00052998224725 M SOUZA",
			"60,00;PIX RECEBIDO", "70,00;PIX RECEBIDO PEDRO ALVES", "999,00;DEPOSITO", "-10,00;TARIFA")
		list := world.wantMatches(t, content, "sure code", "sure name", "sure tax_id", "doubtful amount", "doubtful name", "none")
		for n, invoice := range []billing.Invoice{coded, joao, maria} {
			if list[n].Invoice.ID != invoice.ID {
				t.Errorf("line %d is proposed for invoice %d, want %d", n, list[n].Invoice.ID, invoice.ID)
			}
		}
		if list[3].Invoice.ID != 0 || list[3].Fits != 2 {
			t.Errorf("of two that cost the same one is proposed: %+v", list[3])
		}
	})
}

func TestNameThatIsAPartOfAnotherIsNotSure(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.owing(t, "João Silva", "40.00")
		world.wantMatches(t, csvOf("40,00;PIX RECEBIDO JOAO SILVA SANTOS"), "doubtful amount")
		world.wantMatches(t, csvOf("40,00;PIX RECEBIDO JOAO"), "doubtful amount")
	})
}

func TestTwoPaymentsOfOnePayerDoNotPayOneInvoiceTwice(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.owing(t, "João Silva", "40.00")
		world.wantMatches(t, csvOf("40,00;PIX JOAO SILVA", "40,00;PIX JOAO SILVA"), "sure name", "none")
	})
}

func TestMoneyBeforeTheInvoiceWasIssuedIsDoubtful(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.owing(t, "João Silva", "40.00")
		content := []byte("data;valor;descrição\n30/01/2026;40,00;PIX JOAO SILVA\n01/02/2026;40,00;PIX JOAO SILVA\n")
		world.wantMatches(t, content, "doubtful name")
		reading, err := world.ReadStatement(t.Context(), world.actor, content)
		must(t, err)
		if reading.Future != 1 {
			t.Errorf("%d lines of days to come, want 1", reading.Future)
		}
		world.owing(t, "Bia Rocha", "30.00", "due_date", "2026-01-20") // a debt that is older than its record
		world.wantMatches(t, []byte("data;valor;descrição\n19/01/2026;30,00;PIX BIA ROCHA\n20/01/2026;30,00;PIX BIA ROCHA\n"),
			"doubtful name", "sure name")
	})
}

func TestBookedLineCountsOnTheBanksDayAndIsNeverOfferedAgain(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		joao := world.owing(t, "João Silva", "40.00")
		ana, bia := world.owing(t, "Ana Dias", "40.00"), world.owing(t, "Bia Dias", "40.00")
		first := csvOf("40,00;PIX JOAO SILVA", "40,00;PIX ANA DIAS")
		done := world.book(t, first, Booking{0, joao.ID}, Booking{1, ana.ID})
		for _, one := range done {
			if one.Err != nil || one.Outcome.Status != billing.Paid || one.Outcome.PaidOn != civil.MustParse("2026-01-31") {
				t.Errorf("%+v", one)
			}
		}
		if world.received(t, "2026-01-31") != 8000 {
			t.Error("the day does not have the money")
		}
		world.wantMatches(t, first, "booked", "booked")
		// Another format, another order and one line more.
		second := ofxOf("40.00;PIX BIA DIAS", "40.00;RECEBIDO ANA DIAS", "40.00;RECEBIDO JOAO SILVA")
		list := world.wantMatches(t, second, "sure name", "booked", "booked")
		if list[0].Invoice.ID != bia.ID {
			t.Errorf("proposed for %d", list[0].Invoice.ID)
		}
		again := world.book(t, second, Booking{1, bia.ID})
		if fault.KindOf(again[0].Err) != fault.KindConflict {
			t.Errorf("booked twice: %v", again[0].Err)
		}
		world.wantOpen(t, bia)
	})
}

func TestEqualLinesOfOneFileAreTwo(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		joao, ana := world.owing(t, "João Silva", "40.00"), world.owing(t, "Ana Dias", "40.00")
		content := csvOf("40,00;PIX RECEBIDO", "40,00;PIX RECEBIDO")
		if done := world.book(t, content, Booking{0, joao.ID}); done[0].Err != nil {
			t.Fatal(done[0].Err)
		}
		world.wantMatches(t, content, "booked", "doubtful amount")
		if done := world.book(t, content, Booking{1, ana.ID}); done[0].Err != nil {
			t.Fatal(done[0].Err)
		}
		world.wantMatches(t, content, "booked", "booked")
		if world.received(t, "2026-01-31") != 8000 {
			t.Error("not both were booked")
		}
	})
}

func TestUndoneBookingIsOfferedAgain(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		joao := world.owing(t, "João Silva", "40.00")
		content := csvOf("40,00;PIX JOAO SILVA")
		for range 2 {
			world.wantMatches(t, content, "sure name")
			if done := world.book(t, content, Booking{0, joao.ID}); done[0].Err != nil {
				t.Fatal(done[0].Err)
			}
			world.wantMatches(t, content, "booked")
			paid, err := world.Payments(t.Context(), world.actor, joao.ID)
			must(t, err)
			_, err = world.invoices.UndoPayment(t.Context(), world.actor, paid[len(paid)-1].Number)
			must(t, err)
		}
		world.wantOpen(t, joao)
	})
}

func TestWhatWasRegisteredByHandIsNotOfferedAsSure(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		joao := world.owing(t, "João Silva", "40.00")
		_, err := world.invoices.SetStatus(t.Context(), world.actor, joao.ID, billing.ReadStatusChange(values("status", "Pago", "paid_at", "2026-01-30")))
		must(t, err)
		world.wantMatches(t, csvOf("40,00;PIX JOAO SILVA", "40,00;PIX JOAO SILVA"), "registered name", "none")
	})
}

func TestEndToEndIDThatTheBooksHaveIsKnown(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		const end = "E00416968202601311200abcdefghijk"
		joao, ana := world.owing(t, "João Silva", "40.00"), world.owing(t, "Ana Dias", "40.00")
		content := csvOf("40,00;PIX RECEBIDO "+end, "40,00;PIX RECEBIDO")
		if done := world.book(t, content, Booking{0, joao.ID}, Booking{1, ana.ID}); done[0].Err != nil || done[1].Err != nil {
			t.Fatal(done)
		}
		if got := world.find(t, joao.ID); got.PaidVia != "pix" {
			t.Errorf("paid via %q", got.PaidVia)
		}
		world.wantMatches(t, ofxOf("40.00;"+end), "booked")
		world.wantMatches(t, ofxOf("40.00;E00416968202601311200abcdefghijX"), "booked") // the line without an id
	})
}

func TestLessThanIsOwedIsBookedAsAPart(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		joao := world.owing(t, "João Silva", "40.00")
		content := csvOf("15,00;PIX JOAO SILVA", "1,00;PIX JOAO SILVA")
		done := world.book(t, content, Booking{0, joao.ID})
		if done[0].Err != nil || done[0].Outcome.Status != billing.Open || done[0].Outcome.Received != 1500 {
			t.Errorf("%+v", done[0])
		}
		if _, err := world.BookStatement(t.Context(), world.actor, content, []Booking{{2, joao.ID}}); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("a line that is not there: %v", err)
		}
		if done := world.book(t, content, Booking{1, joao.ID + 1000}); fault.KindOf(done[0].Err) != fault.KindNotFound {
			t.Errorf("an invoice that is not there: %v", done[0].Err)
		}
	})
}

func TestTwoPeopleBookOneLineOnce(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		joao, ana := world.owing(t, "João Silva", "40.00"), world.owing(t, "Ana Dias", "40.00")
		content := csvOf("40,00;PIX RECEBIDO")
		var all sync.WaitGroup
		for _, invoice := range []billing.Invoice{joao, ana} {
			all.Go(func() {
				if _, err := world.BookStatement(t.Context(), world.actor, content, []Booking{{0, invoice.ID}}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := world.received(t, "2026-01-31"); got != 4000 {
			t.Errorf("received %s, want 40.00", got)
		}
	})
}
