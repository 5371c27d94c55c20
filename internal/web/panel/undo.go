package panel

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// undoTime is how long work can be undone, and undoLines how many lines of the
// audit log it may have left.
const (
	undoTime  = 10 * time.Minute
	undoLines = 5 * kit.MaxPicked
)

// errUndoOver is for work of long ago, or of another user.
var errUndoOver = fault.New(fault.KindConflict, "it can no longer be undone")

// undo takes back what the reader did a moment ago. The lines that the work left
// in the audit log say what it changed; each is turned around by the use case
// that a person would use, the last one first.
func (s *Server) undo(req *kit.Request) error {
	back := req.Back("/")
	filter := account.AuditFilter{Batch: req.PostFormValue("batch"), Since: s.DB.Now().Add(-undoTime)}
	if filter.Batch == "" {
		return req.Complain(back, errUndoOver)
	}
	lines, _, err := s.Accounts.Audit(req.Context(), req.Actor, filter, input.Page{Number: 1, Size: undoLines})
	if err != nil {
		return err
	}
	lines = slices.DeleteFunc(lines, func(line account.AuditLine) bool { return line.UserID != req.User.ID })
	if len(lines) == 0 {
		return req.Complain(back, errUndoOver)
	}
	reason, paid := "", paidIn(lines)
	for _, line := range lines {
		err := s.undoLine(req, line, paid)
		if err != nil && !kit.Refused(err) && fault.KindOf(err) != fault.KindNotFound {
			return err
		}
		if err != nil {
			reason = kit.ReasonOf(err)
		}
	}
	if reason != "" {
		page.Complain(req.Writer, req.Request, "A part could not be undone: %s", req.Lang.Reason(reason))
		return req.GoOn(back)
	}
	return req.Done(back, "It was undone.")
}

// paidIn are the invoices that the work paid.
func paidIn(lines []account.AuditLine) map[int64]bool {
	paid := map[int64]bool{}
	for _, line := range lines {
		if line.Record == "invoice" && kit.ChangesOf(line)["status"].After == billing.Paid.String() {
			paid[line.RecID] = true
		}
	}
	return paid
}

// undoLine turns one change around. One that follows from another goes back with
// that.
func (s *Server) undoLine(req *kit.Request, line account.AuditLine, paid map[int64]bool) error {
	changed := kit.ChangesOf(line)
	switch {
	case line.Action == string(billing.ActionCreated):
		return s.Billing.UndoOpening(req.Context(), req.Actor, line.RecID, billing.WithdrawnUndone)
	case line.Action == string(billing.ActionUpdated):
		return s.reopen(req, line, changed)
	case line.Action == string(customer.ActionRenewed):
		return s.unrenew(req, line, paid)
	case line.Action == string(customer.ActionUpdated):
		return s.restore(req, line.RecID, changed)
	}
	return nil
}

// reopen takes back the payments that the work registered for an invoice, or opens
// one that it cancelled. One that the program cancelled with its customer opens
// with it.
func (s *Server) reopen(req *kit.Request, line account.AuditLine, changed map[string]account.FieldChange) error {
	if _, moved := changed["amount_received"]; moved {
		_, err := s.Billing.UndoPaymentsIn(req.Context(), req.Actor, line.RecID, req.PostFormValue("batch"))
		return err
	}
	status, ok := changed["status"]
	if status.Before == billing.Cancelled.String() && status.After == billing.Open.String() {
		return s.Billing.UndoOpening(req.Context(), req.Actor, line.RecID, billing.Withdrawal(changed["withdrawn"].Before))
	}
	if !ok || status.Before != billing.Open.String() || changed["withdrawn"].After != "" {
		return nil
	}
	form := input.FromStrings(map[string]string{"status": billing.Open.String()})
	_, err := s.Billing.SetStatus(req.Context(), req.Actor, line.RecID, billing.ReadStatusChange(form))
	return err
}

// unrenew moves a due date back. Where the payment of an invoice that the work paid
// moved it, undoing the payment does.
func (s *Server) unrenew(req *kit.Request, line account.AuditLine, paid map[int64]bool) error {
	list, err := s.Billing.Latest(req.Context(), req.Actor, []int64{line.RecID}, 0)
	if err != nil {
		return err
	}
	changed := kit.ChangesOf(line)
	due := changed["data_de_vencimento"]
	from, _ := civil.Parse(due.Before)
	to, _ := civil.Parse(due.After)
	for _, invoice := range list[line.RecID] {
		if paid[invoice.ID] && invoice.RenewedTo() == to {
			return nil
		}
	}
	_, err = s.Billing.UndoRenewal(req.Context(), req.Actor, billing.RenewalToUndo{
		CustomerID: line.RecID, From: from, To: to, On: req.Actor.Today(line.At), OwnDay: ownDayBefore(changed, from),
	})
	return err
}

// ownDayBefore is the day of the month that a due date stood for; 0: the change left it.
func ownDayBefore(changed map[string]account.FieldChange, dueOn civil.Date) int {
	own, ok := changed[customer.AuditOwnDay]
	if !ok {
		return 0
	}
	ownDay, _ := strconv.Atoi(own.Before)
	return cmp.Or(ownDay, dueOn.Day())
}

// recentRows is how many lines the page of the last actions shows.
const recentRows = 50

// recent shows what the reader did while it can be undone.
func (s *Server) recent(req *kit.Request) error {
	filter := account.AuditFilter{UserID: req.User.ID, Since: s.DB.Now().Add(-undoTime)}
	rows := kit.DeedRows(req, s.AuditLines(req, filter, recentRows))
	s.linkRecords(req, rows, nil)
	s.offerUndo(req, rows)
	return req.Show("recent", "Last actions", rows)
}

