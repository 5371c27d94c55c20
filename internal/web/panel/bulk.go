package panel

import (
	"context"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
)

// Work over many records goes in two steps: the first form shows what will
// happen, the second one, which says that the reader is sure, has it happen. Each
// record is a use case of its own: one that is refused does not keep the others
// from it. Where nothing leaves the house the whole can be undone for a while.

// bulkPage shows what will happen.
type bulkPage struct {
	picks
	Action, Path, Back, Title, Button string
	Count                             int // that will change
	Danger                            bool
	Facts                             []fact
	Effects                           []string // translated
	Rows                              []bulkRow
	More                              int
	Form                              *page.Form
	Plans, Choices                    []page.Option
	Round                             *roundPage // of a reminder
}

// fact is a line of what will happen.
type fact struct{ Label, Value string }

// bulkRow is one of the records, before and after.
type bulkRow struct{ Name, Before, After, Amount string }

// shownRows is how many records the page names.
const shownRows = 6

func (p *bulkPage) fact(lang page.Lang, label, value string) {
	p.Facts = append(p.Facts, fact{lang.T(label), value})
}

func (p *bulkPage) effect(lang page.Lang, texts ...string) {
	for _, text := range texts {
		p.Effects = append(p.Effects, lang.T(text))
	}
}

func (p *bulkPage) row(row bulkRow) {
	if len(p.Rows) < shownRows {
		p.Rows = append(p.Rows, row)
		return
	}
	p.More++
}

// one is a record that an action is for, and what it does with it.
type one struct {
	row     bulkRow
	amount  money.Cents
	refusal string // why nothing will happen to it
	act     func(ctx context.Context, actor account.Actor) error
}

// work is an action over records that were picked.
type work struct {
	title, button, said string // in English, with a number
	danger, final       bool   // final: it cannot be undone
	amount              string // what the sum is called
	list                []one
	page                bulkPage
}

// bulk is work over customers.
func (s *Server) bulk(req *request) error { return s.carryOut(req, "/customers", s.customerWork) }

// invoiceBulk is work over invoices.
func (s *Server) invoiceBulk(req *request) error {
	return s.carryOut(req, "/invoices", s.invoiceWork)
}

type planner func(req *request, action string, chosen picks) (*work, error)

func (s *Server) carryOut(req *request, path string, plan planner) error {
	back, action := req.back(path), req.PostFormValue("action")
	chosen, err := readPicks(req)
	if err != nil {
		return req.complain(back, err)
	}
	if action == "remind" {
		return s.remindMany(req, path, back, chosen)
	}
	job, err := plan(req, action, chosen)
	if err != nil {
		return req.complain(back, err)
	}
	job.page.picks, job.page.Action, job.page.Path, job.page.Back = chosen, action, path, back
	if req.PostFormValue("sure") == "" || req.PostFormValue("agreed") != strconv.Itoa(job.count()) {
		return s.showWork(req, job)
	}
	return s.run(req, job)
}

// count is how many records will change.
func (w *work) count() (count int) {
	for _, record := range w.list {
		if record.refusal == "" {
			count++
		}
	}
	return count
}

// showWork shows what will happen; again when it has changed since.
func (s *Server) showWork(req *request, job *work) error {
	view := &job.page
	view.Count, view.Danger = job.count(), job.danger
	view.Title, view.Button = req.lang.T(job.title, view.Count), req.lang.T(job.button, view.Count)
	if view.Form == nil {
		view.Form = page.NewForm()
	}
	var sum money.Cents
	left := map[string]int{}
	for _, record := range job.list {
		if record.refusal != "" {
			left[record.refusal]++
			continue
		}
		sum += record.amount
		view.row(record.row)
	}
	if job.amount != "" {
		view.fact(req.lang, job.amount, sum.BR())
	}
	for reason, count := range left {
		view.Facts = append(view.Facts, fact{req.lang.T("Left out: %d", count), req.lang.Reason(reason)})
	}
	if !job.final {
		view.effect(req.lang, "You can undo it for ten minutes.")
	}
	if req.PostFormValue("sure") != "" {
		view.Form.Fail(fault.New(fault.KindConflict, "the list changed meanwhile; look at it again"))
	}
	return s.show(req, page.View{Name: "bulk", Title: view.Title, Data: view})
}

// run has it happen, and says what came of it.
func (s *Server) run(req *request, job *work) error {
	actor, done, reason := req.batch(), 0, ""
	for _, record := range job.list {
		if record.refusal != "" {
			continue
		}
		err := record.act(req.Context(), actor)
		switch {
		case err == nil:
			done++
		case !refused(err) && fault.KindOf(err) != fault.KindNotFound:
			return err
		default:
			reason = reasonOf(err)
		}
	}
	undo := actor.Batch
	if job.final || done == 0 {
		undo = ""
	}
	if all := job.count(); done < all {
		page.ComplainUndo(req.w, req.Request, undo, "%d of %d: done. The others were refused: %s", done, all, req.lang.Reason(reason))
	} else {
		page.SayUndo(req.w, req.Request, undo, job.said, done)
	}
	return req.goOn(job.page.Back)
}

