package api

import (
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

func BenchmarkListOfFiftyCustomers(b *testing.B) {
	call, list := anyCall(b), fiftyCustomers()
	data := web.List(list, call.writeCustomer)
	buffer := make([]byte, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		buffer = data(buffer[:0])
	}
}