// offerUndo has the lines of what the reader did a moment ago offer to take it
// back, each piece of work once. It is offered for what undo takes back wholly,
// and only while none of its records was changed since.
func (s *Server) offerUndo(req *kit.Request, rows []kit.DeedRow) {
	since := s.DB.Now().Add(-undoTime)
	if !slices.ContainsFunc(rows, func(row kit.DeedRow) bool {
		return row.Batch != "" && row.UserID == req.User.ID && !row.At.Before(since)
	}) {
		return
	}
	open := offers(s.AuditLines(req, account.AuditFilter{Since: since}, undoLines), req.User.ID)
	for n, row := range rows {
		count, ok := open[row.Batch]
		if !ok {
			continue
		}
		offer := kit.UndoOffer{Batch: row.Batch, Back: req.URL.RequestURI(), Label: req.Lang.T("Undo")}
		if count > 1 {
			offer.Label = req.Lang.T("Undo for all %d", count)
		}
		rows[n].Undo = &offer
		delete(open, row.Batch)
	}
}

// offers are the batches of a user that can be taken back, of lines with the newest
// first, and how many customers, or else invoices, each has changed.
func offers(lines []account.AuditLine, userID int64) map[string]int {
	type record struct {
		kind string
		id   int64
	}
	last, closed := map[record]string{}, map[string]bool{"": true}
	changed := map[string]map[record]bool{}
	for _, line := range lines {
		of := record{line.Record, line.RecID}
		if _, seen := last[of]; !seen {
			last[of] = line.Batch
		}
		if line.UserID != userID || last[of] != line.Batch || !takenBack(line) {
			closed[line.Batch] = true
		}
		if changed[line.Batch] == nil {
			changed[line.Batch] = map[record]bool{}
		}
		changed[line.Batch][of] = true
	}
	open := map[string]int{}
	for batch, records := range changed {
		if closed[batch] {
			continue
		}
		kinds := map[string]int{}
		for of := range records {
			kinds[of.kind]++
		}
		open[batch] = cmp.Or(kinds["customer"], kinds["invoice"])
	}
	return open
}

// takenBack reports whether undo takes the change of a line back wholly. Money that
// was taken back or given back does not come again.
func takenBack(line account.AuditLine) bool {
	changed := kit.ChangesOf(line)
	switch line.Action {
	case string(billing.ActionUpdated):
		received, moved := changed["amount_received"]
		before, _ := money.Parse(received.Before)
		after, _ := money.Parse(received.After)
		status := changed["status"]
		if changed["withdrawn"].After == "moved" { // the new due date had an invoice: they cannot be separated again
			return false
		}
		return status.Before != billing.Paid.String() && (!moved || after > before && status.After != billing.Cancelled.String())
	case string(customer.ActionUpdated):
		return !slices.ContainsFunc(line.Changes, func(change account.FieldChange) bool {
			left := change.Field == "cancel_reason" || change.Field == "cancelled" && change.After == "true"
			first := change.Field == "data_de_vencimento" && change.Before == "" // it was billed since
			return first || !left && !slices.Contains(wholeFields, change.Field) && !slices.Contains(plainFields, change.Field)
		})
	case string(billing.ActionCreated), string(customer.ActionRenewed), "customer.credit", "payment.confirmed":
		return true
	}
	return false
}

// wholeFields are the fields of a customer that restore gives back as they were.
var wholeFields = []string{"data_de_vencimento", customer.AuditOwnDay, "plan"}

// plainFields are the fields of a customer that the audit log has as forms do.
var plainFields = []string{"name", "whatsapp", "email", "usuario", "notes", "external_id", "cpf_cnpj"}

// undoable is the batch of an edit that undo takes back wholly; "" for one that it
// would take back in part.
func (s *Server) undoable(req *kit.Request, batch string) string {
	lines := s.AuditLines(req, account.AuditFilter{Batch: batch}, undoLines)
	final := func(line account.AuditLine) bool { return line.Record == "customer" && !takenBack(line) }
	if len(lines) == 0 || slices.ContainsFunc(lines, final) {
		return ""
	}
	return batch
}

// restore gives a customer back what it had, or takes it back.
func (s *Server) restore(req *kit.Request, customerID int64, changed map[string]account.FieldChange) error {
	form := map[string]string{}
	for _, name := range plainFields {
		if change, ok := changed[name]; ok {
			form[name] = change.Before
		}
	}
	if due, ok := changed["data_de_vencimento"]; ok && due.Before != "" {
		form["data_de_vencimento"] = due.Before
	}
	if cancelled, ok := changed["cancelled"]; ok && cancelled.After == "true" {
		form["cancelled"] = "false"
	}
	if plan, ok := changed["plan"]; ok {
		id, err := s.planNamed(req, plan.Before)
		if err != nil {
			return err
		}
		form["plan_id"] = id
	}
	if len(form) == 0 {
		return nil
	}
	draft := customer.ReadChanges(input.FromStrings(form))
	draft.OwnDay = ownDayBefore(changed, draft.DueOn.Value)
	_, err := s.Customers.Update(req.Context(), req.Actor, customerID, draft)
	return err
}

// planNamed finds the one plan of a name; the audit log has names.
func (s *Server) planNamed(req *kit.Request, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	plans, _, err := s.Catalog.Plans(req.Context(), req.Actor, catalog.Filter{}, input.Page{Number: 1, Size: kit.MaxChoices})
	if err != nil {
		return "", err
	}
	found := ""
	for _, plan := range plans {
		if plan.Name == name && found != "" {
			return "", fault.Conflict("there are two plans of this name")
		}
		if plan.Name == name {
			found = kit.IDText(plan.ID)
		}
	}
	if found == "" {
		return "", fault.NotFound("plan")
	}
	return found, nil
}
