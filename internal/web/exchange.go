package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"carteira/internal/platform/id"
)

// Exchange is what the log and the metrics tell of one request. Whoever
// handles the request fills in what it learns.
type Exchange struct {
	RequestID string
	Route     string // pattern, such as "GET /api/v1/customers/{id}"; "" when nothing matched
	CompanyID int64
	Path      string // for the log instead of the real one, where that holds a secret
	Err       error  // the cause of a failure, for the log only

	began time.Time
}

type exchangeKey struct{}

// ExchangeOf returns the Exchange of the request that ctx belongs to.
func ExchangeOf(ctx context.Context) *Exchange {
	if exchange, ok := ctx.Value(exchangeKey{}).(*Exchange); ok {
		return exchange
	}
	return &Exchange{}
}

// Observe is the outermost handler: it gives every request an id, catches
// panics, writes the access log and counts.
func Observe(next http.Handler, log *slog.Logger, metrics *Metrics) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchange := &Exchange{RequestID: requestID(r), began: time.Now()} //nolint:forbidigo // measures, decides nothing
		w.Header().Set("X-Request-Id", exchange.RequestID)
		rec := &recorder{ResponseWriter: w}
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, exchange))
		metrics.begin()
		defer func() {
			if p := recover(); p != nil {
				exchange.Err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				if rec.wrote {
					// What was sent is cut off, or the half would pass for the whole.
					rec.status = http.StatusInternalServerError
					defer panic(http.ErrAbortHandler)
				} else {
					WriteFault(rec, exchange.Err)
				}
			}
			took := time.Since(exchange.began)
			metrics.end(exchange.Route, rec.code(), took)
			logExchange(log, r, exchange, rec, took)
		}()
		next.ServeHTTP(rec, r)
	})
}

func logExchange(log *slog.Logger, r *http.Request, exchange *Exchange, rec *recorder, took time.Duration) {
	level := slog.LevelInfo
	if rec.code() >= 500 && !errors.Is(exchange.Err, context.Canceled) {
		level = slog.LevelError
	}
	ctx := r.Context()
	if !log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs,
		slog.String("request_id", exchange.RequestID), slog.String("method", r.Method),
		slog.String("path", cmp.Or(exchange.Path, redactPath(r.URL.Path))),
		slog.String("remote", r.RemoteAddr),
		slog.Int("status", rec.code()), slog.Int64("bytes", rec.bytes), slog.Duration("took", took))
	if exchange.CompanyID != 0 {
		attrs = append(attrs, slog.Int64("company_id", exchange.CompanyID))
	}
	if refused := rec.code() >= 400 && rec.code() < 500; exchange.Err != nil && !refused {
		attrs = append(attrs, slog.Any("error", exchange.Err))
	}
	// LogAttrs would look for the line of the program that calls it, which is this one.
	record := slog.NewRecord(exchange.began.Add(took), level, "request", 0)
	record.AddAttrs(attrs...)
	_ = log.Handler().Handle(ctx, record) // as LogAttrs does: there is nowhere to say that the log fails
}

// WriteFault writes a failure in the envelope, for handlers outside the API.
func WriteFault(w http.ResponseWriter, err error) {
	RetryAfter(w.Header(), err)
	Write(w, Status(err), AppendFault(nil, err))
}

// Write sends a finished JSON body.
func Write(w http.ResponseWriter, status int, body []byte) {
	if status == http.StatusNotModified {
		w.WriteHeader(status)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller that has gone away is not our failure
}

// requestID takes the caller's id when it is sane: it goes into logs.
func requestID(r *http.Request) string {
	given := r.Header.Get("X-Request-Id")
	if given == "" || len(given) > 128 {
		return id.NewCode(20)
	}
	for _, c := range []byte(given) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == ':':
		default:
			return id.NewCode(20)
		}
	}
	return given
}

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	wrote  bool
}

func (r *recorder) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.wrote = true
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}
