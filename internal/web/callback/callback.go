// Package callback receives the calls of payment gateways and of carriers of messages. It owns
// the addresses they call, /gateways/{provider}/{key} and /channels/{kind}/{key}, and nothing
// of what their calls mean: it hands the bytes as they came to payment or reminder, which
// check where they come from, and answers.
package callback

import (
	"errors"
	"io"
	"net/http"

	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/web"
)

// maxBody is far more than any gateway sends.
const maxBody = 256 << 10

// Register adds the addresses to mux. Efí adds /pix to the registered one.
func Register(mux *http.ServeMux, payments *payment.Service) {
	h := handler{payments}
	mux.Handle("POST /gateways/{provider}/{key}", h)
	mux.Handle("POST /gateways/{provider}/{key}/pix", h)
}

type handler struct{ payments *payment.Service }

// ServeHTTP receives a callback. It answers 200 when the callback is stored,
// 401 when it does not prove where it comes from, and anything else so that it
// is sent again.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	exchange := web.ExchangeOf(r.Context())
	exchange.Path = "/gateways/" + r.PathValue("provider") + "/…" // the key is for the gateway alone
	w.Header().Set("Cache-Control", "no-store")
	known, err := h.payments.KnowsCallback(r.Context(), r.PathValue("provider"), r.PathValue("key"))
	if err != nil {
		refuse(w, r, err)
		return
	}
	var body []byte
	if known {
		body, err = readBody(w, r, maxBody)
	}
	if err == nil {
		err = h.payments.ReceiveCallback(r.Context(), r.PathValue("provider"), r.PathValue("key"), payment.Callback{
			Header: r.Header, Query: r.URL.Query(), Body: body,
		})
	} else {
		err = unreadable(err)
	}
	if err != nil {
		err = web.Explain(err)
		exchange.Err = err
		web.WriteFault(w, err)
		return
	}
	web.Write(w, http.StatusOK, web.AppendAnswer(nil, web.Answer{}))
}

// inFlight bounds the bodies that are read at once.
var inFlight = make(chan struct{}, 64)

// readBody reads a body of a caller who knows a key of ours. It waits for a place
// among those that are read.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	select {
	case inFlight <- struct{}{}:
		defer func() { <-inFlight }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, most))
}

func unreadable(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fault.New(fault.KindTooLarge, "the body must not be larger than 256 KiB")
	}
	return fault.New(fault.KindInvalid, "the body could not be read to its end")
}
