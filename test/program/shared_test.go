package program

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
)

// over makes n calls at once, dealt out over the servers, and returns their
// answers.
func over(t *testing.T, servers []*server, token string, n int, call func(c *client, i int) (answer, error)) []answer {
	t.Helper()
	clients := make([]*client, len(servers))
	for i, server := range servers {
		clients[i] = server.client(token)
	}
	answers := make([]answer, n)
	together(n, func(i int) {
		var err error
		if answers[i], err = call(clients[i%len(clients)], i); err != nil {
			t.Error(err)
		}
	})
	return answers
}

func TestRateLimitIsExactOverAllProcesses(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		token, other := in.token(company), in.token(company)
		servers := in.serveAll("CARTEIRA_RATE_LIMIT=60")
		account := func(client *client, _ int) (answer, error) { return client.send("GET", "/account", nil) }
		var left []int
		for _, answer := range over(t, servers, token, 200, account) {
			remaining, err := strconv.Atoi(answer.header.Get("X-Ratelimit-Remaining"))
			if err != nil || answer.header.Get("X-Ratelimit-Limit") != "60" {
				t.Errorf("%d with %v", answer.status, answer.header)
			}
			wait, err := strconv.Atoi(answer.header.Get("Retry-After"))
			switch {
			case answer.status == 200 && err != nil:
				left = append(left, remaining)
			case answer.status != 429 || err != nil || wait < 1 || wait > 61 || remaining != 0:
				t.Errorf("%d with %v: %s", answer.status, answer.header, answer.body)
			}
		}
		slices.Sort(left)
		for i := range max(60, len(left)) {
			if len(left) != 60 || left[i] != i {
				t.Fatalf("%d calls passed, which left %v; want 60, which leave 0 to 59", len(left), left)
			}
		}
		servers[0].client(other).want(200, "GET", "/account", nil)
		servers[0].client(other+"x").want(401, "GET", "/account", nil)
	})
}

func TestRateLimitOfZeroIsNone(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		token := in.token(in.company())
		s := in.serve("CARTEIRA_RATE_LIMIT=0")
		for _, a := range over(t, []*server{s}, token, 100, func(client *client, _ int) (answer, error) {
			return client.send("GET", "/account", nil)
		}) {
			if a.status != 200 || a.header.Get("X-Ratelimit-Limit") != "" {
				t.Errorf("%d with %v", a.status, a.header)
			}
		}
		s.await(&s.stderr, func(text string) bool { return strings.Contains(text, "the rate limit is switched off") })
	})
}

func TestParallelRenewalsAreAPeriodEach(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		token := in.token(company)
		plan := in.create("id", "plan", "create", "--company", company, "--name", "Mensal", "--value", "35.00", "--period", "1month")
		servers := in.serveAll()
		c := servers[0].client(token)
		ana := c.want(200, "POST", "/customers", map[string]any{"name": "Ana", "plan_id": plan, "data_de_vencimento": "2026-01-31"}).customer(t)
		path := fmt.Sprintf("/customers/%d", ana.ID)

		previous := map[string]int{}
		for _, a := range over(t, servers, token, 20, func(client *client, _ int) (answer, error) {
			return client.send("POST", path+"/renew-due-date", nil)
		}) {
			if a.status != 200 {
				t.Fatalf("%d: %s", a.status, a.body)
			}
			previous[a.customer(t).Previous]++
		}
		if got := c.want(200, "GET", path, nil).customer(t).DueOn; got != "2027-09-30" || len(previous) != 20 {
			t.Errorf("due on %s after 20 months from 2026-01-31, counted from %v", got, previous)
		}
		renewals, err := sqldb.Value[int](t.Context(), in.open(), "SELECT count(*) FROM events WHERE name = 'customer.renewed'")
		if err != nil || renewals != 20 {
			t.Errorf("%d events: %v", renewals, err)
		}
	})
}

func TestParallelCreatesWithOneUsuarioLeaveOne(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		token := in.token(in.company())
		servers := in.serveAll()
		spellings := []string{"joão.silva", "JOÃO.SILVA", "João.Silva"}
		made := 0
		for _, a := range over(t, servers, token, 20, func(client *client, i int) (answer, error) {
			return client.send("POST", "/customers", map[string]any{"name": "João", "usuario": spellings[i%len(spellings)]})
		}) {
			switch {
			case a.status == 200:
				made++
			case a.status != 422 || a.Errors["usuario"] == nil:
				t.Errorf("%d: %s", a.status, a.body)
			}
		}
		for _, server := range servers {
			if all := server.client(token).customers(); made != 1 || len(all) != 1 {
				t.Errorf("%d were made, %v are there", made, all)
			}
		}
	})
}

func TestOneIdempotencyKeyMakesOneCustomer(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		token, other := in.token(company), in.token(company)
		servers := in.serveAll()
		create := func(client *client, _ int) (answer, error) {
			return client.send("POST", "/customers", map[string]any{"name": "Ana"}, "Idempotency-Key", "order 1042")
		}
		bodies := map[string]bool{}
		for _, answer := range over(t, servers, token, 20, create) {
			switch answer.status {
			case 200:
				bodies[string(answer.body)] = true
			case 409: // while the first one runs
			default:
				t.Errorf("%d: %s", answer.status, answer.body)
			}
		}
		for _, server := range servers {
			answer, err := create(server.client(token), 0)
			if err != nil || answer.header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%v: %v", err, answer.header)
			}
			bodies[string(answer.body)] = true
			server.client(token).want(422, "POST", "/customers", map[string]any{"name": "Bia"}, "Idempotency-Key", "order 1042")
		}
		if all := servers[0].client(token).customers(); len(bodies) != 1 || len(all) != 1 {
			t.Errorf("answered %v; there are %v", bodies, all)
		}
		if answer, err := create(servers[0].client(other), 0); err != nil || answer.status != 200 || bodies[string(answer.body)] {
			t.Errorf("another token's key of the same name: %v %s", err, answer.body)
		}
	})
}

func TestCommandAndServerWriteAtOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		writing := startWriting(in.serve().client(in.token(company)))
		defer writing.stop()
		writing.names(t, 1)
		for i := range 5 {
			in.create("id", "product", "create", "--company", company, "--name", fmt.Sprint("Fibra ", i))
		}
		writing.names(t, len(writing.names(t, 0))+1) // they went on
	})
}
