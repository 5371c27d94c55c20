package app

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// acmeHTTP is a client for the authority that logs its refusals: autocert says
// nothing about a renewal that fails.
func acmeHTTP(log *slog.Logger) *http.Client {
	base := http.DefaultTransport //nolint:forbidigo // the address is the operator's, not a company's
	return &http.Client{Timeout: time.Minute, Transport: acmeTransport{base, log}}
}

type acmeTransport struct {
	next http.RoundTripper
	log  *slog.Logger
}

// longestACME bounds what is kept of an answer; the longest are chains of
// certificates.
const longestACME = 1 << 20

// RoundTrip makes a call and logs what the authority refuses.
func (t acmeTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestACME))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	for _, refusal := range refusalsIn(resp.StatusCode, body) {
		t.log.WarnContext(
			req.Context(),
			"ACME refusal",
			"url",
			req.URL.String(),
			"type",
			refusal.Type,
			"detail",
			refusal.Detail,
		)
	}
	return resp, nil
}

// acmeProblem is what RFC 8555 says is wrong.
type acmeProblem struct {
	Type   string
	Detail string
}

// refusalsIn reads what an answer refuses: an error status, or an
// authorization or an order that has become invalid.
func refusalsIn(status int, body []byte) []acmeProblem {
	if status >= http.StatusBadRequest {
		var problem acmeProblem
		if json.Unmarshal(body, &problem) != nil || problem.Type == "urn:ietf:params:acme:error:badNonce" { // tried again at once
			return nil
		}
		return []acmeProblem{problem}
	}
	var record struct {
		Status     string
		Error      *acmeProblem
		Challenges []struct{ Error *acmeProblem }
	}
	if json.Unmarshal(body, &record) != nil || record.Status != "invalid" {
		return nil
	}
	found := []acmeProblem{}
	if record.Error != nil {
		found = append(found, *record.Error)
	}
	for _, challenge := range record.Challenges {
		if challenge.Error != nil {
			found = append(found, *challenge.Error)
		}
	}
	return found
}
