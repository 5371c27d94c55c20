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
	i := slices.IndexFunc(kinds, func(kind reminder.Kind) bool { return kind.Name == name })
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
	var data channelsData
	for _, channel := range list {
		kind, _ := s.messageKind(channel.Kind)
		data.List = append(data.List, channelRow{channel, kind})
	}
	return s.show(req, page.View{Name: "messages_channels", Title: "Channels", Data: data})
}

type channelForm struct {
	Form   *page.Form
	Kind   reminder.Kind
	Preset reminder.Preset // that was chosen; without a name: none
	Path   string          // what leads to the form with another preset
	Fields []channelField
	Action string
	Back   string
	New    bool

	kept []string // secrets that are set
}

// channelField is one setting of a kind of channel.
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
	pairs := []string{
		"name", kind.Title, "per_minute", strconv.Itoa(kind.PerMinute), "active", "true",
	}
	for _, option := range kind.Options {
		pairs = append(pairs, option.Name, option.Default)
	}
	if kind.Phone != nil { // a name of its own: two companies under one name would share a phone
		pairs = append(pairs, "instance", "carteira-"+idText(req.Actor.Company.ID))
	}
	form := s.makesChannel(page.NewForm(pairs...), kind)
	form.preset(req)
	return s.channelForm(req, "New channel", form, nil)
}

func (s *Server) makesChannel(form *page.Form, kind reminder.Kind) channelForm {
	return channelForm{
		Form:   form,
		Kind:   kind,
		Path:   "/messages/channels/new?kind=" + kind.Name + "&preset=",
		Action: "/messages/channels/new",
		Back:   "/messages/channels/new",
		New:    true,
	}
}

// preset fills in the service that was chosen.
func (f *channelForm) preset(req *request) {
	name := req.URL.Query().Get("preset")
	i := slices.IndexFunc(f.Kind.Presets, func(preset reminder.Preset) bool { return preset.Name == name })
	if i < 0 {
		return
	}
	f.Preset = f.Kind.Presets[i]
	for option, value := range f.Preset.Options {
		f.Form.Set(option, value)
	}
}

func (s *Server) channelForm(req *request, title string, form channelForm, refusal error) error {
	for _, option := range form.Kind.Options {
		field := channelField{
			Option:   option,
			Required: option.Required && (form.New || !option.Secret),
			Kept:     slices.Contains(form.kept, option.Name),
		}
		for _, choice := range option.Choices {
			field.Options = append(field.Options, page.Option{Value: choice, Label: choice})
		}
		form.Fields = append(form.Fields, field)
	}
	return s.show(req, page.View{Name: "messages_channel_form", Title: title, Status: statusOf(refusal), Data: form})
}

func (s *Server) createChannel(req *request) error {
	channel, shown, err := s.Reminders.CreateChannel(req.Context(), req.Actor, s.Reminders.ReadNewChannel(req.form()))
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
		req.id = channel.ID
		return s.channelPage(req, channelData{Shown: shown}, nil)
	}
	if kind, _ := s.messageKind(channel.Kind); kind.Phone != nil {
		return req.done(phonePath(channel.ID), "The channel %s was saved. Now connect the phone.", channel.Name)
	}
	return req.done(
		channelPath(channel.ID),
		"The channel %s was saved. Send a test to see whether it works.",
		channel.Name,
	)
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
	Callback  string          // the address that the carrier calls; empty: it calls none
	Provable  bool            // the secret that proves its calls is set
}

// optionValue is the stored setting of a channel; of a secret only that there
// is one.
type optionValue struct {
	reminder.Option
	Value string
	Kept  bool // a secret that is set
}

func (s *Server) channel(req *request) error {
	return s.channelPage(req, channelData{}, nil)
}

