package program

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/tlstest"
)

// carrier is a bridge to WhatsApp, or a company's own sender, that writes down
// how often each number was written to, and under which id.
type carrier struct {
	*receiver
	ids map[string][]string // by number
}

func newCarrier(t *testing.T) *carrier {
	t.Helper()
	c := &carrier{receiver: &receiver{times: map[string]int{}}, ids: map[string][]string{}}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var body struct {
			Number string
			Data   struct{ To string }
		}
		if req.Method == http.MethodGet { // whether the bridge is connected to its phone
			_, _ = io.WriteString(w, `{"instance":{"instanceName":"clara","state":"open"}}`)
			return
		}
		raw, _ := io.ReadAll(req.Body)
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		number := body.Number + body.Data.To
		c.mu.Lock()
		c.times[number]++
		c.ids[number] = append(c.ids[number], req.Header.Get("X-Service-Delivery"))
		meet := c.meet
		c.mu.Unlock()
		if meet != nil {
			meet(number)
			return
		}
		time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond) // for kills to fall into
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"key":{"id":"BAE5"},"status":"PENDING"}`)
	}))
	c.Config.ErrorLog = log.New(io.Discard, "", 0) // of those who are killed
	tlstest.Start(c.Server)
	t.Cleanup(c.Close)
	return c
}

func (c *carrier) env(t *testing.T) []string {
	t.Helper()
	return append(c.receiver.env(t), "CARTEIRA_MESSAGE_ALLOW_NETWORKS=127.0.0.0/8")
}

// messages makes n due messages while no process sends.
func (in *installation) messages(carrier *carrier, env []string, n int, channel ...string) {
	in.t.Helper()
	company := in.company()
	args := append([]string{"reminder", "channel", "create", "--company", company, "--per-minute", "0"}, channel...)
	made := in.try(env, args...)
	if made.code != 0 {
		in.t.Fatalf("no channel:\n%s", made.stderr)
	}
	template := in.create("id", "reminder", "template", "create", "--company", company, "--name", "Lembrete", "--text", "Olá {primeiro_nome}, vence {vencimento}", "--whatsapp-name", "lembrete")
	in.create("id", "reminder", "rule", "create", "--company", company, "--name", "Véspera", "--offset-days", "-1", "--hour", "12:00",
		"--template-id", template, "--channels", "1", "--active")
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		in.t.Fatal(err)
	}
	var sheet strings.Builder
	sheet.WriteString("name,whatsapp,data_de_vencimento\n")
	for i := range n {
		fmt.Fprintf(&sheet, "Ana,55119%08d,%s\n", i, time.Now().In(zone).AddDate(0, 0, 2).Format(time.DateOnly))
	}
	file := filepath.Join(in.t.TempDir(), "customers.csv")
	if err := os.WriteFile(file, []byte(sheet.String()), 0o600); err != nil {
		in.t.Fatal(err)
	}
	in.run("import", "customers", file, "--company", company)
	server := in.serve(env...)
	db := in.open()
	eventually(in.t, "all is planned", func() bool {
		return count(in.t, db, `SELECT count(*) FROM reminder_messages WHERE status = 'scheduled'`) == int64(n)
	})
	server.stop()
	if len(carrier.received()) != 0 {
		in.t.Fatal("a message went out before its hour")
	}
	// As if a person had asked for each: whatever the hour.
	execute(in.t, db, `UPDATE reminder_messages SET manual = TRUE, run_at = 1`)
}

func evolutionOptions(carrier *carrier) []string {
	return []string{"--kind", "evolution", "--option", "base_url=" + carrier.URL, "--option", "instance=clara", "--option", "apikey=B6D711FCDE4D4FD5"}
}

// leasesEnd is a minute and a half later, when the leases of a killed process
// have expired.
const leasesEnd = `UPDATE reminder_messages SET run_at = 1 WHERE claim <> '' AND status IN ('scheduled', 'sending')`

const unsettled = `SELECT count(*) FROM reminder_messages WHERE status IN ('scheduled', 'sending')`

// A channel that would act on a second copy never gets one: what was under way
// at a death is left to a person.
func TestDeathAtEveryPointOfAMessageSendsNoneTwice(t *testing.T) {
	t.Parallel()
	for _, point := range []struct {
		name    string
		sent    bool // something came before the death
		unknown bool // something is left to a person
	}{
		{name: "reminder-after-claim"},
		{name: "reminder-after-begin", unknown: true},
		{name: "during-request", sent: true, unknown: true},
		{name: "reminder-after-answer", sent: true, unknown: true},
	} {
		t.Run(point.name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, in *installation) {
				carrier := newCarrier(t)
				env := carrier.env(t)
				const n = 10
				in.messages(carrier, env, n, evolutionOptions(carrier)...)
				in.dies(carrier.receiver, env, point.name)
				if came := len(carrier.received()); point.sent != (came > 0) {
					t.Errorf("%d came before the death", came)
				}
				db := in.open()
				execute(t, db, leasesEnd)
				in.serve(env...)
				eventually(t, "all is settled", func() bool { return count(t, db, unsettled) == 0 })
				in.wantAtMostOnce(db, carrier, n, point.unknown, 1)
			})
		})
	}
}

// wantAtMostOnce checks that no number got two messages, and that only
// messages that were under way are unknown.
func (in *installation) wantAtMostOnce(db *sqldb.DB, carrier *carrier, n int, unknown bool, kills int) {
	in.t.Helper()
	for number, times := range carrier.received() {
		if times > 1 {
			in.t.Errorf("%s was written to %d times", number, times)
		}
	}
	sent := count(in.t, db, `SELECT count(*) FROM reminder_messages WHERE status = 'sent'`)
	left := count(in.t, db, `SELECT count(*) FROM reminder_messages WHERE status = 'unknown'`)
	came := int64(len(carrier.received()))
	if sent+left != int64(n) || unknown != (left > 0) || left > int64(laneCap*kills) || came < sent || came > sent+left {
		in.t.Errorf("of %d messages %d came, %d are sent and %d unknown", n, came, sent, left)
	}
}

func TestKillsAtRandomSendNoMessageTwice(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		carrier := newCarrier(t)
		env := carrier.env(t)
		const n, kills = 120, 4
		in.messages(carrier, env, n, evolutionOptions(carrier)...)
		db := in.open()
		for kill := range kills {
			server := in.serve(env...)
			want := (kill + 1) * n / (kills + 2)
			eventually(t, "some have come", func() bool { return len(carrier.received()) >= want })
			server.kill()
			execute(t, db, leasesEnd)
		}
		in.serve(env...)
		eventually(t, "all is settled", func() bool { return count(t, db, unsettled) == 0 })
		in.wantAtMostOnce(db, carrier, n, count(t, db, `SELECT count(*) FROM reminder_messages WHERE status = 'unknown'`) > 0, kills)
	})
}

// A receiver that knows a repeated message by its id gets it again, under the
// same id.
func TestDeathLosesNoMessageToAReceiverThatKnowsThem(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"reminder-after-begin", "during-request", "reminder-after-answer"} {
		t.Run(point, func(t *testing.T) {
			dealtEngine(t, func(t *testing.T, engine sqldb.Engine) {
				in, carrier := install(t, engine), newCarrier(t)
				env := carrier.env(t)
				const n = 10
				in.messages(carrier, env, n, "--kind", "http", "--option", "url="+carrier.URL)
				in.dies(carrier.receiver, env, point)
				db := in.open()
				execute(t, db, leasesEnd)
				in.serve(env...)
				eventually(t, "all is sent", func() bool {
					return count(t, db, `SELECT count(*) FROM reminder_messages WHERE status = 'sent'`) == n
				})
				carrier.mu.Lock()
				defer carrier.mu.Unlock()
				if len(carrier.ids) != n {
					t.Errorf("%d numbers were written to, want %d", len(carrier.ids), n)
				}
				for number, ids := range carrier.ids {
					if len(slices.Compact(slices.Clone(ids))) != 1 || len(ids) > 2 {
						t.Errorf("%s got %v", number, ids)
					}
				}
			})
		})
	}
}

// Three servers of one database share the work.
func TestThreeServersSendEachMessageOnce(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	carrier := newCarrier(t)
	env := carrier.env(t)
	const n = 60
	in.messages(carrier, env, n, evolutionOptions(carrier)...)
	var starting sync.WaitGroup
	for range 3 {
		starting.Go(func() { in.serve(env...) })
	}
	starting.Wait()
	db := in.open()
	eventually(t, "all is sent", func() bool { return count(t, db, unsettled) == 0 })
	in.wantAtMostOnce(db, carrier, n, false, 0)
}

func TestReminderCommands(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	company := in.company()
	run := func(args ...string) string {
		t.Helper()
		return in.run(append(args, "--company", company)...)
	}
	made := run("reminder", "channel", "create", "--kind", "http", "--name", "Próprio", "--option", "url=https://sender.example.com/x")
	if !strings.Contains(made, `"secrets":{"secret":"whsec_`) {
		t.Errorf("no secret is shown: %s", made)
	}
	run("reminder", "channel", "create", "--kind", "log")
	if printed := run("reminder", "channel", "list"); strings.Contains(printed, "whsec_") || !strings.Contains(printed, "url=https://sender.example.com/x") {
		t.Errorf("channels:\n%s", printed)
	}
	run("reminder", "channel", "set", "--id", "1", "--per-minute", "5", "--option", "url=https://other.example.com/")
	wantRefusal(t, in.try(nil, "reminder", "channel", "set", "--company", company, "--id", "1", "--option", "url=https://127.0.0.1/"), 1, "--option url must not point to an internal address")
	wantRefusal(t, in.try(nil, "reminder", "channel", "create", "--company", company, "--kind", "evolution", "--option", "base_url=http://10.0.0.1:8080", "--option", "instance=x", "--option", "apikey=y"),
		1, "--option base_url must use https")
	wantRefusal(t, in.try(nil, "reminder", "channel", "create", "--company", company, "--kind", "log", "--option", "colour=red"), 1, "--option colour unknown field")
	run("reminder", "template", "create", "--name", "Lembrete", "--text", "Olá {nome}")
	wantRefusal(t, in.try(nil, "reminder", "template", "set", "--company", company, "--id", "1", "--text", "Olá {nmoe}"), 1, "--text", "did you mean {nome}?")
	rule := run("reminder", "rule", "create", "--name", "No dia", "--offset-days", "0", "--hour", "9", "--template-id", "1", "--channels", "2,1")
	if !strings.Contains(rule, `"active":false`) || !strings.Contains(rule, `"channels":[2,1]`) {
		t.Errorf("rule %s", rule)
	}
	run("reminder", "rule", "set", "--id", "1", "--active", "--hour", "10:30")
	if printed := run("reminder", "rule", "list"); !strings.Contains(printed, "on the day, 10:30") {
		t.Errorf("rules:\n%s", printed)
	}
	wantRefusal(t, in.try(nil, "reminder", "template", "delete", "--company", company, "--id", "1"), 1, "rule 1, No dia, uses this template")
	if printed := run("reminder", "test", "--channel-id", "2", "--to", "x"); !strings.Contains(printed, `"sent":true`) {
		t.Errorf("test: %s", printed)
	}
	if printed := run("reminder", "settings", "--quiet-from", "20:00"); printed != `{"quiet_from":"20:00","quiet_to":"08:00"}`+"\n" {
		t.Errorf("settings: %s", printed)
	}
	file := filepath.Join(t.TempDir(), "customers.csv")
	write(t, file, "name,whatsapp\nAna,11987654321\n")
	in.run("import", "customers", file, "--company", company)
	if printed := run("reminder", "preview", "--template-id", "1", "--customer-id", "1"); !strings.Contains(printed, `"text":"Olá Ana"`) {
		t.Errorf("preview: %s", printed)
	}
	run("reminder", "optout", "--customer-id", "1")
	run("reminder", "optout", "--customer-id", "1", "--remove")
	if printed := run("reminder", "log", "--json"); printed != "[]\n" {
		t.Errorf("log: %s", printed)
	}
	wantRefusal(t, in.try(nil, "reminder", "decide", "--company", company, "--id", "1", "--as", "dismiss"), 1, "message not found")
	run("reminder", "rule", "delete", "--id", "1")
	run("reminder", "template", "delete", "--id", "1")
	run("reminder", "channel", "delete", "--id", "1")
	if printed := in.run("reminder", "channel", "kinds"); !strings.Contains(printed, "whatsapp_cloud: WhatsApp (Meta)") {
		t.Errorf("kinds:\n%s", printed)
	}
}

