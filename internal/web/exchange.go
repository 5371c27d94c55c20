package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"carteira/internal/platform/id"
)

// Exchange is what the log and the metrics record of one request. Handlers
// fill in what they learn.
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
	attrs = append(attrs, slog.String("request_id", exchange.RequestID), slog.String("method", r.Method),
		slog.String("path", cmp.Or(exchange.Path, redactPath(r.URL.Path))), slog.String("remote", r.RemoteAddr),
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

// AcceptsGzip reports whether the caller takes an answer in gzip.
func AcceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, err := mime.ParseMediaType("x/" + strings.TrimSpace(coding))
		if err == nil && (name == "x/gzip" || name == "x/*") {
			q, err := strconv.ParseFloat(params["q"], 64)
			return err != nil || q > 0
		}
	}
	return false
}

var packers = sync.Pool{New: func() any {
	writer, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
	return writer
}}

// minPacked is the smallest body worth compressing: a smaller one fits into one
// packet as it is.
const minPacked = 1400

// Pack compresses a body for a caller that takes gzip, and reports whether it did.
func Pack(r *http.Request, body []byte) ([]byte, bool) {
	if len(body) < minPacked || !AcceptsGzip(r) {
		return nil, false
	}
	writer := packers.Get().(*gzip.Writer) // only these are in the pool
	defer packers.Put(writer)
	var out bytes.Buffer
	writer.Reset(&out)
	_, _ = writer.Write(body) // to memory
	_ = writer.Close()
	return out.Bytes(), true
}

// Fair bounds how many reading requests of one company are carried out at the
// same time. The others of that company wait here, where they hold no connection
// of the database: searches of one company do not queue the pages of another.
// Writing is not bounded, since writes that come together share a commit.
type Fair struct {
	mu sync.Mutex
	of map[int64]*places
}

// places are what a company may have in flight.
type places struct {
	taken chan struct{}
	users int // that have a place or wait for one
}

// fairPlaces is fewer than the connections of either database, and enough for the
// processors.
var fairPlaces = max(4, 2*runtime.GOMAXPROCS(0))

// Enter waits for a place of the company. leave gives it back.
func (f *Fair) Enter(ctx context.Context, companyID int64) (leave func(), err error) {
	own := f.join(companyID)
	select {
	case own.taken <- struct{}{}:
		return func() { <-own.taken; f.part(companyID) }, nil
	case <-ctx.Done():
		f.part(companyID)
		return nil, ctx.Err()
	}
}

func (f *Fair) join(companyID int64) *places {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[int64]*places{}
	}
	own := f.of[companyID]
	if own == nil {
		own = &places{taken: make(chan struct{}, fairPlaces)}
		f.of[companyID] = own
	}
	own.users++
	return own
}

// part forgets a company without any request left.
func (f *Fair) part(companyID int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := f.of[companyID]
	if own.users--; own.users == 0 {
		delete(f.of, companyID)
	}
}

// redacted is what the log has in the place of a key.
const redacted = "…"

// keyed are the first segments of paths that carry a key, with how many
// segments stand before it. They are redacted however short they are and
// whatever else is wrong with the path, since a near miss (a trailing slash,
// another method, a doubled slash) is refused before the handler that knows its
// key is asked.
var keyed = map[string]int{
	"password": 0, "setup": 0, "email": 0, "pay": 0, "signup": 0, "gateways": 1, "my": 0, "unsubscribe": 0, "channels": 1,
}

// minKey is the shortest run of characters that can be one of our keys.
const minKey = 16

// redactPath is a path for the access log: without password links, checkout
// codes, keys of callback addresses and tokens.
func redactPath(path string) string {
	if isPlain(path) {
		return path
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = redactRuns(part)
	}
	for i, part := range parts {
		before, found := keyed[wordOf(part)]
		if !found {
			continue
		}
		redactAfter(parts[i+1:], before)
		break
	}
	return strings.Join(parts, "/")
}

// isPlain reports whether no segment of a path can be a key, or have one after it:
// most paths are plain.
func isPlain(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if _, found := keyed[wordOf(part)]; found || len(part) >= minKey {
			return false
		}
	}
	return true
}

func wordOf(part string) string { return strings.ToLower(strings.TrimSpace(part)) }

// redactAfter redacts the first segment after as many that are none of the
// key's. Empty segments come from doubled slashes.
func redactAfter(parts []string, before int) {
	for i, part := range parts {
		switch {
		case part == "":
		case before > 0:
			before--
		default:
			parts[i] = redacted
			return
		}
	}
}

// redactRuns replaces what has the shape of a key: a long run of letters and
// digits that no word of a path has. Ids that are public stay.
func redactRuns(segment string) string {
	var kept strings.Builder
	for segment != "" {
		run := strings.IndexFunc(segment, func(c rune) bool { return !inKey(c) })
		if run < 0 {
			run = len(segment)
		}
		if run == 0 {
			next := strings.IndexFunc(segment, inKey)
			if next < 0 {
				next = len(segment)
			}
			kept.WriteString(segment[:next])
			segment = segment[next:]
			continue
		}
		if word := segment[:run]; isKey(word) {
			kept.WriteString(redacted)
		} else {
			kept.WriteString(word)
		}
		segment = segment[run:]
	}
	return kept.String()
}

func inKey(c rune) bool {
	return c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z' ||
		c >= '0' && c <= '9' ||
		c == '_' ||
		c == '-'
}

// isKey reports whether a run has the shape of a key. Words of paths are in
// small letters; event ids and UUIDs open nothing.
func isKey(run string) bool {
	if len(run) < minKey || strings.ToLower(run) == run && !strings.ContainsAny(run, "0123456789") {
		return false
	}
	return !isEventID(run) && !isUUID(run) && strings.Trim(run, "0123456789") != ""
}

func isEventID(run string) bool {
	rest, event := strings.CutPrefix(run, "evt_")
	return event && len(rest) == 26 && strings.ToUpper(rest) == rest
}

func isUUID(run string) bool {
	if len(run) != 36 {
		return false
	}
	for i, c := range run {
		switch dash := i == 8 || i == 13 || i == 18 || i == 23; {
		case dash != (c == '-'):
			return false
		case !dash && !strings.ContainsRune("0123456789abcdef", c):
			return false
		}
	}
	return true
}
