package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

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
	writer := packers.Get().(*gzip.Writer) //nolint:forcetypeassert // only these are in the pool
	defer packers.Put(writer)
	var out bytes.Buffer
	writer.Reset(&out)
	_, _ = writer.Write(body) // to memory
	_ = writer.Close()
	return out.Bytes(), true
}
