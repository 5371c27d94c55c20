package payment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/test/kit/sqldbtest"
)

// movement is money that came to the company's account, as the bank knows it.
type movement struct {
	on     civil.Date
	amount money.Cents
	payer  string
	code   string // the txid of a charge, where the payer used it
}

// deskBill is an invoice as the model has it.
type deskBill struct {
	payer    string
	amount   money.Cents
	received money.Cents
	open     bool
}

// booked is a line that was booked, as a payment of an invoice.
type booked struct {
	movement

	invoice int64
	payment int64
}

// desk is a person with the statements of a bank, and a model of what they come to: of
// the lines of a day and amount so many are booked as were booked, in whatever format.
type desk struct {
	*world
	t        *testing.T
	random   *rand.Rand
	today    civil.Date
	closed   civil.Date
	moves    []movement
	people   map[string]int64
	invoices map[int64]*deskBill
	booked   []booked
	received map[civil.Date]money.Cents
	done     map[string]int
}

var deskPayers = []string{"Ana Lima", "Bia Rocha", "Caio Dias", "Davi Melo"}

// dialects write what the bank says of a movement. The last says of none who paid it.
var dialects = []struct {
	write func(lines ...string) []byte
	words func(movement) string
}{
	{csvOn, func(m movement) string { return "PIX RECEBIDO " + strings.ToUpper(m.payer) + " " + m.code }},
	{ofxOn, func(m movement) string { return "Transferência recebida pelo Pix - " + m.payer + " - " + m.code }},
	{ofxOn, func(movement) string { return "PIX RECEBIDO" }},
}

// csvOn and ofxOn write lines of "day;amount;words".
func csvOn(lines ...string) []byte {
	return []byte("data;valor;descrição\n" + strings.ReplaceAll(strings.Join(lines, "\n"), ".", ",") + "\n")
}

func ofxOn(lines ...string) []byte {
	var out strings.Builder
	out.WriteString("OFXHEADER:100\n\n<OFX><BANKACCTFROM><ACCTID>123</BANKACCTFROM><BANKTRANLIST>\n")
	for n, line := range lines {
		cells := strings.SplitN(line, ";", 3)
		fmt.Fprintf(&out, "<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>%s120000[-3:BRT]<TRNAMT>%s<FITID>%d<MEMO>%s</STMTTRN>\n",
			strings.ReplaceAll(cells[0], "-", ""), cells[1], n, cells[2])
	}
	out.WriteString("</BANKTRANLIST></OFX>")
	return []byte(out.String())
}

// bill makes an invoice of a customer who owes none, so that what is sure is right.
func (d *desk) bill() {
	payer := deskPayers[d.random.IntN(len(deskPayers))]
	for _, invoice := range d.invoices {
		if invoice.payer == payer && invoice.open {
			return
		}
	}
	if d.people[payer] == 0 {
		record, err := d.customers.Create(d.t.Context(), d.actor, customer.ReadNew(values("name", payer)))
		must(d.t, err)
		d.people[payer] = record.ID
	}
	amount := []money.Cents{4000, 4000, 1500}[d.random.IntN(3)]
	due := d.today.AddDays(-d.random.IntN(4))
	invoice, err := d.world.invoices.CreateExtra(d.t.Context(), d.actor, d.people[payer],
		billing.ReadExtra(values("amount", amount.String(), "due", due.String())))
	must(d.t, err)
	d.invoices[invoice.ID] = &deskBill{payer: payer, amount: amount, open: true}
}

// open are the invoices that are owed.
func (d *desk) open() (ids []int64) {
	for _, id := range slices.Sorted(maps.Keys(d.invoices)) {
		if d.invoices[id].open {
			ids = append(ids, id)
		}
	}
	return ids
}

// pay has money come to the bank: for an invoice, or from a stranger.
func (d *desk) pay() {
	m := movement{on: d.today.AddDays(-d.random.IntN(3)), amount: 4000, payer: "Zeca Pires"}
	for _, id := range d.open() {
		if invoice := d.invoices[id]; d.random.IntN(2) == 0 {
			m.payer, m.amount = invoice.payer, []money.Cents{invoice.amount - invoice.received, 4000, 1500}[d.random.IntN(3)]
			if d.random.IntN(3) == 0 {
				m.code = d.charged(d.t, id).Reference
			}
			break
		}
	}
	d.moves = append(d.moves, m)
	if d.random.IntN(4) == 0 {
		d.moves = append(d.moves, m) // twice the same
	}
}

// file is a statement of all days, and what its lines are.
func (d *desk) file() ([]byte, []movement) {
	dialect := dialects[d.random.IntN(len(dialects))]
	moves := slices.Clone(d.moves)
	d.random.Shuffle(len(moves), func(x, y int) { moves[x], moves[y] = moves[y], moves[x] })
	slices.SortStableFunc(moves, func(x, y movement) int { return x.on.Compare(y.on) })
	var lines []string
	for _, m := range moves {
		lines = append(lines, fmt.Sprint(m.on, ";", m.amount, ";", dialect.words(m)))
	}
	return dialect.write(lines...), moves
}

