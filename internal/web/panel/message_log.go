package panel

import (
	"slices"
	"strings"

	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

// statusWords are the English texts of the statuses of messages.
var statusWords = map[reminder.Status]string{
	reminder.Scheduled: "Scheduled", reminder.Sending: "Being sent", reminder.Sent: "Sent", reminder.Failed: "Not sent",
	reminder.Skipped: "Skipped", reminder.Unknown: "In doubt", reminder.Dismissed: "Let be",
}

// statusTones are their colours.
var statusTones = map[reminder.Status]string{
	reminder.Scheduled: "note", reminder.Sending: "note", reminder.Sent: "good", reminder.Failed: "bad", reminder.Unknown: "warn",
}

// outcomeWords are what an attempt came to.
var outcomeWords = map[string]string{
	"accepted": "Accepted", "refused": "Refused", "passing": "May work later", "unknown": "In doubt",
}

// messageRow is a message as lists show it.
type messageRow struct {
	reminder.Message
	Word, Tone string
	Why        string // in the reader's language
	Decide     bool   // there is something to decide about it
	Again      bool   // it can be sent again, without a doubt
}

func messageRows(req *request, list []reminder.Message) []messageRow {
	rows := make([]messageRow, len(list))
	for i, m := range list {
		rows[i] = messageRow{
			Message: m, Word: req.lang.T(statusWords[m.Status]), Tone: statusTones[m.Status], Why: reasons(req.lang, m.Reason),
			Decide: m.Status == reminder.Unknown, Again: m.Status == reminder.Failed && m.RuleName != "",
		}
	}
	return rows
}

// reasons translates why a message was not sent; where several channels were
// tried, one by one.
func reasons(l page.Lang, text string) string {
	parts := strings.Split(text, "; ")
	for i, part := range parts {
		parts[i] = l.Reason(part)
	}
	return strings.Join(parts, "; ")
}

type messageLogData struct {
	Form     *page.Form
	List     []messageRow
	Pager    page.Pager
	Statuses []page.Option
	Rules    []page.Option
	Channels []page.Option
	Filtered bool
	More     bool // there are more than the list leads to
	Of       *customer.Customer
	HasRules bool
	Back     string
}

func (s *Server) messageLog(req *request) error {
	in := req.query()
	p, f := in.Page(), reminder.ReadFilter(in)
	d := messageLogData{Form: queryForm(req), Back: req.URL.RequestURI()}
	if err := in.Err(); err != nil {
		d.Form.Fail(err)
		f = reminder.Filter{}
	}
	if f.CustomerID != 0 {
		c, err := s.Customers.Find(req.Context(), req.Actor, f.CustomerID)
		if err != nil {
			return err
		}
		d.Of = &c
	}
	list, total, err := s.Reminders.Messages(req.Context(), req.Actor, f, p)
	if err != nil {
		return err
	}
	d.List, d.Pager = messageRows(req, list), page.NewPager(req.URL, p, total)
	d.Filtered, d.More = f != (reminder.Filter{}), total == reminder.Countable
	return s.messageLogPage(req, d)
}

func (s *Server) messageLogPage(req *request, d messageLogData) error {
	all := page.Option{Value: "", Label: req.lang.T("All")}
	d.Statuses, d.Rules, d.Channels = []page.Option{all}, []page.Option{all}, []page.Option{all}
	for _, status := range reminder.Statuses {
		d.Statuses = append(d.Statuses, page.Option{Value: string(status), Label: req.lang.T(statusWords[status])})
	}
	rules, err := s.Reminders.Rules(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	for _, r := range rules {
		d.Rules = append(d.Rules, page.Option{Value: idText(r.ID), Label: r.Name})
	}
	channels, err := s.Reminders.Channels(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	for _, c := range channels {
		d.Channels = append(d.Channels, page.Option{Value: idText(c.ID), Label: c.Name})
	}
	d.HasRules = len(rules) > 0
	return s.show(req, page.View{Name: "messages_log", Title: "Log of messages", Data: d})
}

type messageData struct {
	Message  messageRow
	Attempts []sendingRow
	Resend   bool
	MarkSent bool
	Dismiss  bool
}

type sendingRow struct {
	reminder.Attempt
	Word, Channel string
}

func (s *Server) message(req *request) error {
	m, attempts, err := s.Reminders.FindMessage(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	d := messageData{Message: messageRows(req, []reminder.Message{m})[0]}
	for _, a := range attempts {
		kind, _ := s.messageKind(a.Kind)
		d.Attempts = append(d.Attempts, sendingRow{a, req.lang.T(outcomeWords[a.Outcome]), kind.Title})
	}
	may := m.Decisions()
	d.Resend = slices.Contains(may, reminder.Resend) && m.RuleName != ""
	d.MarkSent, d.Dismiss = slices.Contains(may, reminder.MarkSent), slices.Contains(may, reminder.Dismiss)
	return s.show(req, page.View{Name: "messages_message", Title: "Message", Data: d})
}

var decided = map[reminder.Decision]string{
	reminder.Resend:   "The message is sent again in a moment, unless the customer has paid or wants no messages.",
	reminder.MarkSent: "The message counts as sent.",
	reminder.Dismiss:  "The message is let be.",
}

func (s *Server) decideMessage(req *request) error {
	back := req.back("/messages/log/" + idText(req.id))
	decision := reminder.Decision(req.PostFormValue("as"))
	if _, err := s.Reminders.Decide(req.Context(), req.Actor, req.id, decision); err != nil {
		return req.complain(back, err)
	}
	return req.done(back, decided[decision])
}

// customerMessages is the part of a customer's page about messages; nil where
// the company's plan has none.
type customerMessages struct {
	List     []messageRow
	More     bool
	OptedOut bool
}

func (s *Server) customerMessages(req *request, c customer.Customer) (*customerMessages, error) {
	if !req.sends() {
		return nil, nil //nolint:nilnil // the page has no such part
	}
	const shown = 6
	out, err := s.Reminders.OptedOut(req.Context(), req.Actor, c.ID)
	if err != nil {
		return nil, err
	}
	list, total, err := s.Reminders.Messages(req.Context(), req.Actor, reminder.Filter{CustomerID: c.ID}, input.Page{Number: 1, Size: shown})
	return &customerMessages{List: messageRows(req, list), More: total > shown, OptedOut: out}, err
}

func (s *Server) setOptOut(req *request) error {
	out := req.PostFormValue("opted_out") == "true"
	if err := s.Reminders.SetOptOut(req.Context(), req.Actor, req.id, out); err != nil {
		return err
	}
	if out {
		return req.done(customerPath(req.id), "The customer gets no more messages.")
	}
	return req.done(customerPath(req.id), "The customer gets messages again.")
}

// messageNotices are what somebody has to look at, for the first page.
func (s *Server) messageNotices(req *request) (reminder.Attention, error) {
	if !req.sends() || !allows(req.User.Role, staff) {
		return reminder.Attention{}, nil
	}
	return s.Reminders.Attention(req.Context(), req.Actor)
}
