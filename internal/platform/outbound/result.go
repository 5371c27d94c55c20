package outbound

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxRetryAfter keeps what a receiver asks for within reason.
const maxRetryAfter = 24 * time.Hour

// Result is an answer.
type Result struct {
	Status     int
	Body       []byte        // UTF-8 text without NUL, whatever was received
	Truncated  bool          // Body is not all that the receiver had to say
	RetryAfter time.Duration // how long the receiver asked to be left alone, at most a day
	Duration   time.Duration // of the exchange, from the name lookup to the end of the body
}

// readResult reads at most maxBody bytes. Whoever closes the body then closes
// the connection too if more was to come.
func readResult(ctx context.Context, response *http.Response, maxBody int) Result {
	result := Result{Status: response.StatusCode, RetryAfter: retryAfter(response.Header)}
	if response.StatusCode == http.StatusSwitchingProtocols {
		return result // the body would be the bare connection, which no deadline holds
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, int64(maxBody)+1))
	var short bool
	result.Body, short = safeText(raw, maxBody)
	// A receiver that hangs up because we do, at the end of the time, makes
	// what came so far look whole.
	result.Truncated = short || err != nil || ctx.Err() != nil
	return result
}

// safeText makes text of at most limit bytes that any database and page can
// take, and says whether that made it shorter.
func safeText(raw []byte, limit int) (text []byte, short bool) {
	whole := bytes.ReplaceAll(bytes.ToValidUTF8(cut(raw, limit), []byte("\uFFFD")), []byte{0}, nil)
	text = cut(whole, limit)
	return text, len(raw) > limit || len(text) < len(whole)
}

// cut shortens b to at most n bytes and does not split a character.
func cut(buf []byte, n int) []byte {
	if len(buf) <= n {
		return buf
	}
	for back := range min(utf8.UTFMax, n) {
		if utf8.RuneStart(buf[n-back]) {
			return buf[:n-back]
		}
	}
	return buf[:n]
}

func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(time.Until(at), 0), maxRetryAfter)
}
