package program

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
)

const metasSecret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

// mortalServer is a server that dies at a point.
func (in *installation) mortalServer(env []string, point string) *server {
	in.t.Helper()
	program, err := mortal()
	if err != nil {
		in.t.Fatal(err)
	}
	s := &server{process: start(in.t, program, slices.Concat(in.env, env, []string{"CARTEIRA_CRASH_AT=" + point}), "serve"), in: in}
	s.await(&s.stderr, func(string) bool {
		for _, line := range s.log() {
			if line.Msg == "serving" {
				s.address = line.Address
			}
		}
		return s.address != ""
	})
	return s
}

// failedReports is what Meta posts when n messages have failed.
func failedReports(n int) string {
	statuses := make([]string, n)
	for i := range statuses {
		statuses[i] = fmt.Sprintf(`{"id":"wamid.%d","status":"failed","timestamp":"1769000000","errors":[{"code":131026}]}`, i+1)
	}
	return `{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":{"statuses":[` +
		strings.Join(statuses, ",") + `]}}]}]}`
}

// report posts reports as Meta does. It returns 0 where the server dies over them.
func (s *server) report(key, body string) int {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+s.address+"/channels/whatsapp_cloud/"+key, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(metasSecret))
	mac.Write([]byte(body))
	request.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// Failures that Meta reports later go to the next channel once, whenever the
// process that gets the report dies, and however often and to however many
// processes it is sent.
func TestDeathInTheMiddleOfAReportFallsBackOnce(t *testing.T) {
	t.Parallel()
	for point, released := range map[string]int64{"reminder-in-report": 0, "reminder-after-report": 1} {
		t.Run(point, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, in *installation) {
				carrier := newCarrier(t)
				env := carrier.env(t)
				const n = 6
				in.messages(carrier, env, n, "--kind", "whatsapp_cloud", "--option", "phone_number_id=106540352242922",
					"--option", "token=EAAJB", "--option", "app_secret="+metasSecret)
				if made := in.try(env, "reminder", "channel", "create", "--company", "1", "--kind", "http", "--per-minute", "0",
					"--option", "url="+carrier.URL); made.code != 0 {
					t.Fatal(made.stderr)
				}
				db := in.open()
				key := in.sentByMeta(db)
				dying := in.mortalServer(env, point)
				if status := dying.report(key, failedReports(n)); status != 0 {
					t.Fatalf("it answered %d and lived", status)
				}
				if code := dying.wait(); code != -1 {
					t.Fatalf("exit code %d:\n%s", code, dying.stderr.String())
				}
				execute(t, db, leasesEnd)
				for _, server := range in.serveAll(env...) {
					for range 2 {
						if status := server.report(key, failedReports(n)); status != http.StatusOK {
							t.Errorf("told again: %d", status)
						}
					}
				}
				eventually(t, "all is settled", func() bool { return count(t, db, unsettled) == 0 })
				in.wantEachOnce(db, carrier, n, released)
			})
		})
	}
}

// sentByMeta makes the messages such that Meta has taken, with another channel to
// follow. It returns the key of the address that Meta calls.
func (in *installation) sentByMeta(db *sqldb.DB) string {
	in.t.Helper()
	execute(in.t, db, `UPDATE reminder_rules SET channels = ',1,2,'`)
	execute(in.t, db, `UPDATE reminder_messages SET status = 'sent', attempts = 1, receipt = 'wamid.' || id, sent_at = 1`)
	execute(in.t, db, `INSERT INTO reminder_attempts (company_id, message_id, number, channel_id, kind, at, duration_ms, outcome, problem, receipt)
		SELECT company_id, id, 1, 1, 'whatsapp_cloud', 1, 1, 'accepted', '', receipt FROM reminder_messages`)
	key, err := sqldb.Value[string](in.t.Context(), db, `SELECT callback_key FROM reminder_channels WHERE id = 1`)
	if err != nil || key == "" {
		in.t.Fatalf("key %q: %v", key, err)
	}
	return key
}

// wantEachOnce wants every message to have gone out by the second channel, and
// once. Those that were released before the death may have been under way: such a
// message goes again, as to any receiver that knows it by its id.
func (in *installation) wantEachOnce(db *sqldb.DB, carrier *carrier, n, released int64) {
	in.t.Helper()
	const sentAfter = `SELECT count(*) FROM reminder_messages WHERE status = 'sent' AND channel_id = 2 AND attempts = `
	sent, again := count(in.t, db, sentAfter+"2"), count(in.t, db, sentAfter+"3")
	came, twice := carrier.received(), int64(0)
	for _, times := range came {
		twice += int64(times - 1)
	}
	if sent+again != n || int64(len(came)) != n || twice > again || again > released {
		in.t.Errorf("of %d messages came %v; %d are sent and %d sent again", n, came, sent, again)
	}
}
