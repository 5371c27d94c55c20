//go:build unix

package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/housetest"
)

// callers is how many requests are in flight, as in make bench.
const callers = 32

// BenchmarkRequests is one request of the API from its bytes to its answer,
// without a network: for profiles, and for allocations and processor time, which
// depend less on what else the machine does.
func BenchmarkRequests(b *testing.B) {
	for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.Postgres} {
		b.Run(string(engine), func(b *testing.B) {
			program := newApp(b, engine)
			benchmarkRequests(b, program, newCaller(b, program))
		})
	}
}

func benchmarkRequests(b *testing.B, program *App, caller *caller) {
	b.Helper()
	create := func(n int64) (string, string, string) {
		return http.MethodPost, "/customers", fmt.Sprintf(`{"name":"Maria Aparecida dos Santos","whatsapp":"5511987654321",`+
			`"email":"cliente.novo@example.com","usuario":"novo%09d","data_de_vencimento":"2027-01-31","plan_id":%d}`, n, caller.plan)
	}
	b.Run("create", func(b *testing.B) { caller.send(b, create) })
	b.Run("create alone", func(b *testing.B) { caller.sendAlone(b, create) })
	housetest.Must(b, tally.Compact(b.Context(), program.DB)) // as a server does every two seconds
	b.Run("read", func(b *testing.B) {
		caller.send(b, func(n int64) (string, string, string) {
			return http.MethodGet, fmt.Sprintf("/customers/%d", 1+n%caller.made()), ""
		})
	})
	b.Run("list", func(b *testing.B) {
		caller.send(b, func(int64) (string, string, string) { return http.MethodGet, "/customers?per_page=50", "" })
	})
}

type caller struct {
	handler http.Handler
	token   string
	plan    int64
	number  atomic.Int64
	created atomic.Int64
}

func newCaller(b *testing.B, program *App) *caller {
	b.Helper()
	company, _, err := program.Accounts.CreateCompany(b.Context(), account.ReadNewCompany(housetest.Form(
		"name", "Rede Clara", "email", "ana@example.com")))
	housetest.Must(b, err)
	actor := account.Operator(company)
	_, token, err := program.Accounts.CreateToken(b.Context(), actor, account.ReadNewToken(housetest.Form("name", "CRM")))
	housetest.Must(b, err)
	plan, err := program.Catalog.CreatePlan(b.Context(), actor, catalog.ReadNewPlan(housetest.Form("name", "Mensal", "value", "35.00", "period", "1month")))
	housetest.Must(b, err)
	return &caller{handler: program.Handler(), token: token, plan: plan.ID}
}

func (c *caller) made() int64 { return max(1, c.created.Load()) }

// send has callers of them in flight until the benchmark has enough.
func (c *caller) send(b *testing.B, request func(n int64) (method, path, body string)) {
	b.Helper()
	b.SetParallelism((callers + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	before := processorTime(b)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if !c.request(b, request) {
				return
			}
		}
	})
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// sendAlone has one of them in flight.
func (c *caller) sendAlone(b *testing.B, request func(n int64) (method, path, body string)) {
	b.Helper()
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		c.request(b, request)
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// request sends one, and reports whether it was answered well.
func (c *caller) request(b *testing.B, request func(n int64) (method, path, body string)) bool {
	b.Helper()
	method, path, body := request(c.number.Add(1))
	r := httptest.NewRequest(method, "/api/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		b.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		return false
	}
	if method == http.MethodPost {
		c.created.Add(1)
	}
	return true
}

// processorTime is what the process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	housetest.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
