package program

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var setupLink = regexp.MustCompile(`http://\S+(/setup/[\w-]+)`)

func TestFirstRunPrintsALinkThatWorksOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		s := in.serve()
		s.await(&s.stderr, func(text string) bool { return setupLink.MatchString(text) })
		link := "http://" + s.address + setupLink.FindStringSubmatch(s.stderr.String())[1]
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
		s.stop()
		again := in.serve()
		if strings.Contains(again.stderr.String(), "/setup/") {
			t.Error("a second link was printed")
		}
		if list := in.run("company", "list"); !strings.Contains(list, "Rede") {
			t.Errorf("companies: %s", list)
		}
	})
}
