//go:build linux

package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// standInVariable makes this test program the one under trial: a small program
// that keeps what ours promises, or with the name of a mutant does not.
const standInVariable = "CHAOS_TEST_STAND_IN"

func TestMain(m *testing.M) {
	mutant, ok := os.LookupEnv(standInVariable)
	if !ok {
		os.Exit(m.Run())
	}
	if err := standIn(mutant); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The ways in which the stand-in breaks what is promised.
const (
	forgets       = "forgets a write"
	doubles       = "forgets the key of a write"
	settlesNever  = "settles nothing"
	settlesTwice  = "settles twice"
	renewsNever   = "does not renew"
	renewsTwice   = "renews twice"
	deliversNone  = "does not deliver to one webhook"
	deliversLate  = "delivers late"
	repeats       = "delivers again and again"
	dies          = "ends by itself"
	staysGreen    = "is ready whatever happens"
	acksFull      = "acknowledges what has no room"
	hangsUp       = "does not answer who signs in"
	refusesPeople = "refuses the right password"
	importsAlone  = "lets no one write during an import"
	importsHalf   = "imports a half"
	chargesTwice  = "makes two charges of an invoice"
	refusesCaller = "refuses a caller"
	flushesNever  = "acknowledges what is not flushed"
	writesOn      = "writes in spite of a newer schema"
	worksOn       = "does its jobs in spite of a newer schema"
)

// line is one line of the stand-in's file, which is all that it keeps.
type line struct {
	Name, Key, Due string // of a customer
	Webhook        string // address
	Invoice        int64  // its customer's id
	Code, Charge   string // of an invoice at the bank
	Callback       string // a charge
	Paid           int64  // invoice
	Sent           string // event and address
	Schema         int
}

type standInCustomer struct {
	name, due, code, charge string
	paid                    int
}

type standInEvent struct{ ID, Event, Name string }

// standInStore is what the lines come to. Any number of processes share the file.
type standInStore struct {
	mutant    string
	mu        sync.Mutex
	file      *os.File
	read      int64
	customers []*standInCustomer
	keys      map[string]int64
	events    []standInEvent
	webhooks  []string
	callbacks []string
	sent      map[string]bool
	schema    int
}

// do lets change look at what there is and returns what it writes, once that is
// on the disk.
func (s *standInStore) do(change func() []line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := syscall.Flock(int(s.file.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	defer syscall.Flock(int(s.file.Fd()), syscall.LOCK_UN) //nolint:errcheck // it ends with the process
	if err := s.catchUp(); err != nil {
		return err
	}
	var text []byte
	for _, line := range change() {
		one, _ := json.Marshal(line)
		text = append(append(text, one...), '\n')
	}
	if len(text) == 0 {
		return nil
	}
	if _, err := s.file.WriteAt(text, s.read); err != nil {
		return errors.Join(err, s.file.Truncate(s.read))
	}
	if s.mutant != flushesNever {
		if err := s.file.Sync(); err != nil {
			return err
		}
	}
	return s.catchUp()
}

// catchUp takes in what this process or another has written. The end of a file
// that a power cut left is passed over.
func (s *standInStore) catchUp() error {
	if _, err := s.file.Seek(s.read, io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(s.file)
	if err != nil {
		return err
	}
	for {
		one, more, whole := bytes.Cut(text, []byte("\n"))
		var next line
		if whole = whole && json.Unmarshal(one, &next) == nil; !whole {
			return nil
		}
		s.read += int64(len(one)) + 1
		text = more
		s.take(next)
	}
}

func (s *standInStore) take(next line) {
	switch {
	case next.Name != "":
		s.customers = append(s.customers, &standInCustomer{name: next.Name, due: next.Due})
		s.keys[next.Key] = int64(len(s.customers))
		if !strings.HasPrefix(next.Name, importedName) {
			s.event(created, next.Name)
		}
	case next.Webhook != "":
		s.webhooks = append(s.webhooks, next.Webhook)
	case next.Code != "":
		s.customers[next.Invoice-1].code, s.customers[next.Invoice-1].charge = next.Code, next.Charge
	case next.Callback != "":
		s.callbacks = append(s.callbacks, next.Callback)
	case next.Paid != 0:
		s.settle(s.customers[next.Paid-1])
	case next.Sent != "":
		s.sent[next.Sent] = true
	case next.Schema != 0:
		s.schema = next.Schema
	}
}

func (s *standInStore) event(event, name string) {
	s.events = append(s.events, standInEvent{fmt.Sprintf("evt_%d", len(s.events)+1), event, name})
}

func (s *standInStore) settle(customer *standInCustomer) {
	customer.paid++
	s.event(paid, customer.name)
	months := map[string]int{renewsNever: 0, renewsTwice: 2}
	n, mutated := months[s.mutant]
	if !mutated {
		n = 1
	}
	if day, err := time.Parse(time.DateOnly, customer.due); err == nil && n > 0 {
		customer.due = day.AddDate(0, n, 0).Format(time.DateOnly)
		s.event(renewed, customer.name)
	}
}

// standIn runs a command.
func standIn(mutant string) error {
	data := os.Getenv("CARTEIRA_DATA_DIR")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(data, "carteira.db"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	store := &standInStore{mutant: mutant, file: file, keys: map[string]int64{}, sent: map[string]bool{}}
	switch strings.Join(os.Args[1:min(3, len(os.Args))], " ") {
	case "company create":
		fmt.Println(`{"company_id":1}`)
	case "token create":
		fmt.Println("token")
	case "plan create":
		fmt.Println(`{"id":1}`)
	case "gateway set":
		fmt.Println(`{"callback_url":"http://localhost/gateways/mercadopago/1"}`)
	case "subscription-plan create":
		fmt.Println(`{"signup_link":"http://localhost/signup/1"}`)
	case "import customers":
		return store.importFile(os.Args[3])
	case "serve":
		return store.serve(data)
	}
	return nil
}

func (s *standInStore) importFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if s.mutant == importsHalf {
		rows = rows[:len(rows)/2]
	}
	return s.do(func() (lines []line) {
		for _, row := range rows {
			lines = append(lines, line{Name: strings.Split(row, ",")[0], Key: row})
		}
		if s.mutant == importsAlone {
			time.Sleep(2 * time.Second)
		}
		return lines
	})
}

// standInServer is the stand-in as it serves.
type standInServer struct {
	*standInStore
	data   string
	schema int
	client *http.Client
}

func (s *standInStore) serve(data string) error {
	server := &standInServer{standInStore: s, data: data, schema: 1, client: &http.Client{
		Timeout:   time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}}
	if os.Getenv("CARTEIRA_TEST_MIGRATION") != "" {
		server.schema = 2
	}
	if err := s.do(func() []line {
		if s.schema >= server.schema {
			return nil
		}
		return []line{{Schema: server.schema}}
	}); err != nil {
		return err
	}
	go server.work()
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(*http.Request) (int, any){
		"GET /readyz":                         server.ready,
		"POST /api/v1/webhooks":               server.addWebhook,
		"POST /api/v1/customers":              server.addCustomer,
		"GET /api/v1/customers":               server.listCustomers,
		"GET /api/v1/customers/{id}/invoices": server.listInvoices,
		"POST /api/v1/invoices/{id}/pix":      server.pix,
		"GET /api/v1/invoices/{id}":           server.showInvoice,
		"GET /api/v1/payments":                server.listPayments,
		"GET /api/v1/events":                  server.listEvents,
		"POST /gateways/mercadopago/1":        server.calledBack,
		"POST /":                              server.door,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			status, body := handle(r)
			if status == 0 {
				panic(http.ErrAbortHandler)
			}
			answerJSON(w, status, body)
		})
	}
	return http.ListenAndServe(os.Getenv("CARTEIRA_LISTEN"), mux)
}

// older reports whether another process has migrated the database.
func (s *standInServer) older() bool { return s.standInStore.schema > s.schema }

func (s *standInServer) ready(*http.Request) (int, any) {
	_, err := os.Stat(filepath.Join(s.data, "carteira.db"))
	if err == nil {
		probe := filepath.Join(s.data, "probe")
		err = errors.Join(os.WriteFile(probe, make([]byte, 64<<10), 0o600), os.Remove(probe))
	}
	if err == nil {
		err = s.do(func() []line { return nil })
	}
	if s.mutant != staysGreen && (err != nil || s.older()) {
		return http.StatusServiceUnavailable, nil
	}
	return http.StatusOK, nil
}

// change writes, and answers with what it made.
func (s *standInServer) change(body func() any, change func() []line) (int, any) {
	if _, err := os.Stat(filepath.Join(s.data, "carteira.db")); err != nil {
		return http.StatusServiceUnavailable, nil
	}
	refused := false
	err := s.do(func() []line {
		if refused = s.older() && s.mutant != writesOn; refused {
			return nil
		}
		return change()
	})
	if refused || err != nil && s.mutant != acksFull {
		return http.StatusServiceUnavailable, nil
	}
	return http.StatusOK, map[string]any{"data": body()}
}

func (s *standInServer) addWebhook(r *http.Request) (int, any) {
	var webhook struct{ URL string }
	_ = json.NewDecoder(r.Body).Decode(&webhook)
	return s.change(func() any { return nil }, func() []line { return []line{{Webhook: webhook.URL}} })
}

func (s *standInServer) addCustomer(r *http.Request) (int, any) {
	var customer struct {
		Name string
		Due  string `json:"data_de_vencimento"`
	}
	_ = json.NewDecoder(r.Body).Decode(&customer)
	key := r.Header.Get("Idempotency-Key")
	some := strings.HasSuffix(key, "3")
	if s.mutant == refusesCaller && some {
		return http.StatusUnprocessableEntity, nil
	}
	id := int64(0)
	return s.change(func() any { return map[string]any{"id": id} }, func() []line {
		one := line{Name: customer.Name, Key: key, Due: customer.Due}
		id = int64(len(s.customers)) + 1
		switch known := s.keys[key]; {
		case known != 0:
			id = known
			return nil
		case s.mutant == forgets && some:
			return nil
		case s.mutant == doubles && some:
			return []line{one, one}
		}
		return []line{one}
	})
}

func (s *standInServer) list(add func(id int64, customer *standInCustomer) []any) (int, any) {
	all := []any{}
	err := s.do(func() []line {
		for i, customer := range s.customers {
			all = append(all, add(int64(i)+1, customer)...)
		}
		return nil
	})
	if err != nil {
		return http.StatusServiceUnavailable, nil
	}
	return http.StatusOK, map[string]any{"data": all, "meta": map[string]any{"last_page": 1}}
}

func (s *standInServer) listCustomers(*http.Request) (int, any) {
	return s.list(func(id int64, customer *standInCustomer) []any {
		return []any{map[string]any{"id": id, "name": customer.name, "data_de_vencimento": customer.due}}
	})
}

func (s *standInServer) listInvoices(r *http.Request) (int, any) {
	wanted, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	return s.list(func(id int64, _ *standInCustomer) []any {
		if id != wanted {
			return nil
		}
		return []any{map[string]any{"id": id}}
	})
}

func (s *standInServer) listPayments(*http.Request) (int, any) {
	return s.list(func(id int64, customer *standInCustomer) (all []any) {
		for i := range customer.paid {
			all = append(all, map[string]any{"id": id*100 + int64(i), "customer": map[string]any{"name": customer.name}})
		}
		return all
	})
}

func (s *standInServer) listEvents(*http.Request) (int, any) {
	all := []any{}
	_ = s.do(func() []line {
		for _, event := range s.events {
			all = append(all, event.body())
		}
		return nil
	})
	return http.StatusOK, map[string]any{"data": all, "meta": map[string]any{}}
}

func (e standInEvent) body() any {
	return map[string]any{"event": e.Event, "id": e.ID, "data": map[string]any{"customer": map[string]any{"name": e.Name}}}
}

func (s *standInServer) showInvoice(r *http.Request) (int, any) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	status := "Em aberto"
	err := s.do(func() []line {
		if s.customers[id-1].paid > 0 {
			status = "Pago"
		}
		return nil
	})
	if err != nil {
		return http.StatusServiceUnavailable, nil
	}
	return http.StatusOK, map[string]any{"data": map[string]any{"status": status}}
}

func (s *standInServer) pix(r *http.Request) (int, any) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	keys := []string{r.Header.Get("Idempotency-Key")}
	if s.mutant == chargesTwice {
		keys = append(keys, keys[0]+" again")
	}
	var charge struct{ ID int64 }
	for _, key := range keys {
		request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, os.Getenv("CARTEIRA_FAKE_GATEWAY")+"/v1/payments",
			strings.NewReader(fmt.Sprintf(`{"transaction_amount":35,"external_reference":"%d"}`, id)))
		if err != nil {
			return http.StatusBadGateway, nil
		}
		request.Header.Set("X-Idempotency-Key", key)
		response, err := s.client.Do(request)
		if err != nil {
			return http.StatusBadGateway, nil
		}
		err = json.NewDecoder(response.Body).Decode(&charge)
		_ = response.Body.Close()
		if err != nil {
			return http.StatusBadGateway, nil
		}
	}
	made := line{Invoice: id, Code: codeOf(charge.ID), Charge: fmt.Sprint(charge.ID)}
	return s.change(func() any {
		return map[string]any{"payment": map[string]any{"pix_copy_paste": made.Code}}
	}, func() []line { return []line{made} })
}

