package api

import (
	"encoding/json"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/web"
)

// anyCall is a call of a company in São Paulo on the day before its customers
// are due.
func anyCall(tb testing.TB) *call {
	tb.Helper()
	zone, err := civil.LoadZone("America/Sao_Paulo")
	if err != nil {
		tb.Fatal(err)
	}
	return &call{actor: account.Actor{Company: account.Company{Zone: zone}}, today: civil.MustParse("2026-02-04")}
}

func fiftyCustomers() []customer.Customer {
	list := make([]customer.Customer, 50)
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for i := range list {
		list[i] = customer.Customer{
			ID: int64(1000 + i), UUID: "0b0e7a6e-5d0b-4c3c-9a51-2f0c8c1f9a01", Name: "Conceição Araújo & Filhos",
			Whatsapp: "5511987654321", Email: "conceicao.araujo@example.com", Usuario: "conceicao.1a2b",
			DueOn: civil.MustParse("2026-02-05"), Plan: customer.Plan{ID: 3, Name: "Fibra 300", Value: 12990},
			Product: customer.Product{ID: 2, Name: "Fibra"}, Notes: "Prefere contato à tarde; \"casa dos fundos\".",
			ExternalID: "CRM-00012345", CreatedAt: at, UpdatedAt: at.Add(time.Hour),
		}
	}
	return list
}

// customerRecord is a customer's record for encoding/json.
type customerRecord struct {
	ID       int64        `json:"id"`
	UUID     string       `json:"uuid"`
	Name     string       `json:"name"`
	Whatsapp *string      `json:"whatsapp"`
	Email    *string      `json:"email"`
	Usuario  *string      `json:"usuario"`
	DueOn    *string      `json:"data_de_vencimento"`
	Status   string       `json:"status"`
	Plan     *planRecord  `json:"plan"`
	Product  *namedRecord `json:"product"`
	Notes    *string      `json:"notes"`
	External *string      `json:"external_id"`

	CpfCnpj      *string         `json:"cpf_cnpj"`
	Address      *string         `json:"address"`
	Price        *string         `json:"price"`
	Custom       json.RawMessage `json:"custom"`
	CancelledAt  *string         `json:"cancelled_at"`
	CancelReason *string         `json:"cancel_reason"`

	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

type planRecord struct {
	namedRecord
	Value string `json:"value"`
}

type namedRecord struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (c *call) customerRecord(r customer.Customer) customerRecord {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	zone := c.actor.Company.Zone
	record := customerRecord{
		ID: r.ID, UUID: r.UUID, Name: r.Name, Whatsapp: text(r.Whatsapp), Email: text(r.Email), Usuario: text(r.Usuario),
		DueOn: text(r.DueOn.String()), Status: string(r.Status(c.today)), Notes: text(r.Notes), External: text(r.ExternalID),
		CreatedAt: civil.Timestamp(r.CreatedAt, r.CreatedZone()), UpdatedAt: civil.Timestamp(r.UpdatedAt, zone),
	}
	if r.Plan.ID != 0 {
		record.Plan = &planRecord{namedRecord{r.Plan.ID, r.Plan.Name}, r.Plan.Value.String()}
	}
	if r.Product.ID != 0 {
		record.Product = &namedRecord{r.Product.ID, r.Product.Name}
	}
	return record
}

func FuzzCustomerIsWhatEncodingJSONWrites(f *testing.F) {
	f.Add("Ana", "5511987654321", "", "a \"b\" <c>", int64(3))
	f.Add("", "", "", "", int64(0))
	f.Fuzz(func(t *testing.T, name, whatsapp, email, notes string, planID int64) {
		c, r := anyCall(t), fiftyCustomers()[0]
		r.Name, r.Whatsapp, r.Email, r.Notes = name, whatsapp, email, notes
		r.Plan.ID, r.Product.ID, r.Product.Name = planID, planID, name
		want, err := json.Marshal(c.customerRecord(r))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.customer(r).Data(nil); string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func BenchmarkListOfFiftyByEncodingJSON(b *testing.B) {
	c, list := anyCall(b), fiftyCustomers()
	b.ReportAllocs()
	for b.Loop() {
		records := make([]customerRecord, len(list))
		for i, r := range list {
			records[i] = c.customerRecord(r)
		}
		if _, err := json.Marshal(records); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkListOfFiftyCustomers(b *testing.B) {
	c, list := anyCall(b), fiftyCustomers()
	data := web.List(list, c.writeCustomer)
	buffer := make([]byte, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		buffer = data(buffer[:0])
	}
}
