package panel

import (
	"slices"
	"strconv"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

type channelsData struct {
	List []channelRow
}

type channelRow struct {
	reminder.Channel
	Type reminder.Kind
}

func (s *Server) messageKind(name string) (reminder.Kind, bool) {
	kinds := s.Reminders.Kinds()
	i := slices.IndexFunc(kinds, func(k reminder.Kind) bool { return k.Name == name })
	if i < 0 {
		return reminder.Kind{Name: name, Title: name}, false
	}
	return kinds[i], true
}

func (s *Server) channels(req *request) error {
	list, err := s.Reminders.Channels(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	var d channelsData
	for _, c := range list {
		kind, _ := s.messageKind(c.Kind)
		d.List = append(d.List, channelRow{c, kind})
	}
	return s.show(req, page.View{Name: "messages_channels", Title: "Channels", Data: d})
}

type channelForm struct {
	Form   *page.Form
	Kind   reminder.Kind
	Fields []channelField
	Action string
	Back   string
	New    bool
}

// channelField is what a kind of channel has to be told.
type channelField struct {
	reminder.Option
	Options  []page.Option // choices
	Required bool
	Kept     bool // a secret that is set: left empty, it stays
}

// newChannel shows the kinds there are, or the form of the one that was chosen.
func (s *Server) newChannel(req *request) error {
	name := req.URL.Query().Get("kind")
	if name == "" {
		return s.show(req, page.View{Name: "messages_kinds", Title: "New channel", Data: s.Reminders.Kinds()})
	}
	kind, ok := s.messageKind(name)
	if !ok {
		return fault.NotFound("page")
	}
	pairs := []string{"name", kind.Title, "per_minute", strconv.Itoa(kind.PerMinute), "active", "true"}
	for _, o := range kind.Options {
		pairs = append(pairs, o.Name, o.Default)
	}
	return s.channelForm(req, "New channel", s.makesChannel(page.NewForm(pairs...), kind), nil)
}

func (s *Server) makesChannel(form *page.Form, kind reminder.Kind) channelForm {
	return channelForm{Form: form, Kind: kind, Action: "/messages/channels/new", Back: "/messages/channels/new", New: true}
}

func (s *Server) channelForm(req *request, title string, d channelForm, refusal error) error {
	for _, o := range d.Kind.Options {
		f := channelField{Option: o, Required: o.Required && (d.New || !o.Secret), Kept: o.Secret && !d.New}
		for _, choice := range o.Choices {
			f.Options = append(f.Options, page.Option{Value: choice, Label: choice})
		}
		d.Fields = append(d.Fields, f)
	}
	return s.show(req, page.View{Name: "messages_channel_form", Title: title, Status: statusOf(refusal), Data: d})
}

func (s *Server) createChannel(req *request) error {
	c, shown, err := s.Reminders.CreateChannel(req.Context(), req.Actor, s.Reminders.ReadNewChannel(req.form()))
	if refused(err) {
		kind, ok := s.messageKind(req.PostFormValue("kind"))
		if !ok {
			return err
		}
		return s.channelForm(req, "New channel", s.makesChannel(page.Sent(req.Request, err), kind), err)
	}
	if err != nil {
		return err
	}
	if len(shown) > 0 {
		req.id = c.ID
		return s.channelPage(req, channelData{Shown: shown}, nil)
	}
	return req.done(channelPath(c.ID), "The channel %s was saved. Send a test to see whether it works.", c.Name)
}

func channelPath(id int64) string { return "/messages/channels/" + idText(id) }

type channelData struct {
	Channel   reminder.Channel
	Kind      reminder.Kind
	Options   []optionValue
	Shown     map[string]string // secrets that were made, this once
	Test      *page.Form
	Tested    *reminder.TestResult
	Templates []page.Option
	Rules     []reminder.Rule // that use it
}

// optionValue is what a channel was told; of a secret only that it was.
type optionValue struct {
	reminder.Option
	Value string
}

func (s *Server) channel(req *request) error { return s.channelPage(req, channelData{}, nil) }

func (s *Server) channelPage(req *request, d channelData, refusal error) error {
	var err error
	if d.Channel, err = s.Reminders.FindChannel(req.Context(), req.Actor, req.id); err != nil {
		return err
	}
	d.Kind, _ = s.messageKind(d.Channel.Kind)
	for _, o := range d.Kind.Options {
		d.Options = append(d.Options, optionValue{o, d.Channel.Options[o.Name]})
	}
	templates, err := s.Reminders.Templates(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	d.Templates = []page.Option{{Value: "", Label: req.lang.T("A plain sentence")}}
	for _, t := range templates {
		d.Templates = append(d.Templates, page.Option{Value: idText(t.ID), Label: t.Name})
	}
	rules, err := s.Reminders.Rules(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if slices.Contains(r.Channels, d.Channel.ID) {
			d.Rules = append(d.Rules, r)
		}
	}
	if d.Test == nil {
		d.Test = page.NewForm("to", s.testAddress(req, d.Kind))
	}
	return s.show(req, page.View{Name: "messages_channel", Title: d.Channel.Name, Status: statusOf(refusal), Data: d})
}

// testAddress is where a test most likely goes: to whoever asks for it.
func (s *Server) testAddress(req *request, kind reminder.Kind) string {
	if kind.Reach == reminder.ByWhatsapp {
		return page.FormatPhone(req.Actor.Company.Whatsapp)
	}
	return req.User.Email
}

func (s *Server) testChannel(req *request) error {
	asked, err := s.Reminders.ReadTest(req.Context(), req.Actor, req.id, req.form())
	var r reminder.TestResult
	if err == nil {
		r, err = s.Reminders.Test(req.Context(), req.Actor, req.id, asked)
	}
	if refused(err) {
		return s.channelPage(req, channelData{Test: page.Sent(req.Request, err)}, err)
	}
	if err != nil {
		return err
	}
	return s.channelPage(req, channelData{Test: page.Sent(req.Request, nil), Tested: &r}, nil)
}

func (s *Server) editChannel(req *request) error {
	c, err := s.Reminders.FindChannel(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	kind, ok := s.messageKind(c.Kind)
	if !ok {
		return fault.NotFound("page")
	}
	pairs := []string{"name", c.Name, "per_minute", strconv.Itoa(c.PerMinute), "active", strconv.FormatBool(c.Active)}
	for name, value := range c.Options {
		pairs = append(pairs, name, value)
	}
	return s.channelForm(req, "Edit channel", changesChannel(page.NewForm(pairs...), kind, c.ID), nil)
}

func changesChannel(form *page.Form, kind reminder.Kind, id int64) channelForm {
	return channelForm{Form: form, Kind: kind, Action: channelPath(id) + "/edit", Back: channelPath(id)}
}

func (s *Server) updateChannel(req *request) error {
	d, err := s.Reminders.ReadChannelChanges(req.Context(), req.Actor, req.id, req.form())
	if err != nil {
		return err
	}
	c, err := s.Reminders.UpdateChannel(req.Context(), req.Actor, req.id, d)
	if refused(err) {
		kind, _ := s.messageKind(c.Kind)
		return s.channelForm(req, "Edit channel", changesChannel(page.Sent(req.Request, err), kind, req.id), err)
	}
	if err != nil {
		return err
	}
	return req.done(channelPath(req.id), "The channel %s was saved. Send a test to see whether it works.", c.Name)
}

// switchChannel turns a channel on or off.
func (s *Server) switchChannel(req *request) error {
	active := input.FromStrings(map[string]string{"active": req.PostFormValue("active")}).Bool("active")
	c, err := s.Reminders.UpdateChannel(req.Context(), req.Actor, req.id, reminder.ChannelDraft{Active: active})
	switch {
	case err != nil:
		return req.complain(channelPath(req.id), err)
	case c.Active:
		return req.done(channelPath(req.id), "The channel %s is on.", c.Name)
	}
	return req.done(channelPath(req.id), "The channel %s is off. Rules pass it over.", c.Name)
}

func (s *Server) askDeleteChannel(req *request) error {
	c, err := s.Reminders.FindChannel(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Delete the channel %s?", Args: []any{c.Name}, Danger: true, Button: "Delete channel", Back: channelPath(c.ID),
		Action: channelPath(c.ID) + "/delete",
		Effects: []string{
			"A channel that a rule uses cannot be deleted.", "Its credentials are deleted.",
			"What waits for it is not sent.", "This cannot be undone.",
		},
	})
}

func (s *Server) deleteChannel(req *request) error {
	if err := s.Reminders.DeleteChannel(req.Context(), req.Actor, req.id); err != nil {
		return req.complain(channelPath(req.id), err)
	}
	return req.done("/messages/channels", "The channel was deleted.")
}