func (s *standInServer) calledBack(r *http.Request) (int, any) {
	return s.change(func() any { return nil }, func() []line { return []line{{Callback: r.URL.Query().Get("data.id")}} })
}

// door takes passwords.
func (s *standInServer) door(r *http.Request) (int, any) {
	switch {
	case s.mutant == hangsUp:
		return 0, nil
	case s.mutant != refusesPeople && r.FormValue("password") == goodPassword:
		return http.StatusSeeOther, nil
	}
	return http.StatusUnprocessableEntity, nil
}

// work sends and settles in one process at a time.
func (s *standInServer) work() {
	lock, err := os.OpenFile(filepath.Join(s.data, "working"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return
	}
	for ; ; time.Sleep(10 * time.Millisecond) {
		_ = s.do(func() []line { return nil })
		if s.mutant == dies && len(s.customers) >= writers {
			os.Exit(1)
		}
		if s.older() && s.mutant != worksOn || syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			continue
		}
		s.settleDue()
		s.sendDue()
		_ = syscall.Flock(int(lock.Fd()), syscall.LOCK_UN)
	}
}

func (s *standInServer) settleDue() {
	var due []int64
	_ = s.do(func() []line {
		for i, customer := range s.customers {
			if customer.paid == 0 && slices.Contains(s.callbacks, customer.charge) {
				due = append(due, int64(i)+1)
			}
		}
		return nil
	})
	for _, id := range due {
		if s.mutant == settlesNever {
			return
		}
		response, err := s.client.Get(os.Getenv("CARTEIRA_FAKE_GATEWAY") + "/v1/payments/" + s.customers[id-1].charge)
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		lines := []line{{Paid: id}}
		if s.mutant == settlesTwice {
			lines = append(lines, lines[0])
		}
		_ = s.do(func() []line { return lines })
	}
}

