package program

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"carteira/internal/platform/sqldb"
)

// createUntilKilled makes customers from many clients at once, kills the server
// when it has acknowledged n, and returns all that were acknowledged.
func createUntilKilled(server *server, client *client, n int) map[int64]string {
	var mu sync.Mutex
	acknowledged := map[int64]string{}
	together(writers, func(i int) {
		for j := 0; ; j++ {
			name := fmt.Sprintf("Ana %s %d-%d", server.address, i, j)
			answer, err := client.send("POST", "/customers", map[string]any{"name": name, "usuario": name})
			if err != nil {
				return
			}
			if answer.status != 200 {
				server.t.Errorf("%d: %s", answer.status, answer.body)
				server.kill()
				return
			}
			id := answer.customer(server.t).ID
			mu.Lock()
			acknowledged[id] = name
			if len(acknowledged) == n {
				server.kill()
			}
			mu.Unlock()
		}
	})
	return acknowledged
}

func TestKillLosesNothingThatWasAcknowledged(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		token := in.token(company)
		acknowledged := map[int64]string{}
		for range 4 {
			server := in.serve()
			maps.Copy(acknowledged, createUntilKilled(server, server.client(token), 1+rand.IntN(200)))
		}
		there := map[int64]string{}
		for _, customer := range in.serve().client(token).customers() {
			there[customer.ID] = customer.Name
		}
		for id, name := range acknowledged {
			if there[id] != name {
				t.Errorf("customer %d was acknowledged as %q and is %q", id, name, there[id])
			}
		}
		wantOneEventEach(t, in.open(), there)
	})
}

// wantOneEventEach wants one customer.created for each customer and no other.
func wantOneEventEach(t *testing.T, db *sqldb.DB, customers map[int64]string) {
	t.Helper()
	told := map[int64]int{}
	err := sqldb.Each(t.Context(), db, "SELECT body FROM events WHERE name = 'customer.created'", nil, func(row sqldb.Row) error {
		var body string
		if err := row.Scan(&body); err != nil {
			return err
		}
		var e struct{ Data struct{ Customer customer } }
		err := json.Unmarshal([]byte(body), &e)
		told[e.Data.Customer.ID]++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range customers {
		if told[id] != 1 {
			t.Errorf("customer %d has %d events", id, told[id])
		}
	}
	if len(told) != len(customers) {
		t.Errorf("%d customers, events of %d", len(customers), len(told))
	}
}

// A caller that repeats a request with its key until it is answered gets it
// carried out once, wherever a kill falls.
func TestKeyIsCarriedOutOnceHoweverOftenTheServerIsKilled(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		token := in.token(in.company())
		const keys = 120
		create := func(client *client, key int) (answer, error) {
			name := fmt.Sprint("Ana ", key)
			return client.send("POST", "/customers", map[string]any{"name": name}, "Idempotency-Key", name)
		}
		var mu sync.Mutex
		first := map[int]string{} // by key, the first answer
		for round := range 4 {
			server := in.serve()
			client := server.client(token)
			killAt := len(first) + 1 + rand.IntN(keys/4)
			together(writers, func(i int) {
				for key := i; key < keys; key += writers {
					answer, err := create(client, key)
					if err != nil {
						return
					}
					mu.Lock()
					switch seen, ok := first[key]; {
					case answer.status == 200 && !ok:
						first[key] = string(answer.body)
					case answer.status == 200 && seen != string(answer.body):
						t.Errorf("key %d was answered %s, then %s", key, seen, answer.body)
					case answer.status != 200 && (answer.status != 409 || ok):
						t.Errorf("round %d, key %d, answered %t: %d %s", round, key, ok, answer.status, answer.body)
					}
					if len(first) >= killAt {
						server.kill()
					}
					mu.Unlock()
				}
			})
			server.kill()
		}
		// Two minutes later the lease of a killed server has expired.
		expireLeases(t, in.open())
		client := in.serve().client(token)
		for key := range keys {
			answer, err := create(client, key)
			lost := answer.status == 409 && strings.Contains(answer.Message, "its answer was lost")
			if err != nil || answer.status != 200 && !lost || lost && first[key] != "" {
				t.Errorf("key %d: %v %d %s", key, err, answer.status, answer.body)
			}
		}
		made := map[string]int{}
		for _, customer := range client.customers() {
			made[customer.Name]++
		}
		for key := range keys {
			if n := made[fmt.Sprint("Ana ", key)]; n != 1 {
				t.Errorf("key %d made %d customers", key, n)
			}
		}
	})
}

func expireLeases(t *testing.T, db *sqldb.DB) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), "UPDATE idempotency_keys SET lease_until = 0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
