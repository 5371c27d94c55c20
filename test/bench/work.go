//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
)

// work is something that clients ask for, measured against the baselines.
type work struct {
	name     string
	answer   string                              // the file of answers that belongs to it
	requests func(d *dataset, conn int) requests // for one connection
}

func works() []work {
	return []work{
		{name: "list 50", answer: "list", requests: firstPage},
		{name: "random page", answer: "list", requests: randomPage},
		{name: "read one", answer: "read", requests: readOne},
		{name: "create", answer: "create", requests: create},
	}
}

// get is a finished request for a path under /api/v1.
func get(tenant *tenant, path string) []byte {
	return fmt.Appendf(nil, "GET /api/v1%s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n", path, tenant.token)
}

func always(request []byte) requests { return func() []byte { return request } }

// among gives one of the requests at a time, at random.
func among(list [][]byte) requests { return func() []byte { return list[rand.IntN(len(list))] } }

func firstPage(dataset *dataset, _ int) requests { return always(get(&dataset.listed, "/customers")) }

// choices is how many different random requests a connection has ready.
const choices = 256

func randomPage(dataset *dataset, _ int) requests {
	list := make([][]byte, choices)
	for i := range list {
		list[i] = get(&dataset.listed, "/customers?page="+strconv.Itoa(1+rand.IntN(dataset.size/pageSize)))
	}
	return among(list)
}

func readOne(dataset *dataset, _ int) requests {
	list := make([][]byte, choices)
	for i := range list {
		list[i] = get(&dataset.listed, "/customers/"+strconv.Itoa(1+rand.IntN(dataset.size)))
	}
	return among(list)
}

// created numbers the customers of all connections and rounds: logins are
// unique in a company.
var created atomic.Int64

const numberDigits = 9

func create(dataset *dataset, conn int) requests {
	person := personOf(conn, dataset.today)
	const number = "000000000"
	body := fmt.Sprintf(`{"name":%q,"whatsapp":"5511987654321","email":"cliente.novo@example.com",`+
		`"usuario":"novo%s","data_de_vencimento":%q,"plan_id":%d}`,
		person.name, number, dataset.today.AddDays(30), dataset.created.plans[0].ID)
	request := fmt.Appendf(nil, "POST /api/v1/customers HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", dataset.created.token, len(body))
	at := len(request) + strings.Index(body, number)
	request = append(request, body...)
	return func() []byte {
		n := created.Add(1)
		for i := numberDigits - 1; i >= 0; i-- {
			request[at+i] = byte('0' + n%10)
			n /= 10
		}
		return request
	}
}
