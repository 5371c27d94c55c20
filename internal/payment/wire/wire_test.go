package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/money"
)

func TestAmountsGoThroughWithoutLoss(t *testing.T) {
	for _, amount := range []money.Cents{0, 1, 9, 10, 99, 100, 1234_56, money.Max} {
		encoded, err := json.Marshal(map[string]any{"value": wire.Number(amount)})
		if err != nil {
			t.Fatal(err)
		}
		var decoded struct{ Value json.Number }
		if err := json.Unmarshal(encoded, &decoded); err != nil {
			t.Fatal(err)
		}
		if got, err := wire.Cents(decoded.Value); err != nil || got != amount {
			t.Errorf("%s became %s, %v", amount, got, err)
		}
	}
}

func TestAmountsOfOtherWritersAreRead(t *testing.T) {
	tests := map[json.Number]money.Cents{
		"100.5": 100_50, "100": 100_00, "0.1": 10, "100.500000": 100_50, "9.999999999E7": 99_999_999_99, "1e2": 100_00, "1.5E+1": 15_00, "123E-2": 1_23,
	}
	for in, want := range tests {
		if got, err := wire.Cents(in); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
}

func TestAmountsThatAreNotCentsAreRefused(t *testing.T) {
	for _, in := range []json.Number{"", "0.001", "100.555", "-1", "abc", "1e999999999", "1e-99", "99999999999999999999", "NaN", json.Number(strings.Repeat("1", 40))} {
		if got, err := wire.Cents(in); err == nil {
			t.Errorf("%s was read as %s", in, got)
		}
	}
}

func TestAmountsInCentsAreRead(t *testing.T) {
	for in, want := range map[json.Number]money.Cents{"1": 1, "9999999999": money.Max, "100.0": 1_00, "1E3": 10_00} {
		if got, err := wire.Whole(in); err != nil || got != want {
			t.Errorf("%s: got %s, %v", in, got, err)
		}
	}
	for _, in := range []json.Number{"", "0.5", "10.01", "-1"} {
		if got, err := wire.Whole(in); err == nil {
			t.Errorf("%s was read as %s", in, got)
		}
	}
}

func TestTimesAreRead(t *testing.T) {
	tests := map[string]string{
		"2026-10-20T23:59:59.000-03:00": "2026-10-21T02:59:59Z",
		"2026-10-20T23:59:59.000-0300":  "2026-10-21T02:59:59Z",
		"2026-10-20T23:59:59Z":          "2026-10-20T23:59:59Z",
		"2026-10-20 23:59:59":           "2026-10-21T02:59:59Z",
		"2026-10-20":                    "2026-10-20T03:00:00Z",
		"yesterday":                     "0001-01-01T00:00:00Z",
	}
	for in, want := range tests {
		if got := wire.Time(in).Format(time.RFC3339); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestEmptySecretFitsNothing(t *testing.T) {
	if wire.Same("", "") || wire.Same("x", "") || wire.Same("", "x") || wire.Same("x", "y") || !wire.Same("x", "x") {
		t.Error("secrets are compared wrongly")
	}
}

func TestOutcomeTellsRefusalsFromFailures(t *testing.T) {
	tests := map[int]bool{
		400: true, 401: true, 403: true, 404: true, 422: true,
		302: false, 408: false, 409: false, 423: false, 425: false, 429: false, 500: false, 503: false,
	}
	for status, refused := range tests {
		err := wire.Outcome(answer(t, status, `{"message":"no"}`))
		if errors.Is(err, payment.ErrRefused) != refused || !strings.Contains(err.Error(), "no") {
			t.Errorf("%d: got %v", status, err)
		}
		if !refused && wire.Status(err) != status {
			t.Errorf("%d: the status is lost: %v", status, err)
		}
	}
}

func TestWhatAProviderSaysIsCleaned(t *testing.T) {
	err := answer(t, 400, `{"message":"bad token s3cret\r\nforged: line `+strings.Repeat("x", 5000)+`"}`)
	if text := err.Error(); strings.Contains(text, "s3cret") || strings.ContainsAny(text, "\r\n") || len(text) > 500 {
		t.Errorf("got %s", text)
	}
}

// answer is the error of a call that is answered so.
func answer(t *testing.T, status int, body string) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	api := &wire.API{
		Base: server.URL, Client: server.Client(), Secrets: []string{"s3cret", ""},
		Reason: func(body []byte) string {
			var said struct{ Message string }
			_ = json.Unmarshal(body, &said)
			return said.Message
		},
	}
	err := api.Do(t.Context(), wire.Request{Method: http.MethodGet, Path: "/x"}, &struct{}{})
	if err == nil {
		t.Fatalf("%d was taken for a success", status)
	}
	return err
}

func TestAddressIsNotInTheError(t *testing.T) {
	api := &wire.API{Base: "http://127.0.0.1:1", Client: &http.Client{}}
	request := wire.Request{Method: http.MethodGet, Path: "/x", Query: map[string][]string{"url": {"callback-key"}}}
	err := api.Do(t.Context(), request, nil)
	if err == nil || strings.Contains(err.Error(), "callback-key") || !strings.HasPrefix(err.Error(), "GET /x: ") {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := api.Do(ended, request, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// It would never return if it read to the end.
func TestEndlessAnswerIsCutOff(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	api := &wire.API{Base: server.URL, Client: server.Client()}
	if err := api.Do(t.Context(), wire.Request{Method: http.MethodGet, Path: "/x"}, &struct{}{}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v", err)
	}
}

func TestAnswerThatNobodyWantsMayBeEmpty(t *testing.T) {
	for _, answer := range []string{"", "OK", "{}"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		t.Cleanup(server.Close)
		api := wire.API{Base: server.URL, Client: server.Client()}
		if err := api.Do(t.Context(), wire.Request{Method: http.MethodPut, Path: "/"}, nil); err != nil {
			t.Errorf("%q: %v", answer, err)
		}
		var wanted struct{}
		err := api.Do(t.Context(), wire.Request{Method: http.MethodPut, Path: "/"}, &wanted)
		if (err == nil) != (answer == "{}") {
			t.Errorf("%q, wanted: %v", answer, err)
		}
	}
}

func TestFormIsSentAsOne(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.PostFormValue("scope") != "cob.read cob.write" {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	api := wire.API{Base: server.URL, Client: server.Client()}
	request := wire.Request{Method: http.MethodPost, Path: "/", Form: url.Values{"scope": {"cob.read cob.write"}}}
	if err := api.Do(t.Context(), request, nil); err != nil {
		t.Error(err)
	}
}