// look reads a statement and books the sure lines, one that a person assigns, or none.
func (d *desk) look() {
	if len(d.moves) == 0 {
		return
	}
	content, moves := d.file()
	proposals := d.read(d.t, content)
	d.wantBooked(proposals)
	for n, p := range proposals {
		d.done[string(p.Match)]++
		if p.Match != MatchSure {
			continue
		}
		invoice := d.invoices[p.Invoice.ID]
		if m := moves[n]; invoice == nil || !invoice.open || invoice.payer != m.payer {
			d.t.Errorf("%+v is surely of invoice %d: %+v", m, p.Invoice.ID, invoice)
		}
	}
	at := d.random.IntN(len(proposals))
	for n, p := range proposals {
		switch {
		case d.random.IntN(8) == 0: // left for another day
		case p.Match == MatchSure:
			d.bookLine(content, moves[n], n, p.Invoice.ID, false)
		case n == at:
			if open := d.open(); len(open) > 0 {
				d.bookLine(content, moves[n], n, open[0], p.Match == MatchBooked)
			}
		}
	}
}

// wantBooked wants as many lines of a day and amount to be known as were booked.
func (d *desk) wantBooked(proposals []Proposal) {
	want, got := map[moment]int{}, map[moment]int{}
	for _, one := range d.booked {
		want[moment{one.on, one.amount}]++
	}
	for _, p := range proposals {
		if p.Match == MatchBooked {
			got[moment{p.Line.On, p.Line.Amount}]++
		}
	}
	for key, n := range want {
		if got[key] != n {
			d.t.Errorf("%d lines of %+v are booked, want %d", got[key], key, n)
		}
	}
	if len(got) > len(want) {
		d.t.Errorf("booked %v, want %v", got, want)
	}
}

func (d *desk) bookLine(content []byte, m movement, number int, id int64, known bool) {
	done := d.book(d.t, content, Booking{number, id})[0]
	invoice := d.invoices[id]
	switch {
	case !invoice.open:
		d.wantFault(done.Err, fault.KindInvalid, "")
	case known:
		d.wantFault(done.Err, fault.KindConflict, "")
	case !m.on.After(d.closed):
		d.wantFault(done.Err, fault.KindInvalid, "books_closed_through")
	case done.Err != nil:
		d.t.Errorf("%+v for %+v: %v", m, invoice, done.Err)
	default:
		d.done["book"]++
		d.booked = append(d.booked, booked{m, id, done.Outcome.PaymentID})
		d.came(invoice, m.amount, m.on)
	}
}

func (d *desk) wantFault(err error, kind fault.Kind, field string) {
	if fault.KindOf(err) != kind || field != "" && len(fault.FieldsOf(err).Get(field)) == 0 {
		d.t.Errorf("%v, want %v of %q", err, kind, field)
	}
	d.done["refused"]++
}

// came books money for an invoice; negative: it never came.
func (d *desk) came(invoice *deskBill, amount money.Cents, on civil.Date) {
	invoice.received += amount
	invoice.open = invoice.received < invoice.amount
	d.received[on] += amount
}

// undo takes a booking back: its line is offered again.
func (d *desk) undo() {
	if len(d.booked) == 0 {
		return
	}
	n := d.random.IntN(len(d.booked))
	one := d.booked[n]
	_, err := d.world.invoices.UndoPayment(d.t.Context(), d.actor, one.payment)
	if !one.on.After(d.closed) {
		d.wantFault(err, fault.KindInvalid, "books_closed_through")
		return
	}
	must(d.t, err)
	d.done["undo"]++
	d.booked = slices.Delete(d.booked, n, n+1)
	d.came(d.invoices[one.invoice], -one.amount, one.on)
}

// closeBooks closes days, or opens them again.
func (d *desk) closeBooks() {
	d.closed = []civil.Date{{}, {}, d.today.AddDays(-1), d.today.AddDays(-3)}[d.random.IntN(4)]
	d.configure(d.t, "books_closed_through", d.closed.String())
}

func (d *desk) act() {
	switch d.random.IntN(9) {
	case 0, 1:
		d.bill()
	case 2, 3:
		d.pay()
	case 4:
		d.undo()
	case 5:
		d.closeBooks()
	case 6:
		d.clock.Advance(24 * time.Hour)
		d.today = d.today.AddDays(1)
	default:
		d.look()
	}
}

func (d *desk) compare() {
	for id, want := range d.invoices {
		got := d.find(d.t, id)
		if (got.Status == billing.Open) != want.open || got.Received != want.received {
			d.t.Errorf("invoice %d is %s with %s, want %+v", id, got.Status, got.Received, want)
		}
	}
	for on, want := range d.received {
		if got := d.world.received(d.t, on.String()); got != want {
			d.t.Errorf("%s came on %v, want %s", got, on, want)
		}
	}
}

func TestStatementsAreBookedAsTheModelSays(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, seed := range sqldbtest.Lives(world.db.Engine(), 3) {
			d := &desk{
				world: world, t: t, random: rand.New(rand.NewPCG(seed, 36)), today: world.actor.Today(world.clock.Now()),
				people: map[string]int64{}, invoices: map[int64]*deskBill{}, received: map[civil.Date]money.Cents{}, done: map[string]int{},
			}
			world.actor = world.newCompany(t)
			world.gateway(t, "provider", "fake", "secret", "s3cret-of-the-company")
			for step := range 80 {
				d.act()
				d.compare()
				if t.Failed() {
					t.Fatalf("seed %d: statements and the model have parted at step %d", seed, step)
				}
			}
			t.Log(d.done)
		}
	})
}
