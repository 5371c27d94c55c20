package panel

import (
	"errors"
	"html/template"
	"slices"
	"strconv"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
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

func (s *Server) channels(req *kit.Request) error {
	var data channelsData
	for _, channel := range kit.Read(req, s.Reminders.Channels) {
		kind, _ := s.messageKind(channel.Kind)
		data.List = append(data.List, channelRow{channel, kind})
	}
	return req.Show("messages_channels", "Channels", data)
}

type channelForm struct {
	kit.RecordForm
	Kind   reminder.Kind
	Preset reminder.Preset // that was chosen; without a name: none
	Path   string          // what leads to the form with another preset
	Fields []channelField
}

// channelField is one setting of a kind of channel.
type channelField struct {
	reminder.Option
	Options  []page.Option // choices
	Required bool
	Kept     bool // a secret that is set: left empty, it stays
}

// newChannel shows the kinds there are, or the form of the one that was chosen.
func (s *Server) newChannel(req *kit.Request) error {
	name := req.URL.Query().Get("kind")
	if name == "" {
		return req.Show("messages_kinds", "New channel", s.Reminders.Kinds())
	}
	kind, ok := s.messageKind(name)
	if !ok {
		return fault.NotFound("page")
	}
	form := page.NewForm("name", kind.Title, "per_minute", strconv.Itoa(kind.PerMinute), "active", "true")
	for _, option := range kind.Options {
		form.Set(option.Name, option.Default)
	}
	if kind.Phone != nil { // a name of its own: two companies under one name would share a phone
		form.Set("instance", "carteira-"+kit.IDText(req.Actor.Company.ID))
	}
	return s.channelForm(req, form, kind, nil, nil)
}

// channelForm shows the form of a channel; secrets are the names of those that are set.
func (s *Server) channelForm(req *kit.Request, form *page.Form, kind reminder.Kind, secrets []string, refusal error) error {
	data := channelForm{RecordForm: req.RecordForm(channelsPath, form), Kind: kind, Path: req.URL.Path + "?preset="}
	if data.New {
		data.Path, data.Back = req.URL.Path+"?kind="+kind.Name+"&preset=", req.URL.Path
	}
	for _, preset := range kind.Presets {
		if preset.Name == req.URL.Query().Get("preset") {
			data.Preset = preset
		}
	}
	for option, value := range data.Preset.Options {
		form.Set(option, value)
	}
	for _, option := range kind.Options {
		field := channelField{Option: option, Kept: slices.Contains(secrets, option.Name)}
		field.Required = option.Required && (data.New || !option.Secret)
		field.Options = kit.OptionsOf(option.Choices, func(choice string) page.Option {
			return page.Option{Value: choice, Label: optionWord(req.Lang, choice)}
		})
		data.Fields = append(data.Fields, field)
	}
	return req.ShowForm("messages_channel_form", data.Title("New channel", "Edit channel"), refusal, data)
}

func (s *Server) createChannel(req *kit.Request) error {
	channel, shown, err := s.Reminders.CreateChannel(req.Context(), req.Actor, s.Reminders.ReadNewChannel(req.Input()))
	kind, known := s.messageKind(req.PostFormValue("kind"))
	switch {
	case err != nil && !known:
		return err
	case err != nil:
		return req.Again(err, func(req *kit.Request, form *page.Form, refusal error) error {
			return s.channelForm(req, form, kind, nil, refusal)
		})
	case len(shown) > 0:
		req.ID = channel.ID
		return s.channelPage(req, channelData{Shown: shown}, nil)
	case kind.Phone != nil:
		return req.Done(phonePath(channel.ID), "The channel %s was saved. Now connect the phone.", channel.Name)
	}
	return req.Done(channelPath(channel.ID), "The channel %s was saved. Send a test to see whether it works.", channel.Name)
}

func channelPath(id int64) string { return channelsPath + "/" + kit.IDText(id) }

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

func (s *Server) channel(req *kit.Request) error { return s.channelPage(req, channelData{}, nil) }

func (s *Server) channelPage(req *kit.Request, data channelData, refusal error) error {
	data.Channel = kit.ReadOf(req, s.Reminders.FindChannel, req.ID)
	data.Kind, _ = s.messageKind(data.Channel.Kind)
	secrets, err := s.Reminders.SecretNames(data.Channel)
	req.Note(err)
	for _, option := range data.Kind.Options {
		value := data.Channel.Options[option.Name]
		if len(option.Choices) > 0 {
			value = optionWord(req.Lang, value)
		}
		data.Options = append(data.Options, optionValue{option, value, slices.Contains(secrets, option.Name)})
	}
	data.Templates = kit.NamedOptions(kit.Read(req, s.Reminders.Templates), templateName, req.Option("", "A plain sentence"))
	data.Rules = slices.DeleteFunc(kit.Read(req, s.Reminders.Rules), func(rule reminder.Rule) bool {
		return !slices.Contains(rule.Channels, data.Channel.ID)
	})
	if data.Kind.Reporter != nil {
		data.Callback = s.PublicURL + "/channels/" + data.Channel.Kind + "/" + data.Channel.CallbackKey
		data.Provable = slices.Contains(secrets, "app_secret")
	}
	if data.Test == nil {
		data.Test = page.NewForm("to", s.testAddress(req, data.Kind))
	}
	return req.ShowForm("messages_channel", data.Channel.Name, refusal, data)
}

// testAddress is where a test most likely goes: to the user who asks for it.
func (s *Server) testAddress(req *kit.Request, kind reminder.Kind) string {
	return kit.Either(kind.Reach == reminder.ByWhatsapp, page.FormatPhone(req.Actor.Company.Whatsapp), req.User.Email)
}

func (s *Server) testChannel(req *kit.Request) error {
	asked, err := s.Reminders.ReadTest(req.Context(), req.Actor, req.ID, req.Input())
	var result reminder.TestResult
	if err == nil {
		result, err = s.Reminders.Test(req.Context(), req.Actor, req.ID, asked)
	}
	if err != nil {
		return req.Again(err, func(req *kit.Request, form *page.Form, refusal error) error {
			return s.channelPage(req, channelData{Test: form}, refusal)
		})
	}
	return s.channelPage(req, channelData{Test: page.Sent(req.Request, nil), Tested: &result}, nil)
}

func (s *Server) editChannel(req *kit.Request, form *page.Form, refusal error) error {
	channel, err := s.Reminders.FindChannel(req.Context(), req.Actor, req.ID)
	if err != nil {
		return err
	}
	kind, ok := s.messageKind(channel.Kind)
	if !ok {
		return fault.NotFound("page")
	}
	secrets, err := s.Reminders.SecretNames(channel)
	if err != nil && form == nil {
		return err
	}
	if form == nil {
		form = page.NewForm("name", channel.Name, "per_minute", strconv.Itoa(channel.PerMinute), "active", kit.BoolText(channel.Active))
		for name, value := range channel.Options {
			form.Set(name, value)
		}
	}
	return s.channelForm(req, form, kind, secrets, refusal)
}

func (s *Server) updateChannel(req *kit.Request) error {
	draft, err := s.Reminders.ReadChannelChanges(req.Context(), req.Actor, req.ID, req.Input())
	if err != nil {
		return err
	}
	channel, err := s.Reminders.UpdateChannel(req.Context(), req.Actor, req.ID, draft)
	return req.Sent(err, s.editChannel, channelPath(req.ID), "The channel %s was saved. Send a test to see whether it works.", channel.Name)
}

// switchChannel turns a channel on or off.
func (s *Server) switchChannel(req *kit.Request) error {
	channel, err := s.Reminders.UpdateChannel(req.Context(), req.Actor, req.ID, reminder.ChannelDraft{Active: req.ReadActive()})
	said := kit.Either(channel.Active, "The channel %s is on.", "The channel %s is off. Rules pass it over.")
	return req.Did(err, channelPath(req.ID), said, channel.Name)
}

func phonePath(channelID int64) string { return channelPath(channelID) + "/phone" }

type phoneData struct {
	Channel reminder.Channel
	Phone   reminder.Phone
	Picture template.HTML // of the code to scan
	Problem string        // why nothing is known of the phone
	Path    string
}

// phone shows how a channel is connected to its phone, and the code to scan. It asks
// the bridge each time, and changes nothing there.
func (s *Server) phone(req *kit.Request) error { return s.phonePage(req, nil) }

// phonePage shows the phone; a refusal of the bridge is shown instead of its state.
func (s *Server) phonePage(req *kit.Request, refusal *reminder.Refusal) (err error) {
	data := phoneData{Channel: kit.ReadOf(req, s.Reminders.FindChannel, req.ID), Path: phonePath(req.ID)}
	if refusal == nil && req.Failed == nil {
		data.Phone, err = s.Reminders.Phone(req.Context(), req.Actor, req.ID)
		if !errors.As(err, &refusal) {
			req.Note(err)
		}
	}
	if refusal != nil {
		data.Problem = refusal.Reason
	} else if data.Phone.Code != "" {
		data.Picture = req.QR(data.Phone.Code)
	}
	return req.Show("messages_phone", "Connect the phone", data)
}

// changePhone connects or disconnects the phone, or chooses an instance that is there.
func (s *Server) changePhone(req *kit.Request) error {
	var err error
	switch req.PostFormValue("do") {
	case "connect":
		err = s.Reminders.ConnectPhone(req.Context(), req.Actor, req.ID)
	case "disconnect":
		err = s.Reminders.DisconnectPhone(req.Context(), req.Actor, req.ID)
	case "choose":
		err = s.chooseInstance(req)
	default:
		err = fault.Field("do", "must be connect, choose or disconnect")
	}
	var refusal *reminder.Refusal
	if errors.As(err, &refusal) {
		return s.phonePage(req, refusal)
	}
	if err != nil {
		return req.Complain(phonePath(req.ID), err)
	}
	return req.GoOn(phonePath(req.ID))
}

func (s *Server) chooseInstance(req *kit.Request) error {
	in := input.FromStrings(map[string]string{"instance": req.PostFormValue("instance")})
	draft, err := s.Reminders.ReadChannelChanges(req.Context(), req.Actor, req.ID, in)
	if err == nil {
		_, err = s.Reminders.UpdateChannel(req.Context(), req.Actor, req.ID, draft)
	}
	return err
}