func (s *standInServer) sendDue() {
	type delivery struct {
		event standInEvent
		url   string
	}
	var due []delivery
	_ = s.do(func() []line {
		for _, event := range s.events {
			for i, url := range s.webhooks {
				if !s.sent[event.ID+url] && strings.Contains(url, "/healthy/") && (s.mutant != deliversNone || i != 3) {
					due = append(due, delivery{event, url})
				}
			}
		}
		return nil
	})
	if s.mutant == deliversLate && len(due) > 0 {
		time.Sleep(6 * time.Second)
	}
	var sent []line
	for _, d := range due {
		times := 1
		if s.mutant == repeats {
			times = 100
		}
		for range times {
			if !s.send(d.url, d.event) {
				return
			}
		}
		if sent = append(sent, line{Sent: d.event.ID + d.url}); len(sent) == webhooks {
			s.note(sent)
			sent = nil
		}
	}
	s.note(sent)
}

// note keeps what was sent, in memory when the disk has no room for it.
func (s *standInServer) note(sent []line) {
	_ = s.do(func() []line {
		for _, one := range sent {
			s.sent[one.Sent] = true
		}
		return sent
	})
}

func (s *standInServer) send(url string, event standInEvent) bool {
	body, _ := json.Marshal(event.body())
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return false
	}
	request.Header.Set("X-Service-Delivery", event.ID)
	response, err := s.client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return true
}