// DELETE /customers/{id} removes what is scheduled for the customer.
func TestDeletedCustomerTakesItsMessagesAlong(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		company := in.company()
		in.run("reminder", "channel", "create", "--company", company, "--kind", "log")
		in.run("reminder", "template", "create", "--company", company, "--name", "x", "--text", "Olá {nome}")
		in.run("reminder", "rule", "create", "--company", company, "--name", "x", "--offset-days", "-1", "--hour", "12:00", "--template-id", "1", "--channels", "1", "--active")
		server := in.serve()
		client := server.client(in.token(company))
		zone, err := time.LoadLocation("America/Sao_Paulo")
		if err != nil {
			t.Fatal(err)
		}
		due := time.Now().In(zone).AddDate(0, 0, 2).Format(time.DateOnly)
		for _, name := range []string{"Ana", "Bia"} {
			client.want(200, "POST", "/customers", map[string]any{"name": name, "data_de_vencimento": due})
		}
		db := in.open()
		scheduled := func(n int64) func() bool {
			return func() bool {
				return count(t, db, `SELECT count(*) FROM reminder_messages WHERE status = 'scheduled'`) == n
			}
		}
		eventually(t, "both are planned for", scheduled(2))
		client.want(200, "DELETE", "/customers/1", nil)
		if n := count(t, db, `SELECT count(*) FROM reminder_messages WHERE customer_id = 1`); n != 0 || !scheduled(1)() {
			t.Errorf("%d messages of the deleted customer are left", n)
		}
		if printed := in.run("reminder", "log", "--company", company, "--json"); strings.Contains(printed, "Ana") || !strings.Contains(printed, "Bia") {
			t.Errorf("log: %s", printed)
		}
	})
}

// The demo has rules that are on, and shows what they have planned.
