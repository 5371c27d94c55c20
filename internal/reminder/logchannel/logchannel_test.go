package logchannel

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"carteira/internal/reminder/channeltest"
)

func TestMessageIsALineWithoutItsWords(t *testing.T) {
	var log bytes.Buffer
	env := channeltest.Env()
	env.Log = slog.New(slog.NewTextHandler(&log, nil))
	s, err := Kind.Open(nil, env)
	if err != nil {
		t.Fatal(err)
	}
	l := channeltest.Letter()
	receipt, err := s.Send(t.Context(), l)
	if err != nil || receipt != "log:"+l.ID {
		t.Errorf("%q, %v", receipt, err)
	}
	if line := log.String(); !strings.Contains(line, l.ID) || strings.Contains(line, "Ana") || strings.Contains(line, l.To) || strings.Count(line, "\n") != 1 {
		t.Errorf("logged %q", line)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Send(ctx, l); err == nil {
		t.Error("it was sent after its time")
	}
}
