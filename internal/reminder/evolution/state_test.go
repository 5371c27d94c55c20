package evolution

import (
	"errors"
	"strings"
	"testing"
	"time"

	"carteira/internal/reminder"
	"carteira/test/kit/channeltest"
)

const askState = "GET /instance/connectionState/clara"

func TestNothingIsSentWhileThePhoneIsAway(t *testing.T) {
	const how = ": open the channel and scan its QR code with the phone"
	for name, tt := range map[string]struct {
		reply channeltest.Reply
		want  error // nil: it is sent
	}{
		"open":             {channeltest.Reply{Status: 200, Body: stateOpen}, nil},
		"close":            {channeltest.Reply{Status: 200, Body: `{"instance":{"state":"close"}}`}, &reminder.Passing{Reason: "the instance clara is not connected to WhatsApp (close)" + how}},
		"connecting":       {channeltest.Reply{Status: 200, Body: `{"instance":{"state":"connecting"}}`}, &reminder.Passing{Reason: "the instance clara is not connected to WhatsApp (connecting)" + how}},
		"no such instance": {channeltest.Reply{Status: 404, Body: noInstance}, &reminder.Refusal{Reason: `The "clara" instance does not exist (404)`}},
		"wrong key":        {channeltest.Reply{Status: 401, Body: `{"status":401,"response":{"message":"Unauthorized"}}`}, &reminder.Refusal{Reason: "Unauthorized (401)"}},
		"a proxy's word":   {channeltest.Reply{Status: 502, Body: "<html>"}, &reminder.Passing{Reason: "the bridge answered 502"}},
		"busy":             {channeltest.Reply{Status: 429}, &reminder.Passing{Reason: "the bridge answered 429"}},
		"not understood":   {channeltest.Reply{Status: 200, Body: "ok"}, nil},
		"another bridge":   {channeltest.Reply{Status: 404, Body: "Cannot GET"}, nil},
	} {
		bridge := bare(t)
		bridge.Fix(askState, tt.reply)
		sender, err := open(newStates(), optionsFor(bridge.URL), channeltest.Env())
		if err != nil {
			t.Fatal(err)
		}
		_, err = sender.Send(t.Context(), channeltest.Letter())
		if sent := len(bridge.Requests()) == 1; sent != (tt.want == nil) {
			t.Errorf("%s: sent %v", name, sent)
		}
		if (err == nil) != (tt.want == nil) || err != nil && err.Error() != tt.want.Error() {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// A bridge that hangs up over the question has got no message.
func TestFailedQuestionLeavesNoDoubt(t *testing.T) {
	bridge := bare(t)
	bridge.Answers(channeltest.Silence)
	sender, err := open(newStates(), optionsFor(bridge.URL), channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	_, err = sender.Send(t.Context(), channeltest.Letter())
	var passing *reminder.Passing
	if !errors.As(err, &passing) {
		t.Errorf("%T: %v", err, err)
	}
}

func TestStateIsRememberedForAWhile(t *testing.T) {
	bridge := bare(t)
	bridge.Answers(channeltest.Accept)
	kind := NewKind()
	send := func(after time.Duration) error {
		t.Helper()
		sender, err := kind.Open(optionsFor(bridge.URL), channeltest.Env())
		if err != nil {
			t.Fatal(err)
		}
		letter := channeltest.Letter()
		letter.At = letter.At.Add(after)
		_, err = sender.Send(t.Context(), letter)
		return err
	}
	asked := func() (n int) {
		for _, request := range bridge.Requests() {
			if strings.HasPrefix(request.Path, "GET ") {
				n++
			}
		}
		return n
	}
	for _, step := range []struct {
		after time.Duration
		want  int // questions so far
	}{{0, 1}, {time.Second, 1}, {openFor - 1, 1}, {openFor, 2}, {openFor + time.Second, 2}, {0, 3}} {
		if err := send(step.after); err != nil || asked() != step.want {
			t.Errorf("after %v: asked %d times, want %d: %v", step.after, asked(), step.want, err)
		}
	}
	bridge.Fix(askState, channeltest.Reply{Status: 200, Body: stateOpen})
	bridge.Answers(channeltest.Busy)
	if err := send(time.Second); err == nil {
		t.Error("it was sent")
	}
	bridge.Fix(askState, channeltest.Reply{Status: 200, Body: `{"instance":{"state":"close"}}`})
	if err := send(2 * time.Second); err == nil || !strings.Contains(err.Error(), "not connected") {
		t.Errorf("after a failure it is not asked again: %v", err)
	}
}