func (s *Server) channelPage(req *request, data channelData, refusal error) error {
	var err error
	if data.Channel, err = s.Reminders.FindChannel(req.Context(), req.Actor, req.id); err != nil {
		return err
	}
	data.Kind, _ = s.messageKind(data.Channel.Kind)
	kept, err := s.Reminders.SecretNames(data.Channel)
	if err != nil {
		return err
	}
	for _, option := range data.Kind.Options {
		data.Options = append(data.Options, optionValue{
			Option: option,
			Value:  data.Channel.Options[option.Name],
			Kept:   slices.Contains(kept, option.Name),
		})
	}
	templates, err := s.Reminders.Templates(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	data.Templates = []page.Option{{Value: "", Label: req.lang.T("A plain sentence")}}
	for _, template := range templates {
		data.Templates = append(data.Templates, page.Option{Value: idText(template.ID), Label: template.Name})
	}
	rules, err := s.Reminders.Rules(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	for _, rule := range rules {
		if slices.Contains(rule.Channels, data.Channel.ID) {
			data.Rules = append(data.Rules, rule)
		}
	}
	if data.Kind.Reporter != nil {
		data.Callback = s.PublicURL + "/channels/" + data.Channel.Kind + "/" + data.Channel.CallbackKey
		data.Provable = slices.Contains(kept, "app_secret")
	}
	if data.Test == nil {
		data.Test = page.NewForm("to", s.testAddress(req, data.Kind))
	}
	return s.show(req, page.View{
		Name:   "messages_channel",
		Title:  data.Channel.Name,
		Status: statusOf(refusal),
		Data:   data,
	})
}

// testAddress is where a test most likely goes: to the user who asks for it.
func (s *Server) testAddress(req *request, kind reminder.Kind) string {
	if kind.Reach == reminder.ByWhatsapp {
		return page.FormatPhone(req.Actor.Company.Whatsapp)
	}
	return req.User.Email
}

func (s *Server) testChannel(req *request) error {
	asked, err := s.Reminders.ReadTest(req.Context(), req.Actor, req.id, req.form())
	var result reminder.TestResult
	if err == nil {
		result, err = s.Reminders.Test(req.Context(), req.Actor, req.id, asked)
	}
	if refused(err) {
		return s.channelPage(req, channelData{Test: page.Sent(req.Request, err)}, err)
	}
	if err != nil {
		return err
	}
	return s.channelPage(req, channelData{Test: page.Sent(req.Request, nil), Tested: &result}, nil)
}

func (s *Server) editChannel(req *request) error {
	channel, err := s.Reminders.FindChannel(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	kind, ok := s.messageKind(channel.Kind)
	if !ok {
		return fault.NotFound("page")
	}
	pairs := []string{
		"name", channel.Name, "per_minute", strconv.Itoa(channel.PerMinute), "active",
		strconv.FormatBool(channel.Active),
	}
	for name, value := range channel.Options {
		pairs = append(pairs, name, value)
	}
	form := changesChannel(page.NewForm(pairs...), kind, channel.ID)
	form.preset(req)
	if form.kept, err = s.Reminders.SecretNames(channel); err != nil {
		return err
	}
	return s.channelForm(req, "Edit channel", form, nil)
}

func changesChannel(form *page.Form, kind reminder.Kind, id int64) channelForm {
	return channelForm{
		Form:   form,
		Kind:   kind,
		Path:   channelPath(id) + "/edit?preset=",
		Action: channelPath(id) + "/edit",
		Back:   channelPath(id),
	}
}

func (s *Server) updateChannel(req *request) error {
	draft, err := s.Reminders.ReadChannelChanges(req.Context(), req.Actor, req.id, req.form())
	if err != nil {
		return err
	}
	channel, err := s.Reminders.UpdateChannel(req.Context(), req.Actor, req.id, draft)
	if refused(err) {
		kind, _ := s.messageKind(channel.Kind)
		form := changesChannel(page.Sent(req.Request, err), kind, req.id)
		if kept, unopened := s.Reminders.SecretNames(channel); unopened == nil {
			form.kept = kept
		}
		return s.channelForm(req, "Edit channel", form, err)
	}
	if err != nil {
		return err
	}
	return req.done(channelPath(req.id), "The channel %s was saved. Send a test to see whether it works.", channel.Name)
}

// switchChannel turns a channel on or off.
func (s *Server) switchChannel(req *request) error {
	active := input.FromStrings(map[string]string{"active": req.PostFormValue("active")}).Bool("active")
	channel, err := s.Reminders.UpdateChannel(req.Context(), req.Actor, req.id, reminder.ChannelDraft{Active: active})
	switch {
	case err != nil:
		return req.complain(channelPath(req.id), err)
	case channel.Active:
		return req.done(channelPath(req.id), "The channel %s is on.", channel.Name)
	}
	return req.done(channelPath(req.id), "The channel %s is off. Rules pass it over.", channel.Name)
}

func (s *Server) askDeleteChannel(req *request) error {
	channel, err := s.Reminders.FindChannel(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Delete the channel %s?",
		Args:     []any{channel.Name},
		Danger:   true,
		Button:   "Delete channel",
		Back:     channelPath(channel.ID),
		Action:   channelPath(channel.ID) + "/delete",
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
