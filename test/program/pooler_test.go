//go:build unix

package program

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/pgserver"
)

func TestServersWorkThroughPgBouncer(t *testing.T) {
	t.Parallel()
	in := installBare(t, sqldb.Postgres)
	database, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	bouncer, err := database.Bouncer(t.Context())
	if errors.Is(err, pgserver.ErrNoBouncer) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bouncer.Stop)
	in.url = bouncer.URL()
	in.env = append(in.env, "CARTEIRA_DATABASE_URL="+in.url)
	in.secret(passwordOf(t, in.url))

	token := in.token(in.company())
	servers := []*server{in.serve(), in.serve()}
	for i, a := range over(t, servers, token, writers, func(client *client, i int) (answer, error) {
		return client.send("POST", "/customers", map[string]any{"name": fmt.Sprint("Ana ", i)}, "Idempotency-Key", fmt.Sprint("key ", i))
	}) {
		if a.status != 200 {
			t.Errorf("customer %d: %d %s", i, a.status, a.body)
		}
	}
	for _, server := range servers {
		if all := server.client(token).customers(); len(all) != writers {
			t.Errorf("%d customers, want %d", len(all), writers)
		}
		for _, line := range server.log() {
			if line.Level == "ERROR" {
				t.Errorf("logged %+v", line)
			}
		}
	}
}
