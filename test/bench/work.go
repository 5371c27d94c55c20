//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
)

// figure is a multiple by requests per second and by processor time.
type figure struct{ rate, cpu float64 }

// work is something that clients ask for, measured against a rival.
type work struct {
	name     string
	search   bool
	requests func(d *dataset, conn int) requests // for one connection
	pocket   func(d *dataset, conn int) requests // the same of PocketBase
	floor    func(size int) figure               // × PocketBase
}

// asking makes the requests of each connection.
type asking func(conn int) requests

// asked are the requests for a kind of server.
func (w work) asked(kind string, dataset *dataset) asking {
	make := w.requests
	if kind == pocketBase {
		make = w.pocket
	}
	return func(conn int) requests { return make(dataset, conn) }
}

func works() []work {
	atLeast := func(floor figure) func(int) figure { return func(int) figure { return floor } }
	return []work{
		{name: "list 50", requests: firstPage, pocket: pocketFirstPage, floor: func(size int) figure {
			if size >= 100_000 {
				return figure{30, 30}
			}
			return figure{12, 12}
		}},
		{name: "random page", requests: randomPage, pocket: pocketRandomPage, floor: atLeast(figure{12, 12})},
		{name: "read one", requests: readOne, pocket: pocketReadOne, floor: atLeast(figure{8, 8})},
		{name: "create", requests: create, pocket: pocketCreate, floor: atLeast(figure{2, 2.5})},
		searching("a name", "oliveira"), searching("one letter", "a"), searching("nothing", "xyzwq"),
	}
}

// searching looks for a term in the same columns on both, on PocketBase by its own
// filter.
func searching(name, term string) work {
	return work{
		name: "search " + name, search: true, floor: func(int) figure { return figure{3, 3} },
		requests: func(d *dataset, _ int) requests { return always(get(&d.listed, "/customers?search="+term)) },
		pocket: func(d *dataset, _ int) requests {
			var parts []string
			for _, column := range []string{"name", "whatsapp", "email", "usuario", "external_id"} {
				parts = append(parts, column+"~'"+term+"'")
			}
			return always(pocketGet(d.pocket.token, pocketRecords+"&filter="+url.QueryEscape(strings.Join(parts, "||"))))
		},
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
	return counting(func(number string) (head, body string) {
		body = fmt.Sprintf(`{"name":%q,"whatsapp":"5511987654321","email":"cliente.novo@example.com",`+
			`"usuario":"novo%s","data_de_vencimento":%q,"plan_id":%d}`,
			person.name, number, dataset.today.AddDays(30), dataset.created.plans[0].ID)
		return "POST /api/v1/customers HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + dataset.created.token, body
	})
}

// counting makes requests that differ in one number, which is written into the
// finished bytes.
func counting(make func(number string) (head, body string)) requests {
	const number = "#########" // as many as numberDigits
	head, body := make(number)
	request := fmt.Appendf(nil, "%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", head, len(body))
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
