package program

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"carteira/test/kit/openapitest"
)

// client calls the API of one server with one token. Every exchange is held
// against the OpenAPI document.
type client struct {
	t     *testing.T
	base  string
	token string
	http  *http.Client
}

func (s *server) client(token string) *client {
	s.t.Helper()
	base := &http.Transport{MaxIdleConnsPerHost: 100}
	s.t.Cleanup(base.CloseIdleConnections)
	return &client{
		t: s.t, base: "http://" + s.address + "/api/v1", token: token,
		http: &http.Client{Transport: openapitest.New(s.t).Transport(base), Timeout: patience},
	}
}

// answer is the API's envelope with the response it came in.
type answer struct {
	status int
	header http.Header
	body   []byte

	Success bool
	Message string
	Data    json.RawMessage
	Errors  map[string][]string
	Meta    struct {
		Total    int64
		LastPage int `json:"last_page"`
	}
}

// customer is what tests read of a customer's record.
type customer struct {
	ID       int64
	Name     string
	Usuario  string
	DueOn    string `json:"data_de_vencimento"`
	Previous string `json:"previous_due_date"`
}

// send makes a call; an error means that no answer came. It may be used by many
// goroutines. header is name, value, name, value.
func (c *client) send(method, path string, body any, header ...string) (answer, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, content)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return answer{}, err
	}
	return a, json.Unmarshal(a.body, &a)
}

// call makes a call that must be answered.
func (c *client) call(method, path string, body any, header ...string) answer {
	c.t.Helper()
	answer, err := c.send(method, path, body, header...)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer
}

// want makes a call that must be answered with a status.
func (c *client) want(status int, method, path string, body any, header ...string) answer {
	c.t.Helper()
	answer := c.call(method, path, body, header...)
	if answer.status != status {
		c.t.Fatalf("%s %s: %d, want %d: %s", method, path, answer.status, status, answer.body)
	}
	return answer
}

// customer reads the record in an answer.
func (a answer) customer(t *testing.T) (customer customer) {
	t.Helper()
	if err := json.Unmarshal(a.Data, &customer); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return customer
}

// customers reads all pages of the list and wants the count to be that of what
// is listed.
func (c *client) customers() []customer {
	c.t.Helper()
	var all []customer
	for page, last := 1, 1; page <= last; page++ {
		answer := c.want(200, "GET", fmt.Sprintf("/customers?per_page=200&page=%d", page), nil)
		var list []customer
		if err := json.Unmarshal(answer.Data, &list); err != nil {
			c.t.Fatal(err)
		}
		all = append(all, list...)
		if last = answer.Meta.LastPage; page == last && answer.Meta.Total != int64(len(all)) {
			c.t.Errorf("meta.total is %d, and %d are listed", answer.Meta.Total, len(all))
		}
	}
	return all
}

// page is an answer outside the API.
type page struct {
	*http.Response
	status int
	body   string
}

// get reads a page outside the API. header is name, value, name, value.
func (s *server) get(path string, header ...string) page {
	s.t.Helper()
	return fetch(s.t, &http.Transport{}, "http://"+s.address+path, header...)
}

// fetch makes a GET over a connection of its own, following no redirect.
func fetch(t *testing.T, over *http.Transport, url string, header ...string) page {
	t.Helper()
	defer over.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := over.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return page{resp, resp.StatusCode, string(body)}
}

// trusting is a transport for HTTPS that takes a connection's word for who it is.
func trusting() *http.Transport {
	return &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
}
