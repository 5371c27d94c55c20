package panel

import (
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
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
	return lang.T(statusWords[m.Status])
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

func messageRows(req *request, list []reminder.Message) []messageRow {
	rows := make([]messageRow, len(list))
	for i, m := range list {
		rows[i] = messageRow{
			Message: m, Word: messageWord(req.lang, m), Tone: statusTones[m.Status], Arrived: req.lang.T(arrivalWords[m.Arrival]),
			Why: reasons(req.lang, m.Reason), Decide: m.Status == reminder.Unknown,
			Again: m.Status == reminder.Failed && m.RuleName != "", Means: req.lang.T(statusMeanings[m.Status]),
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
	list
	List            []messageRow
	Rules, Channels []page.Option
	Of              *customer.Customer
	HasRules        bool
}

func messageChips(req *request) []chipLine {
	return []chipLine{
		choiceChips(req, "Status", "status", wordOptions(req, reminder.Statuses, statusWords, req.option("", "All messages"))),
		choiceChips(req, "Reported by the carrier", "arrival", wordOptions(req, reminder.Arrivals, arrivalWords, req.option("", "Any report"))),
		dateChips(req, "due_from", "due_to", true),
	}
}

// messageList is how messages are listed.
func (s *Server) messageList() source[reminder.Filter, reminder.Message] {
	return source[reminder.Filter, reminder.Message]{
		account.MessageList, reminder.ReadFilter, sortsBy(input.ByDueDate), s.Reminders.Messages,
	}
}

func (s *Server) messageLog(req *request) error {
	data := messageLogData{
		list: newList(req, "/messages/log/export", messageChips(req), "rule_id", "channel_id", "due_from", "due_to"),
	}
	from := s.messageList()
	data.Heads = headsOf(req, from.sort(req.URL.Query()), input.ByDueDate, "Due date")
	list, filter := fill(req, &data.list, from)
	data.List, data.Total = messageRows(req, list), counted(req.lang, data.Pager.Total, "1 message", "%s messages")
	data.Of = s.filteredCustomer(req, filter.CustomerID)
	rules, channels := read(req, s.Reminders.Rules), read(req, s.Reminders.Channels)
	data.Rules = namedOptions(rules, ruleName, req.option("", "All rules"))
	data.Channels = namedOptions(channels, channelName, req.option("", "All"))
	data.HasRules = len(rules) > 0
	return req.show("messages_log", "Log of messages", data)
}

type messageData struct {
	Message                   messageRow
	Next                      reminder.Preview // as it would be sent now, of one that is scheduled
	Place                     place
	Attempts                  []sendingRow
	Resend, MarkSent, Dismiss bool
}

type sendingRow struct {
	reminder.Attempt
	Word, Channel string
	Arrived       string // what the carrier reported of it since
}

func (s *Server) message(req *request) error {
	m, attempts, err := s.Reminders.FindMessage(req.Context(), req.Actor, req.id)
	req.note(err)
	data := messageData{Message: messageRows(req, []reminder.Message{m})[0]}
	for _, attempt := range attempts {
		kind, _ := s.messageKind(attempt.Kind)
		data.Attempts = append(data.Attempts, sendingRow{
			attempt, req.lang.T(outcomeWords[attempt.Outcome]), kind.Title, req.lang.T(arrivalWords[attempt.Arrival]),
		})
	}
	neighbours := s.messageList().nth(req, func(m reminder.Message) int64 { return m.ID })
	data.Next, data.Place = readOf(req, s.Reminders.Upcoming, req.id), placeIn(req, "/messages/log", neighbours)
	may := m.Decisions()
	data.Resend = slices.Contains(may, reminder.Resend) && m.RuleName != ""
	data.MarkSent, data.Dismiss = slices.Contains(may, reminder.MarkSent), slices.Contains(may, reminder.Dismiss)
	return req.show("messages_message", "Message", data)
}

var decided = map[reminder.Decision]string{
	reminder.Resend:   "The message is sent again in a moment, unless the customer has paid or wants no messages.",
	reminder.MarkSent: "The message counts as sent.",
	reminder.Dismiss:  "The message was dismissed.",
}

func (s *Server) decideMessage(req *request) error {
	back := req.back("/messages/log/" + idText(req.id))
	decision := reminder.Decision(req.PostFormValue("as"))
	_, err := s.Reminders.Decide(req.Context(), req.Actor, req.id, decision)
	return req.did(err, back, decided[decision])
}

// customerMessages is the part of a customer's page about messages; nil where
// the company's plan has none.
type customerMessages struct {
	List           []messageRow
	More, OptedOut bool
}

func (s *Server) customerMessages(req *request, record customer.Customer) *customerMessages {
	if !req.sends() {
		return nil // the page has no such part
	}
	const shown = 6
	list, total, err := s.Reminders.Messages(req.Context(), req.Actor,
		reminder.Filter{CustomerID: record.ID}, input.Page{Number: 1, Size: shown})
	req.note(err)
	return &customerMessages{messageRows(req, list), total > shown, readOf(req, s.Reminders.OptedOut, record.ID)}
}

func (s *Server) setOptOut(req *request) error {
	out := req.PostFormValue("opted_out") == "true"
	err := s.Reminders.SetOptOut(req.Context(), req.Actor, req.id, out)
	return req.did(err, customerPath(req.id), either(out, "The customer gets no more messages.", "The customer gets messages again."))
}

// messageNotices are what needs attention, for the first page.
func (s *Server) messageNotices(req *request) reminder.Attention {
	if !req.sends() || !allows(req.User.Role, staff) {
		return reminder.Attention{}
	}
	return read(req, s.Reminders.Attention)
}

type templatesData struct{ List []templateRow }

type templateRow struct {
	reminder.Template
	Rules []reminder.Rule // that send it
}

func (s *Server) templates(req *request) error {
	var data templatesData
	rules := read(req, s.Reminders.Rules)
	for _, template := range read(req, s.Reminders.Templates) {
		row := templateRow{Template: template}
		for _, rule := range rules {
			if rule.TemplateID == template.ID {
				row.Rules = append(row.Rules, rule)
			}
		}
		data.List = append(data.List, row)
	}
	return req.show("messages_templates", "Templates", data)
}

type templateForm struct {
	recordForm
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
func (s *Server) templateForm(req *request, form *page.Form, refusal error) error {
	if form == nil {
		var template reminder.Template
		if req.id != 0 {
			template = readOf(req, s.Reminders.FindTemplate, req.id)
		}
		form = page.NewForm("name", template.Name, "subject", template.Subject, "text", template.Text,
			"whatsapp_name", template.Approved.Name, "whatsapp_language", template.Approved.Language,
			"whatsapp_params", strings.Join(template.Approved.Params, "\n"),
			"whatsapp_header", template.Approved.Header, "whatsapp_button", template.Approved.Button)
	}
	return s.templatePage(req, templateForm{recordForm: req.recordForm(templatesPath, form)}, refusal)
}

func (s *Server) templatePage(req *request, data templateForm, refusal error) error {
	for _, variable := range reminder.Variables {
		row := variableRow{Name: "{" + variable.Name + "}", Help: variable.Help, Sample: variable.Sample}
		if req.lang == page.Portuguese {
			row.Name = "{" + variable.Local + "}"
		}
		data.Variables = append(data.Variables, row)
	}
	data.Approved = data.Form.Value("whatsapp_name") != "" ||
		slices.ContainsFunc([]string{"name", "params", "header", "button"}, func(field string) bool {
			return len(data.Form.Errors("whatsapp_"+field)) > 0
		})
	return req.showForm("messages_template_form", data.title("New template", "Edit template"), refusal, data)
}

func templatePath(id int64) string { return templatesPath + "/" + idText(id) }

func (s *Server) createTemplate(req *request) error {
	template, err := s.Reminders.CreateTemplate(req.Context(), req.Actor, reminder.ReadNewTemplate(req.form()))
	return req.sent(err, s.templateForm, templatesPath, "The template %s was saved.", template.Name)
}

func (s *Server) updateTemplate(req *request) error {
	template, err := s.Reminders.UpdateTemplate(req.Context(), req.Actor, req.id, reminder.ReadTemplateChanges(req.form()))
	return req.sent(err, s.templateForm, templatesPath,
		"The template %s was saved. Messages that are not sent yet have its new words.", template.Name)
}

// previewTemplate shows the words as they stand in the form, saved or not, as
// one customer would get them.
func (s *Server) previewTemplate(req *request) error {
	id, _ := input.FromStrings(map[string]string{"id": req.PostFormValue("template_id")}).ID("id").Get()
	data := templateForm{recordForm: recordForm{Action: templatesPath + "/new", New: true}}
	if id != 0 {
		readOf(req, s.Reminders.FindTemplate, id)
		data.recordForm = recordForm{Action: templatePath(id), ID: id}
	}
	var err error
	if data.Preview = s.previewMatches(req); data.Preview.Customer.ID != 0 {
		data.Preview.Preview, err = s.Reminders.Preview(req.Context(), req.Actor, reminder.PreviewRequest{
			CustomerID: data.Preview.Customer.ID, Draft: reminder.ReadTemplate(req.form()),
		})
	}
	if err != nil && !refused(err) {
		return err
	}
	data.Form, data.Preview.Refused = page.Sent(req.Request, err), err != nil
	return s.templatePage(req, data, err)
}

// previewMatches finds the customers that a search means, and the chosen one.
func (s *Server) previewMatches(req *request) *templatePreview {
	preview := &templatePreview{Search: req.PostFormValue("preview_search")}
	const shown = 6
	filters := []customer.Filter{customer.ReadFilter(input.FromStrings(map[string]string{"search": preview.Search}))}
	if preview.Search == "" { // those who have something to pay soon say most
		filters = []customer.Filter{{DueFrom: req.today, DueTo: req.today.AddDays(req.Actor.Company.Settings.LeadDays)}, {}}
	}
	for _, filter := range filters {
		var err error
		preview.Matches, _, err = s.Customers.List(req.Context(), req.Actor, filter, input.Page{Number: 1, Size: shown})
		req.note(err)
		if len(preview.Matches) > 0 {
			preview.Customer = preview.Matches[0]
			break
		}
	}
	for _, record := range preview.Matches {
		if idText(record.ID) == req.PostFormValue("preview_customer") {
			preview.Customer = record
		}
	}
	return preview
}
