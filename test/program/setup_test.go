package program

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var setupLink = regexp.MustCompile(`http://127\.0\.0\.1:[1-9]\d*/setup/[\w-]+`)

func TestFirstRunPrintsALinkThatWorksOnce(t *testing.T) {
	eachBare(t, func(t *testing.T, in *installation) {
		server := in.serve()
		server.await(&server.stderr, func(text string) bool { return setupLink.MatchString(text) })
		link := setupLink.FindString(server.stderr.String())
		form := url.Values{"name": {"Rede"}, "user_name": {"Ana"}, "email": {"ana@example.com"}, "password": {"correct horse"}, "timezone": {"America/Bahia"}}
		for _, want := range []int{http.StatusOK, http.StatusNotFound} {
			answer, err := http.PostForm(link, form)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			led := answer.Request.URL.Path // to the sign-in: this client keeps no cookies
			if answer.StatusCode != want || want == http.StatusOK && led != "/login" {
				t.Errorf("%s: %d at %s, want %d", link, answer.StatusCode, led, want)
			}
		}
		server.stop()
		for line := range strings.Lines(server.stderr.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("among the lines of JSON is %q", line)
			}
		}
		again := in.serve()
		if strings.Contains(again.stderr.String(), "/setup/") {
			t.Error("a second link was printed")
		}
		if list := in.run("company", "list"); !strings.Contains(list, "Rede") {
			t.Errorf("companies: %s", list)
		}
	})
}

func TestLostPasswordIsReplacedByALinkFromTheCommandLine(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		server := in.serve()
		var made struct{ Email, Link string }
		if err := json.Unmarshal([]byte(in.run("user", "link", "--company", company, "--id", "1")), &made); err != nil {
			t.Fatal(err)
		}
		path := made.Link[strings.Index(made.Link, "/password/"):]
		answer, err := http.PostForm("http://"+server.address+path, url.Values{"password": {"a new password"}})
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || answer.Request.URL.Path != "/login" {
			t.Errorf("%s: %s at %s", path, answer.Status, answer.Request.URL)
		}
		server.await(&server.stderr, func(text string) bool { return strings.Contains(text, "/password/{link}") })
		if secret := strings.TrimPrefix(path, "/password/"); strings.Contains(server.stderr.String(), secret) {
			t.Error("the link is in the log")
		}
		if list := in.run("user", "list", "--company", company); !strings.Contains(list, made.Email) {
			t.Errorf("users: %s", list)
		}
		in.run("user", "nofactor", "--company", company, "--id", "1")
		wantRefusal(t, in.try(nil, "user", "link", "--company", company, "--id", "99"), 1, "user not found")
		wantRefusal(t, in.try(nil, "user", "remove", "--company", company, "--id", "1"), 1, "the company must keep an owner")
	})
}
