package wire_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// busy is a provider that turns every call down with a header.
func busy(t *testing.T, name, value string) (server *httptest.Server, calls *int) {
	t.Helper()
	calls = new(int)
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*calls++
		w.Header().Set(name, value)
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(server.Close)
	return server, calls
}

func TestProviderIsLeftAloneForAsLongAsItSays(t *testing.T) {
	for header, wait := range map[[2]string]time.Duration{
		{"Retry-After", "30"}: 30 * time.Second, {"RateLimit-Reset", "90"}: 90 * time.Second,
		{"Retry-After", "86400"}: 15 * time.Minute,
	} {
		server, calls := busy(t, header[0], header[1])
		now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		api := func(key string) *wire.API {
			return &wire.API{
				Base: server.URL, Client: server.Client(), Header: map[string]string{"Key": key}, Now: func() time.Time { return now },
			}
		}
		want := func(name, key string, made int) {
			t.Helper()
			err := api(key).Do(t.Context(), wire.Request{Method: http.MethodGet, Path: "/"}, nil)
			if err == nil || errors.Is(wire.Outcome(err), payment.ErrRefused) {
				t.Errorf("%s %v: %v", name, header, err)
			}
			if *calls != made {
				t.Errorf("%s %v: %d calls, want %d", name, header, *calls, made)
			}
		}
		want("first", "a", 1)
		now = now.Add(wait - time.Second)
		want("too soon", "a", 1)
		want("of another account", "b", 2)
		now = now.Add(time.Second)
		want("in time", "a", 3)
	}
}

func TestProviderThatDoesNotSayHowLongIsCalledAgain(t *testing.T) {
	for _, value := range []string{"", "soon", "-1", "0", "1e99"} {
		server, calls := busy(t, "Retry-After", value)
		api := wire.API{Base: server.URL, Client: server.Client(), Now: func() time.Time { return time.Unix(1, 0) }}
		for range 2 {
			_ = api.Do(t.Context(), wire.Request{Method: http.MethodGet, Path: "/"}, nil)
		}
		if *calls != 2 {
			t.Errorf("%q: %d calls", value, *calls)
		}
	}
}
