package bacen

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/id"
)

// account is one account at a bank.
type account struct {
	id, secret string
	bank       bank
	place      place
	extras     []sentExtra
}

// sentExtra is an extra with its value.
type sentExtra struct {
	extra
	value string
}

// session speaks the API for one account.
type session struct {
	account account
	api     wire.API
	tokens  wire.API // the server that gives tokens out
	path    string   // of the token there

	now   func() time.Time
	turn  chan struct{} // its holder may get a token
	token string
	until time.Time
}

func newSession(account account, client *http.Client, now func() time.Time) *session {
	basic := base64.StdEncoding.EncodeToString([]byte(account.id + ":" + account.secret))
	secrets := []string{account.secret, basic, account.id}
	for _, extra := range account.extras {
		secrets = append(secrets, extra.value)
	}
	api := wire.API{
		Base: account.place.base, Client: client, Secrets: secrets, Reason: reason, Header: map[string]string{},
		Now: now, Account: account.id,
	}
	for _, extra := range account.extras {
		if extra.header != "" && extra.option != "" {
			api.Header[extra.header] = extra.value
		}
	}
	path := pathOf(account.place.token)
	server := account.place.token[:len(account.place.token)-len(path)]
	return &session{
		account: account,
		api:     api,
		tokens:  wire.API{Base: server, Client: client, Secrets: secrets, Reason: reason, Now: now, Account: account.id},
		path:    path,
		now:     now,
		turn:    make(chan struct{}, 1),
	}
}

// reason reads RFC 7807, and what banks say in their own ways.
func reason(body []byte) string {
	var said struct {
		Title, Detail    string
		Nome, Mensagem   string
		Message, Error   string
		ErrorDescription string `json:"error_description"`
		Violacoes        []struct{ Razao, Propriedade string }
		Erros            []struct{ Mensagem string }
	}
	_ = json.Unmarshal(body, &said)
	for _, problem := range said.Erros {
		said.Mensagem = wire.Pick(said.Mensagem, problem.Mensagem)
	}
	text := wire.Pick(said.Detail, said.Mensagem, said.ErrorDescription, said.Title, said.Message, said.Nome, said.Error)
	for _, violation := range said.Violacoes {
		text += " (" + violation.Propriedade + ": " + violation.Razao + ")"
	}
	if said.Nome != "" && said.Nome != text {
		text += " [" + said.Nome + "]"
	}
	return text
}

// tokenMargin is how long before its end a token is no longer used.
const tokenMargin = 30 * time.Second

// bearer returns a token, the kept one while it lasts. fresh wants another.
func (s *session) bearer(ctx context.Context, fresh bool) (string, error) {
	now := s.now()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if !fresh && s.token != "" && now.Before(s.until) {
		return s.token, nil
	}
	var answer struct {
		AccessToken string      `json:"access_token"`
		ExpiresIn   json.Number `json:"expires_in"`
	}
	err := s.tokens.Do(ctx, s.tokenRequest(), &answer)
	if err = wire.Expect(err, answer.AccessToken != "", "POST %s: the answer lacks a token", s.path); err != nil {
		return "", err
	}
	seconds, err := answer.ExpiresIn.Int64()
	if err != nil {
		seconds = 0 // it is used once
	}
	s.token, s.until = answer.AccessToken, now.Add(time.Duration(seconds)*time.Second-tokenMargin)
	return s.token, nil
}

// tokenRequest asks for a token the way the bank wants it.
func (s *session) tokenRequest() wire.Request {
	grant, fields := s.account.bank.grant, map[string]string{}
	request := wire.Request{Method: http.MethodPost, Path: s.path, Header: map[string]string{}}
	if grant.inQuery {
		request.Query = url.Values{"grant_type": {"client_credentials"}}
	} else {
		fields["grant_type"] = "client_credentials"
	}
	if grant.inForm {
		fields["client_id"] = s.account.id
		if !grant.noSecret {
			fields["client_secret"] = s.account.secret
		}
	} else {
		basic := base64.StdEncoding.EncodeToString([]byte(s.account.id + ":" + s.account.secret))
		request.Header["Authorization"] = "Basic " + basic
	}
	if s.account.bank.scopes != "" {
		fields["scope"] = s.account.bank.scopes
	}
	if grant.json {
		request.Body = fields
		return request
	}
	request.Form = url.Values{}
	for name, value := range fields {
		request.Form.Set(name, value)
	}
	return request
}

// do makes a call with the kept token, and once more with a new one when it is
// no longer accepted.
func (s *session) do(ctx context.Context, request wire.Request, into any) error {
	request.Query = s.query(request.Query)
	err := s.try(ctx, request, into, false)
	if wire.Status(err) == http.StatusUnauthorized {
		err = s.try(ctx, request, into, true)
	}
	return certificateRefused(err)
}

func (s *session) get(ctx context.Context, path string, query url.Values, into any) error {
	return s.do(ctx, wire.Request{Method: http.MethodGet, Path: path, Query: query}, into)
}

func (s *session) send(ctx context.Context, method, path string, body, into any) error {
	return s.do(ctx, wire.Request{Method: method, Path: path, Body: body}, into)
}

// query adds the extras of the bank that are there.
func (s *session) query(values url.Values) url.Values {
	for _, extra := range s.account.extras {
		if extra.query != "" {
			values = maps.Clone(values)
			if values == nil {
				values = url.Values{}
			}
			values.Set(extra.query, extra.value)
		}
	}
	return values
}

func (s *session) try(ctx context.Context, request wire.Request, into any, fresh bool) error {
	token, err := s.bearer(ctx, fresh)
	if err != nil {
		return err
	}
	header := map[string]string{"Authorization": "Bearer " + token}
	for _, extra := range s.account.extras {
		if extra.option == "" {
			header[extra.header] = id.NewUUID()
		}
	}
	maps.Copy(header, request.Header)
	request.Header = header
	request.Secrets = append([]string{token}, request.Secrets...)
	api := s.api
	api.Base = s.account.bank.versions.base(api.Base, request.Path)
	return api.Do(ctx, request, into)
}

// certificateRefused knows a server that ended the handshake: it does not
// accept the certificate, and did nothing.
func certificateRefused(err error) error {
	if opError, ok := errors.AsType[*net.OpError](err); ok && opError.Op == "remote error" {
		return &payment.Refusal{Reason: "the certificate was not accepted"}
	}
	return err
}

// sessions are kept by what they were opened with, so that a gateway that is
// opened for every call still has its connections and its token.
type sessions struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]*session
}

// maxSessions bounds what is remembered; a company has one.
const maxSessions = 1000

func (s *sessions) get(key [sha256.Size]byte, open func() *session) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.known[key]
	if !ok {
		if s.known == nil || len(s.known) >= maxSessions {
			s.known = map[[sha256.Size]byte]*session{}
		}
		found = open()
		s.known[key] = found
	}
	return found
}
