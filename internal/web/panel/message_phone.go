package panel

import (
	"errors"
	"html/template"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

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
func (s *Server) phone(req *request) error { return s.phonePage(req, nil) }

// phonePage shows the phone; a refusal of the bridge is shown instead of its state.
func (s *Server) phonePage(req *request, refusal *reminder.Refusal) error {
	channel, err := s.Reminders.FindChannel(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	data := phoneData{Channel: channel, Path: phonePath(channel.ID)}
	if refusal == nil {
		data.Phone, err = s.Reminders.Phone(req.Context(), req.Actor, req.id)
		if err != nil && !errors.As(err, &refusal) {
			return err
		}
	}
	if refusal != nil {
		data.Problem = refusal.Reason
	} else if data.Phone.Code != "" {
		if data.Picture, err = page.QR(data.Phone.Code); err != nil {
			return err
		}
	}
	return s.show(req, page.View{Name: "messages_phone", Title: "Connect the phone", Data: data})
}

// changePhone connects or disconnects the phone, or chooses an instance that is there.
func (s *Server) changePhone(req *request) error {
	var err error
	switch req.PostFormValue("do") {
	case "connect":
		err = s.Reminders.ConnectPhone(req.Context(), req.Actor, req.id)
	case "disconnect":
		err = s.Reminders.DisconnectPhone(req.Context(), req.Actor, req.id)
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
		return req.complain(phonePath(req.id), err)
	}
	page.Go(req.w, req.Request, phonePath(req.id))
	return nil
}

func (s *Server) chooseInstance(req *request) error {
	in := input.FromStrings(map[string]string{"instance": req.PostFormValue("instance")})
	draft, err := s.Reminders.ReadChannelChanges(req.Context(), req.Actor, req.id, in)
	if err == nil {
		_, err = s.Reminders.UpdateChannel(req.Context(), req.Actor, req.id, draft)
	}
	return err
}
