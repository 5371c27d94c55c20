package panel

import (
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// statusMeanings explain statuses with short words.
var statusMeanings = map[reminder.Status]string{
	reminder.Skipped:   "There was no reason to send it any more: paid, opted out, or another due date.",
	reminder.Unknown:   "Nobody knows whether it arrived. Somebody has to decide.",
	reminder.Dismissed: "A person decided to leave it.",
}

// statusTones are their colours.
var statusTones = map[reminder.Status]string{
	reminder.Scheduled: "note", reminder.Sending: "note", reminder.Sent: "good",
	reminder.Failed: "bad", reminder.Unknown: "warn",
}

// arrivalWords are what a carrier reported of a message.
var arrivalWords = map[reminder.Arrival]string{
	reminder.ArrivalSent: "On its way", reminder.ArrivalFailed: "Did not arrive",
	reminder.ArrivalDelivered: "Delivered", reminder.ArrivalRead: "Read",
}

// messageWord is the status of a message; of one that was sent, how far it has
// come.
func messageWord(lang page.Lang, m reminder.Message) string {
	if m.Status == reminder.Sent && (m.Arrival == reminder.ArrivalDelivered || m.Arrival == reminder.ArrivalRead) {
		return lang.T(arrivalWords[m.Arrival])
	}
	return lang.T(kit.StatusWords[m.Status])
}

// outcomeWords are what an attempt came to.
var outcomeWords = map[string]string{
	"accepted": "Accepted", "refused": "Refused", "passing": "May work later",
	"unknown": "In doubt",
}

// messageRow is a message as lists show it.
type messageRow struct {
	reminder.Message
	Word, Tone string
	Arrived    string // what the carrier reported, in the reader's language
	Why        string // in the reader's language
	Decide     bool   // there is something to decide about it
	Again      bool   // it can be sent again, without a doubt
	Means      string // what the status means, where its word does not say it
}

func messageRows(req *kit.Request, list []reminder.Message) []messageRow {
	rows := make([]messageRow, len(list))
	for i, m := range list {
		rows[i] = messageRow{
			Message: m, Word: messageWord(req.Lang, m), Tone: statusTones[m.Status], Arrived: req.Lang.T(arrivalWords[m.Arrival]),
			Why: reasons(req.Lang, m.Reason), Decide: m.Status == reminder.Unknown,
			Again: m.Status == reminder.Failed && m.RuleName != "", Means: req.Lang.T(statusMeanings[m.Status]),
		}
	}
	return rows
}

// reasons translates why a message was not sent; where several channels were
// tried, one by one.
func reasons(lang page.Lang, text string) string {
	parts := strings.Split(text, "; ")
	for i, part := range parts {
		parts[i] = lang.Reason(part)
	}
	return strings.Join(parts, "; ")
}

type messageLogData struct {
	kit.Listing
	List            []messageRow
	Rules, Channels []page.Option
	Of              *customer.Customer
	HasRules        bool
}

func messageChips(req *kit.Request) []kit.ChipLine {
	arrivals := kit.WordOptions(req, reminder.Arrivals, arrivalWords, req.Option("", "Any report"))
	return []kit.ChipLine{
		kit.ChoiceChips(req, "Status", "status", kit.WordOptions(req, reminder.Statuses, kit.StatusWords, req.Option("", "All messages"))),
		kit.ChoiceChips(req, "Reported by the carrier", "arrival", arrivals),
		kit.DateChips(req, "due_from", "due_to", true),
	}
}

// messageList is how messages are listed.
func (s *Server) messageList() kit.Source[reminder.Filter, reminder.Message] {
	return kit.ListOf(account.MessageList, reminder.ReadFilter, kit.SortsBy(input.ByDueDate), s.Reminders.Messages)
}

func (s *Server) messageLog(req *kit.Request) error {
	data := messageLogData{
		Listing: kit.NewList(req, "/messages/log/export", messageChips(req), "rule_id", "channel_id", "due_from", "due_to"),
	}
	from := s.messageList()
	data.Heads = from.Heads(req, input.ByDueDate, "Due date")
	list, filter := kit.Fill(req, &data.Listing, from)
	data.List, data.Total = messageRows(req, list), kit.Counted(req.Lang, data.Pager.Total, "1 message", "%s messages")
	data.Of = s.filteredCustomer(req, filter.CustomerID)
	rules, channels := kit.Read(req, s.Reminders.Rules), kit.Read(req, s.Reminders.Channels)
	data.Rules = kit.NamedOptions(rules, ruleName, req.Option("", "All rules"))
	data.Channels = kit.NamedOptions(channels, channelName, req.Option("", "All"))
	data.HasRules = len(rules) > 0
	return req.Show("messages_log", "Log of messages", data)
}

type messageData struct {
	Message                   messageRow
	Next                      reminder.Preview // as it would be sent now, of one that is scheduled
	Place                     kit.Place
	Attempts                  []sendingRow
	Resend, MarkSent, Dismiss bool
}

type sendingRow struct {
	reminder.Attempt
	Word, Channel string
	Arrived       string // what the carrier reported of it since
}

func (s *Server) message(req *kit.Request) error {
	m, attempts, err := s.Reminders.FindMessage(req.Context(), req.Actor, req.ID)
	req.Note(err)
	data := messageData{Message: messageRows(req, []reminder.Message{m})[0]}
	for _, attempt := range attempts {
		kind, _ := s.messageKind(attempt.Kind)
		data.Attempts = append(data.Attempts, sendingRow{
			attempt, req.Lang.T(outcomeWords[attempt.Outcome]), kind.Title, req.Lang.T(arrivalWords[attempt.Arrival]),
		})
	}
	neighbours := s.messageList().Nth(req, func(m reminder.Message) int64 { return m.ID })
	data.Next, data.Place = kit.ReadOf(req, s.Reminders.Upcoming, req.ID), kit.PlaceIn(req, "/messages/log", neighbours)
	may := m.Decisions()
	data.Resend = slices.Contains(may, reminder.Resend) && m.RuleName != ""
	data.MarkSent, data.Dismiss = slices.Contains(may, reminder.MarkSent), slices.Contains(may, reminder.Dismiss)
	return req.Show("messages_message", "Message", data)
}

var decided = map[reminder.Decision]string{
	reminder.Resend:   "The message is sent again in a moment, unless the customer has paid or wants no messages.",
	reminder.MarkSent: "The message counts as sent.",
	reminder.Dismiss:  "The message was dismissed.",
}

func (s *Server) decideMessage(req *kit.Request) error {
	back := req.Back("/messages/log/" + kit.IDText(req.ID))
	decision := reminder.Decision(req.PostFormValue("as"))
	_, err := s.Reminders.Decide(req.Context(), req.Actor, req.ID, decision)
	return req.Did(err, back, decided[decision])
}

// customerMessages is the part of a customer's page about messages; nil where
// the company's plan has none.
type customerMessages struct {
	List           []messageRow
	More, OptedOut bool
}

func (s *Server) customerMessages(req *kit.Request, record customer.Customer) *customerMessages {
	if !req.Sends() {
		return nil // the page has no such part
	}
	const shown = 6
	list, total := kit.ReadPage(req, s.Reminders.Messages, reminder.Filter{CustomerID: record.ID}, input.Page{Number: 1, Size: shown})
	return &customerMessages{messageRows(req, list), total > shown, kit.ReadOf(req, s.Reminders.OptedOut, record.ID)}
}

func (s *Server) setOptOut(req *kit.Request) error {
	out := req.PostFormValue("opted_out") == "true"
	err := s.Reminders.SetOptOut(req.Context(), req.Actor, req.ID, out)
	return req.Did(err, customerPath(req.ID), kit.Either(out, "The customer gets no more messages.", "The customer gets messages again."))
}

// messageNotices are what needs attention, for the first page.
func (s *Server) messageNotices(req *kit.Request) reminder.Attention {
	if !req.Sends() || !kit.Allows(req.User.Role, staff) {
		return reminder.Attention{}
	}
	return kit.Read(req, s.Reminders.Attention)
}

type templatesData struct{ List []templateRow }

type templateRow struct {
	reminder.Template
	Rules []reminder.Rule // that send it
}

func (s *Server) templates(req *kit.Request) error {
	var data templatesData
	rules := kit.Read(req, s.Reminders.Rules)
	for _, template := range kit.Read(req, s.Reminders.Templates) {
		row := templateRow{Template: template}
		for _, rule := range rules {
			if rule.TemplateID == template.ID {
				row.Rules = append(row.Rules, rule)
			}
		}
		data.List = append(data.List, row)
	}
	return req.Show("messages_templates", "Templates", data)
}

type templateForm struct {
	kit.RecordForm
	Variables []variableRow
	Approved  bool // the part for Meta is open
	Preview   *templatePreview
}

type variableRow struct {
	Name, Help, Sample string
}

// templatePreview is a template as a customer would get it, and who else it
// could be shown for.
type templatePreview struct {
	reminder.Preview
	Customer customer.Customer
	Matches  []customer.Customer
	Search   string
	Refused  bool // the words have to be put right first
}

// templateForm is the form of a template, or of a new one.
func (s *Server) templateForm(req *kit.Request, form *page.Form, refusal error) error {
	if form == nil {
		var template reminder.Template
		if req.ID != 0 {
			template = kit.ReadOf(req, s.Reminders.FindTemplate, req.ID)
		}
		form = page.NewForm("name", template.Name, "subject", template.Subject, "text", template.Text,
			"whatsapp_name", template.Approved.Name, "whatsapp_language", template.Approved.Language,
			"whatsapp_params", strings.Join(template.Approved.Params, "\n"),
			"whatsapp_header", template.Approved.Header, "whatsapp_button", template.Approved.Button)
	}
	return s.templatePage(req, templateForm{RecordForm: req.RecordForm(templatesPath, form)}, refusal)
}

func (s *Server) templatePage(req *kit.Request, data templateForm, refusal error) error {
	for _, variable := range reminder.Variables {
		row := variableRow{Name: "{" + variable.Name + "}", Help: variable.Help, Sample: variable.Sample}
		if req.Lang == page.Portuguese {
			row.Name = "{" + variable.Local + "}"
		}
		data.Variables = append(data.Variables, row)
	}
	data.Approved = data.Form.Value("whatsapp_name") != "" ||
		slices.ContainsFunc([]string{"name", "params", "header", "button"}, func(field string) bool {
			return len(data.Form.Errors("whatsapp_"+field)) > 0
		})
	return req.ShowForm("messages_template_form", data.Title("New template", "Edit template"), refusal, data)
}

func templatePath(id int64) string { return templatesPath + "/" + kit.IDText(id) }

func (s *Server) createTemplate(req *kit.Request) error {
	template, err := s.Reminders.CreateTemplate(req.Context(), req.Actor, reminder.ReadNewTemplate(req.Input()))
	return req.Sent(err, s.templateForm, templatesPath, "The template %s was saved.", template.Name)
}

func (s *Server) updateTemplate(req *kit.Request) error {
	template, err := s.Reminders.UpdateTemplate(req.Context(), req.Actor, req.ID, reminder.ReadTemplateChanges(req.Input()))
	return req.Sent(err, s.templateForm, templatesPath,
		"The template %s was saved. Messages that are not sent yet have its new words.", template.Name)
}

// previewTemplate shows the words as they stand in the form, saved or not, as
// one customer would get them.
func (s *Server) previewTemplate(req *kit.Request) error {
	id, _ := input.FromStrings(map[string]string{"id": req.PostFormValue("template_id")}).ID("id").Get()
	data := templateForm{RecordForm: kit.RecordForm{Action: templatesPath + "/new", New: true}}
	if id != 0 {
		kit.ReadOf(req, s.Reminders.FindTemplate, id)
		data.RecordForm = kit.RecordForm{Action: templatePath(id), ID: id}
	}
	var err error
	if data.Preview = s.previewMatches(req); data.Preview.Customer.ID != 0 {
		data.Preview.Preview, err = s.Reminders.Preview(req.Context(), req.Actor, reminder.PreviewRequest{
			CustomerID: data.Preview.Customer.ID, Draft: reminder.ReadTemplate(req.Input()),
		})
	}
	if err != nil && !kit.Refused(err) {
		return err
	}
	data.Form, data.Preview.Refused = page.Sent(req.Request, err), err != nil
	return s.templatePage(req, data, err)
}

// previewMatches finds the customers that a search means, and the chosen one.
func (s *Server) previewMatches(req *kit.Request) *templatePreview {
	preview := &templatePreview{Search: req.PostFormValue("preview_search")}
	const shown = 6
	filters := []customer.Filter{customer.ReadFilter(input.FromStrings(map[string]string{"search": preview.Search}))}
	if preview.Search == "" { // those who have something to pay soon say most
		filters = []customer.Filter{{DueFrom: req.Today, DueTo: req.Today.AddDays(req.Actor.Company.Settings.LeadDays)}, {}}
	}
	for _, filter := range filters {
		preview.Matches, _ = kit.ReadPage(req, s.Customers.List, filter, input.Page{Number: 1, Size: shown})
		if len(preview.Matches) > 0 {
			preview.Customer = preview.Matches[0]
			break
		}
	}
	for _, record := range preview.Matches {
		if kit.IDText(record.ID) == req.PostFormValue("preview_customer") {
			preview.Customer = record
		}
	}
	return preview
}
