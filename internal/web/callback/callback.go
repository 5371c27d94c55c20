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
	"carteira/internal/reminder"
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

// maxReports is as much as Meta says that one of its calls may have.
const maxReports = 3 << 20

// RegisterChannels adds the addresses that carriers of messages call,
// /channels/{kind}/{key}: once with a question, then with reports.
func RegisterChannels(mux *http.ServeMux, reminders *reminder.Service) {
	c := carriers{reminders}
	mux.HandleFunc("GET /channels/{kind}/{key}", c.confirm)
	mux.HandleFunc("POST /channels/{kind}/{key}", c.receive)
}

type carriers struct{ reminders *reminder.Service }

// discreet keeps the key, which is for the carrier alone, out of the log.
func discreet(w http.ResponseWriter, r *http.Request) {
	web.ExchangeOf(r.Context()).Path = "/channels/" + r.PathValue("kind") + "/…"
	w.Header().Set("Cache-Control", "no-store")
}

// confirm answers the carrier's question whether the address is ours.
func (c carriers) confirm(w http.ResponseWriter, r *http.Request) {
	discreet(w, r)
	answer, err := c.reminders.ConfirmCallback(r.Context(), r.PathValue("kind"), r.PathValue("key"), r.URL.Query())
	if err != nil {
		refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, answer) //nolint:gosec // plain text; a carrier that has gone away is not our failure
}

// receive takes reports. It answers 200 when all of them are applied, 401 when
// the call does not prove where it comes from, and anything else so that it is
// sent again.
func (c carriers) receive(w http.ResponseWriter, r *http.Request) {
	discreet(w, r)
	if err := c.reminders.KnowsCallback(r.Context(), r.PathValue("kind"), r.PathValue("key")); err != nil {
		refuse(w, r, err)
		return
	}
	body, err := readBody(w, r, maxReports)
	if err != nil {
		refuse(w, r, tooMuch(err))
		return
	}
	call := reminder.Call{Header: r.Header, Body: body}
	if err := c.reminders.ReceiveReports(r.Context(), r.PathValue("kind"), r.PathValue("key"), call); err != nil {
		refuse(w, r, err)
		return
	}
	web.Write(w, http.StatusOK, web.AppendAnswer(nil, web.Answer{}))
}

func tooMuch(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fault.New(fault.KindTooLarge, "the body must not be larger than 3 MiB")
	}
	return fault.New(fault.KindInvalid, "the body could not be read to its end")
}

func refuse(w http.ResponseWriter, r *http.Request, err error) {
	err = web.Explain(err)
	web.ExchangeOf(r.Context()).Err = err
	web.WriteFault(w, err)
}
