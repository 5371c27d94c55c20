//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"
)

func init() { //nolint:gochecknoinits // the table of trials is in another file
	for _, database := range []string{sqlite, postgres} {
		trials = append(trials, trial{
			number: "20", name: "200 hostile connections on the pages where people get in", database: database,
			goal: goal{2 * time.Second, special, true}, run: hostileSignIns,
		})
	}
}

const (
	hostileConnections = 200
	floodTime          = 15 * time.Second
	goodSignIns        = 10
	goodAddress        = "dona@example.com"
	quietAddress       = "bia@example.com" // of an account that is not attacked
	goodPassword       = "cavalo bateria grampo"
)

// hostileSignIns has 200 connections, each from a network of its own, send
// passwords to every page that takes one without asking who sends it, while a
// person signs in with a known browser, and another one with a new browser each
// time. The slowest of those sign-ins counts.
func hostileSignIns(lab *lab) error {
	proc, err := lab.serve(lab.url, "CARTEIRA_TRUSTED_PROXIES=127.0.0.0/8,::1/128")
	if err != nil {
		return err
	}
	if err := lab.begin(); err != nil {
		return err
	}
	paths, err := lab.doors()
	if err != nil {
		return err
	}
	person, err := newVisitor(proc.addr)
	if err != nil {
		return err
	}
	if _, err := person.signIn(goodAddress); err != nil {
		return fmt.Errorf("before the flood: %w", err)
	}
	lab.hurt()
	ctx, stop := context.WithTimeout(context.Background(), lab.span(floodTime))
	answers, wait := flood(ctx, proc.addr, paths)
	known, unknown, err := slowestSignIns(person, lab.span(floodTime/goodSignIns/2))
	stop()
	wait()
	if err != nil {
		return err
	}
	lab.value = max(known, unknown)
	lab.measured = fmt.Sprintf("slowest of %d sign-ins from a known browser %s, from new ones %s, the flood was answered %v",
		goodSignIns, seconds(known), seconds(unknown), answers)
	return lab.goOn()
}

func slowestSignIns(person *visitor, rest time.Duration) (known, unknown time.Duration, err error) {
	for range goodSignIns {
		took, err := person.signIn(goodAddress)
		if err != nil {
			return 0, 0, err
		}
		known = max(known, took)
		other, err := newVisitor(person.addr)
		if err != nil {
			return 0, 0, err
		}
		if took, err = other.signIn(quietAddress); err != nil {
			return 0, 0, fmt.Errorf("from a new browser: %w", err)
		}
		unknown = max(unknown, took)
		time.Sleep(rest)
	}
	return known, unknown, nil
}

// doors makes a company that people sign in to and returns the pages that take
// passwords, each with its form.
func (l *lab) doors() (map[string]url.Values, error) {
	made, err := l.command("company", "create", "--name", "Loja", "--email", goodAddress, "--password", goodPassword)
	if err != nil {
		return nil, err
	}
	var company struct {
		ID int64 `json:"company_id"`
	}
	if err := json.Unmarshal([]byte(made), &company); err != nil {
		return nil, fmt.Errorf("%s: %w", made, err)
	}
	_, err = l.command("company", "create", "--name", "Outra", "--email", quietAddress, "--password", goodPassword)
	if err != nil {
		return nil, err
	}
	plan, err := l.command("subscription-plan", "create", "--company", fmt.Sprint(company.ID),
		"--name", "Teste", "--value", "10.00", "--credits", "1")
	if err != nil {
		return nil, err
	}
	var sold struct {
		Link string `json:"signup_link"`
	}
	if err := json.Unmarshal([]byte(plan), &sold); err != nil {
		return nil, fmt.Errorf("%s: %w", plan, err)
	}
	word := []string{"a long and hostile one"}
	paths := map[string]url.Values{
		"/login":             {"email": {goodAddress}, "password": word},
		"/password/anything": {"password": word},
		"/setup/anything":    {"name": {"X"}, "email": {"x@example.com"}, "user_name": {"X"}, "password": word},
	}
	if link, err := url.Parse(sold.Link); err == nil && strings.HasPrefix(link.Path, "/signup/") {
		paths[link.Path] = url.Values{"name": {"X"}, "email": {"x@example.com"}, "password": word}
	}
	return paths, nil
}

// flood sends forms from 200 networks until ctx ends. The answers may be read
// once wait has returned.
func flood(ctx context.Context, addr string, paths map[string]url.Values) (answers map[int]int, wait func()) {
	answers = map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	transport := &http.Transport{MaxIdleConnsPerHost: hostileConnections}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for i := range hostileConnections {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				for path, form := range paths {
					if form = maps.Clone(form); n%2 == 0 && form.Has("email") { // many people, and one person many times
						form.Set("email", fmt.Sprintf("p%d-%d@example.com", i, n))
					}
					status := hostilePost(ctx, client, "http://"+addr+path, form, fmt.Sprintf("198.51.%d.%d", i, n%250+1))
					mu.Lock()
					answers[status]++
					mu.Unlock()
				}
			}
		})
	}
	return answers, func() {
		all.Wait()
		transport.CloseIdleConnections()
	}
}

func hostilePost(ctx context.Context, client *http.Client, target string, form url.Values, from string) (status int) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		return 0
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Forwarded-For", from)
	response, err := client.Do(r)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// visitor is a browser that keeps its cookies.
type visitor struct {
	addr string
	http *http.Client
}

func newVisitor(addr string) (*visitor, error) {
	jar, err := cookiejar.New(nil)
	return &visitor{addr, &http.Client{
		Jar: jar, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, err
}

func (v *visitor) signIn(address string) (took time.Duration, err error) {
	began := time.Now()
	response, err := v.http.PostForm("http://"+v.addr+"/login", url.Values{"email": {address}, "password": {goodPassword}})
	if err != nil {
		return 0, err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusSeeOther {
		return 0, errors.New("the right password was answered with " + response.Status)
	}
	return time.Since(began), nil
}
