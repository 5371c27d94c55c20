package logchannel

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"carteira/test/kit/channeltest"
)

func TestMessageIsALineWithoutItsWords(t *testing.T) {
	var log bytes.Buffer
	env := channeltest.Env()
	env.Log = slog.New(slog.NewTextHandler(&log, nil))
	sender, err := Kind.Open(nil, env)
	if err != nil {
		t.Fatal(err)
	}
	letter := channeltest.Letter()
	receipt, err := sender.Send(t.Context(), letter)
	if err != nil || receipt != "log:"+letter.ID {
		t.Errorf("%q, %v", receipt, err)
	}
	if line := log.String(); !strings.Contains(line, letter.ID) || strings.Contains(line, "Ana") || strings.Contains(line, letter.To) || strings.Count(line, "\n") != 1 {
		t.Errorf("logged %q", line)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sender.Send(ctx, letter); err == nil {
		t.Error("it was sent after its time")
	}
}
