package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestFirstServeMakesTheDatabaseAndSaysWhatIsNext(t *testing.T) {
	eachBare(t, func(t *testing.T, in *installation) {
		server := in.serve()
		const next = "/setup/"
		server.await(&server.stderr, func(text string) bool { return strings.Contains(text, next) })
		if in.engine == sqldb.SQLite {
			for _, name := range []string{"carteira.db", "secret.key"} {
				info, err := os.Stat(filepath.Join(in.dir, name))
				if err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v, %v", name, info, err)
				}
			}
		} else if _, err := os.Stat(in.dir); err == nil {
			t.Error("a data folder was made though the key and the database are elsewhere")
		}
		server.stop()

		in.company()
		again := in.serve()
		again.stop()
		if strings.Contains(again.stderr.String(), next) {
			t.Errorf("there is a company, and still:\n%s", again.stderr.String())
		}
	})
}

func TestCommandsTakeEffectOnTheRunningServer(t *testing.T) {
	eachBare(t, func(t *testing.T, in *installation) {
		server := in.serve()
		owner := in.create("user_id", "company", "create", "--name", "Outra", "--email", "outra@example.com")
		company := in.company()
		if owner == "0" || company == "1" {
			t.Errorf("owner %s, second company %s", owner, company)
		}
		token := in.token(company)
		if !regexp.MustCompile(`^cart_\w{40,}$`).MatchString(token) {
			t.Errorf("token create printed %q", token)
		}
		product := in.create("id", "product", "create", "--company", company, "--name", "Fibra")
		plan := in.create("id", "plan", "create", "--company", company, "--name", "Mensal", "--value", "35.00", "--period", "1month", "--product-id", product)

		client := server.client(token)
		client.want(200, "GET", "/account", nil)
		client.want(200, "GET", "/products/"+product, nil)
		made := client.want(200, "POST", "/customers", map[string]any{"name": "Ana", "plan_id": plan}).customer(t)
		if made.DueOn == "" {
			t.Errorf("no due date from the plan: %+v", made)
		}
		in.run("plan", "set", "--company", company, "--id", plan, "--active=false")
		refused := client.want(422, "POST", "/customers", map[string]any{"name": "Bia", "plan_id": plan})
		if refused.Errors["plan_id"] == nil {
			t.Errorf("a plan that is not active: %s", refused.body)
		}
	})
}

func TestListsAreTablesForPeopleAndJSONForPrograms(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		in.token(company)
		in.run("product", "create", "--company", company, "--name", "Fibra")
		in.run("plan", "create", "--company", company, "--name", "Mensal", "--value", "35.00", "--period", "1month")
		for what, name := range map[string]string{"company": "Ana Internet", "token": "n8n", "product": "Fibra", "plan": "Mensal"} {
			args := []string{what, "list"}
			if what != "company" {
				args = append(args, "--company", company)
			}
			heading, row, _ := strings.Cut(in.run(args...), "\n")
			if !strings.HasPrefix(heading, "ID  NAME  ") || !strings.HasPrefix(row, "1   "+name) {
				t.Errorf("%s list:\n%s\n%s", what, heading, row)
			}
			var list []struct {
				ID   int64
				Name string
			}
			printed := in.run(append(args, "--json")...)
			if err := json.Unmarshal([]byte(printed), &list); err != nil || len(list) != 1 || list[0].ID != 1 || list[0].Name != name {
				t.Errorf("%s list --json: %v: %s", what, err, printed)
			}
		}
	})
}

func TestDeletedTokenFailsOnTheNextCallInEveryProcess(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		token, other := in.token(company), in.token(company)
		servers := in.serveAll()
		for _, server := range servers {
			server.client(token).want(200, "GET", "/account", nil)
		}
		in.run("token", "delete", "--company", company, "--id", "1")
		for _, server := range servers {
			answer := server.client(token).want(401, "GET", "/account", nil)
			if answer.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("401 with %v", answer.header)
			}
			server.client(other).want(200, "GET", "/account", nil)
		}
	})
}

// serveAll starts as many servers as the database allows, two at the most.
func (in *installation) serveAll(env ...string) []*server {
	in.t.Helper()
	servers := []*server{in.serve(env...)}
	if in.engine == sqldb.Postgres {
		servers = append(servers, in.serve(env...))
	}
	return servers
}

func TestMigrateMayBeRunAtAnyTime(t *testing.T) {
	t.Parallel()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		t.Parallel()
		in := installEmpty(t, engine)
		together(4, func(int) { // at once
			if result := in.try(nil, "migrate"); result.code != 0 {
				t.Errorf("exit code %d: %s", result.code, result.stderr)
			}
		})
		token := in.token(in.company())
		client := in.serve().client(token)
		client.want(200, "POST", "/customers", map[string]any{"name": "Ana"})
		in.run("migrate")
		if all := client.customers(); len(all) != 1 {
			t.Errorf("customers after migrate: %v", all)
		}
	})
}

func TestVersionIsPrinted(t *testing.T) {
	t.Parallel()
	if got := installBare(t, sqldb.SQLite).run("version"); !regexp.MustCompile(`^carteira \S+ \w+/\w+ go1\.\S+\n$`).MatchString(got) {
		t.Errorf("version printed %q", got)
	}
}

func TestHelpNamesEverySetting(t *testing.T) {
	t.Parallel()
	help := installBare(t, sqldb.SQLite).run("serve", "--help")
	for _, setting := range settings {
		if !strings.Contains(help, setting.Env) {
			t.Errorf("%s is not in the help of serve", setting.Env)
		}
	}
}