// reasonOf is why something was refused.
func reasonOf(err error) string {
	if fields := fault.FieldsOf(err); !fields.Empty() {
		_, reason := fields.First()
		return reason
	}
	return fault.Public(err)
}

// customerWork plans an action over customers.
func (s *Server) customerWork(req *request, action string, chosen picks) (*work, error) {
	list, err := s.customersOf(req, chosen, limitOf(action))
	if err != nil {
		return nil, err
	}
	switch action {
	case "renew":
		return s.renewWork(req, list), nil
	case "plan":
		return s.planWork(req, list), req.failed
	case "cancel":
		return s.cancelWork(req, list), nil
	case "delete":
		return s.deleteWork(req, list), nil
	}
	return nil, fault.NotFound("page")
}

// customerItems are customers, each with what is done with it.
func customerItems(list []customer.Customer, act func(context.Context, account.Actor, int64) error) []one {
	items := make([]one, len(list))
	for n, record := range list {
		items[n] = one{
			amount: record.Price(), row: bulkRow{Name: record.Name, Before: page.FormatDate(record.DueOn), Amount: record.Price().BR()},
			act: func(ctx context.Context, actor account.Actor) error { return act(ctx, actor, record.ID) },
		}
	}
	return items
}

// updateTo changes a customer.
func (s *Server) updateTo(draft customer.Draft) func(context.Context, account.Actor, int64) error {
	return func(ctx context.Context, actor account.Actor, id int64) error {
		_, err := s.Customers.Update(ctx, actor, id, draft)
		return err
	}
}

func (s *Server) renewWork(req *request, list []customer.Customer) *work {
	job := &work{
		title: "Renew %d customers?", button: "Renew %d customers", said: "Customers renewed: %d.", amount: "Together",
	}
	hand := billing.ReadRenewal(req.form())
	job.page.Form = page.NewForm("invoice", string(req.Actor.Company.Settings.RenewInvoice))
	job.page.Choices = renewChoices(req)
	var first, last civil.Date
	job.list = customerItems(list, func(ctx context.Context, actor account.Actor, id int64) error {
		_, err := s.Billing.Renew(ctx, actor, id, hand)
		return err
	})
	for n, record := range list {
		renewal, err := renewalOf(req, record)
		if err != nil {
			job.list[n].refusal = reasonOf(err)
			continue
		}
		job.list[n].row.After = page.FormatDate(renewal.DueOn)
		first, last = span(first, last, renewal.DueOn)
	}
	if !first.IsZero() {
		job.page.fact(req.lang, "New due dates", req.lang.T("from %s to %s", page.FormatDate(first), page.FormatDate(last)))
	}
	return job
}

func span(first, last, day civil.Date) (from, to civil.Date) {
	if first.IsZero() || day.Before(first) {
		first = day
	}
	if day.After(last) {
		last = day
	}
	return first, last
}

// renewalOf is what renewing a customer would come to.
func renewalOf(req *request, record customer.Customer) (customer.Renewal, error) {
	if err := customer.CanRenew(record); err != nil {
		return customer.Renewal{}, err
	}
	return customer.PrepareExtension(req.Actor, record, customer.Extension{Period: record.Period(), On: req.today})
}

func (s *Server) planWork(req *request, list []customer.Customer) *work {
	job := &work{title: "Change the plan of %d customers?", button: "Change %d customers", said: "Customers moved to the plan: %d."}
	plans, _ := s.choices(req, false)
	job.page.Plans = plans[1:] // none is no plan to move to
	chosen := req.PostFormValue("bulk_plan_id")
	job.page.Form = page.NewForm("bulk_plan_id", chosen)
	draft := customer.ReadChanges(input.FromStrings(map[string]string{"plan_id": chosen}))
	job.list = customerItems(list, s.updateTo(draft))
	for n, record := range list {
		job.list[n].row.Before = record.Plan.Name
	}
	job.page.effect(req.lang, "The due dates stay as they are.", "Open invoices take the price of the new plan, unless somebody edited them.")
	return job
}

func (s *Server) cancelWork(req *request, list []customer.Customer) *work {
	job := &work{
		title: "Cancel %d customers?", button: "Cancel %d customers", said: "Customers cancelled: %d.", danger: true,
		amount: "They paid together",
	}
	draft := customer.ReadChanges(input.FromStrings(map[string]string{
		"cancelled": "true", "cancel_reason": req.PostFormValue("cancel_reason"),
		"keep_invoices": boolText(req.PostFormValue("forgive") != "true"),
	}))
	job.list = customerItems(list, s.updateTo(draft))
	for n, record := range list {
		if record.IsCancelled() {
			job.list[n].refusal = "the customer is cancelled"
		}
	}
	job.page.effect(req.lang,
		"No invoices and no messages from now on. What was paid stays in the numbers, and the customer can be reactivated.")
	return job
}

func (s *Server) deleteWork(req *request, list []customer.Customer) *work {
	job := &work{title: "Delete %d customers?", button: "Delete %d customers", said: "Customers deleted: %d.", danger: true, final: true}
	job.list = customerItems(list, s.Customers.Delete)
	job.page.effect(req.lang, "Its invoices are deleted too. The numbers of past months stay.",
		"Messages that are scheduled for it are not sent.", "This cannot be undone.")
	return job
}
