//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// line is a request that must cost at a million customers about what it costs
// at ten thousand.
type line struct {
	name string
	next func(d *dataset) func() string // the queries, one after the other
	path string                         // /customers unless it says otherwise
	page bool                           // a page of the whole list
	desk bool                           // of the panel, which shows it before its total; else of the API
}

type flatKey struct {
	engine sqldb.Engine
	line   string
	size   int
}

func allLines() []line { return slices.Concat(listLines(), searchLines(), besideLines()) }

func listLines() []line {
	return []line{
		{name: "page 1", next: fixed("page=1"), page: true},
		{
			name: "page 5,000 (or the last)", page: true,
			next: func(dataset *dataset) func() string { return same("page=" + strconv.Itoa(min(5000, dataset.pages()))) },
		},
		{name: "last page", page: true, next: func(dataset *dataset) func() string { return same("page=" + strconv.Itoa(dataset.pages())) }},
		{name: "random pages", page: true, next: func(dataset *dataset) func() string {
			return func() string { return "page=" + strconv.Itoa(1+rand.IntN(dataset.pages())) }
		}},
		{name: "status ativo", next: fixed("status=ativo")},
		{name: "status vence hoje", next: fixed("status=vence_hoje")},
		{name: "status vencido", next: fixed("status=vencido")},
		{name: "status ativo, a middle page", next: middle("status=ativo", 70)},
		{name: "status vence hoje, pages 2 to 50", next: early("status=vence_hoje")},
		{name: "status vencido, pages 2 to 50", next: early("status=vencido")},
		{name: "plan_id and status vence hoje", next: func(dataset *dataset) func() string {
			return func() string { return "status=vence_hoje&" + plan(rand.IntN(len(planShare)))(dataset)() }
		}},
		{name: "plan_id, rare, by due date", next: also(plan(len(planShare)-1), "sort=due_date")},
		{name: "plan_id, common", next: plan(0)},
		{name: "plan_id, rare", next: plan(len(planShare) - 1)},
		{name: "plan_id, a middle page", next: func(dataset *dataset) func() string { return middle(plan(0)(dataset)(), 40)(dataset) }},
		{name: "product_id", next: func(dataset *dataset) func() string {
			return same(fmt.Sprintf("product_id=%d", dataset.listed.products[1].ID))
		}},
		{name: "plan_id, common, and status vencido", next: also(plan(0), "status=vencido")},
		{name: "plan_id, rare, and status vencido", next: also(plan(len(planShare)-1), "status=vencido")},
		{name: "due on one day", next: due(20, 20)},
		{name: "due on one day, far", next: due(200, 200)},
		{name: "due in two months", next: due(-30, 30)},
		{name: "external_id", next: func(dataset *dataset) func() string {
			return func() string {
				return "external_id=" + dataset.someone(func(person person) string { return person.external })
			}
		}},
		{name: "customer-plans with their counts", next: fixed(""), path: "/customer-plans"},
	}
}

func searchLines() []line {
	return []line{
		{name: "search a rare term", next: func(dataset *dataset) func() string {
			return func() string {
				_, code, _ := strings.Cut(dataset.someone(func(person person) string { return person.usuario }), ".")
				return "search=" + code
			}
		}},
		{name: "search a common term, first time", next: func(*dataset) func() string {
			return func() string { return "search=" + respelled("oliveira") }
		}},
		{name: "search a common term, again", next: fixed("search=oliveira")},
		{name: "search a common term, a middle page", next: middle("search=oliveira", 4)},
		{name: "search a phone with punctuation", next: func(dataset *dataset) func() string {
			return func() string { return "search=" + url.QueryEscape(punctuated(phoneOf(dataset))) }
		}},
		{name: "search a full name, first time", next: fullName},
		{name: "panel: search a full name, first answer", desk: true, next: fullName},
		{name: "search two letters, first time", next: func(*dataset) func() string {
			return func() string { return "search=" + respelled(string([]byte{consonant(), vowel()})) }
		}},
		{name: "search two letters, again", next: fixed("search=qu")},
		{name: "search two letters, a middle page", next: middle("search=ar", 20)},
		{name: "search one letter", next: func(*dataset) func() string {
			return func() string { return "search=" + respelled(string([]byte{vowel()})) }
		}},
		{name: "search what nobody has", next: func(*dataset) func() string {
			return func() string { return "search=xyzw" + strconv.Itoa(rand.IntN(1_000_000)) }
		}},
		{name: "search and status vencido, first time", next: func(*dataset) func() string {
			return func() string { return "status=vencido&search=" + respelled("oliveira") }
		}},
	}
}

// besideLines are searches beside another filter, of the API with their total and
// of the panel before it.
func besideLines() []line {
	return []line{
		{name: "search and status vence hoje, first time", next: func(*dataset) func() string {
			return func() string { return "status=vence_hoje&search=" + respelled("oliveira") }
		}},
		{name: "search two letters and status vencido, first time", next: func(*dataset) func() string {
			return func() string { return "status=vencido&search=" + respelled(string([]byte{consonant(), vowel()})) }
		}},
		{name: "search and a span of due dates, first time", next: func(dataset *dataset) func() string {
			return func() string {
				from := dataset.today.AddDays(rand.IntN(300) - 200)
				return fmt.Sprintf("due_from=%s&due_to=%s&search=%s", from, from.AddDays(rand.IntN(90)), respelled("oliveira"))
			}
		}},
		{name: "search by name from the end, first time", next: func(*dataset) func() string {
			return func() string { return "sort=-name&search=" + respelled("almeida") }
		}},
		{name: "panel: search and status ativo, first answer", desk: true, next: func(*dataset) func() string {
			return func() string { return "status=ativo&search=" + respelled("oliveira") }
		}},
		{name: "panel: search and status vencido, first answer", desk: true, next: func(*dataset) func() string {
			return func() string { return "status=vencido&search=" + respelled("oliveira") }
		}},
		{name: "panel: search and status vence hoje, first answer", desk: true, next: func(*dataset) func() string {
			return func() string { return "status=vence_hoje&search=" + respelled("oliveira") }
		}},
		{name: "panel: search and a plan by name, first answer", desk: true, next: func(dataset *dataset) func() string {
			return func() string { return plan(0)(dataset)() + "&sort=name&search=" + respelled("oliveira") }
		}},
		{name: "panel: search two letters and a status, first answer", desk: true, next: func(*dataset) func() string {
			return func() string { return "status=vencido&search=" + respelled(string([]byte{consonant(), vowel()})) }
		}},
	}
}

// lines are those that were asked for.
func (b *bench) lines() []line {
	return slices.DeleteFunc(allLines(), func(line line) bool { return !b.only.MatchString(line.name) })
}

func (d *dataset) pages() int { return d.size / pageSize }

func same(query string) func() string { return func() string { return query } }

func fixed(query string) func(*dataset) func() string {
	return func(*dataset) func() string { return same(query) }
}

// middle is the page in the middle of a filter that leaves percent of all.
func middle(query string, percent int) func(*dataset) func() string {
	return func(dataset *dataset) func() string {
		return same(query + "&page=" + strconv.Itoa(max(1, dataset.pages()*percent/200)))
	}
}

// early are pages near the beginning of a filter.
func early(query string) func(*dataset) func() string {
	return func(*dataset) func() string {
		return func() string { return query + "&page=" + strconv.Itoa(2+rand.IntN(49)) }
	}
}

func fullName(dataset *dataset) func() string {
	return func() string {
		return "search=" + url.QueryEscape(respelled(text.Fold(dataset.someone(func(person person) string { return person.name }))))
	}
}

func plan(i int) func(*dataset) func() string {
	return func(dataset *dataset) func() string {
		return same(fmt.Sprintf("plan_id=%d", dataset.listed.plans[i].ID))
	}
}

func also(next func(*dataset) func() string, more string) func(*dataset) func() string {
	return func(dataset *dataset) func() string { return same(next(dataset)() + "&" + more) }
}

func due(from, to int) func(*dataset) func() string {
	return func(dataset *dataset) func() string {
		return same(fmt.Sprintf("due_from=%s&due_to=%s", dataset.today.AddDays(from), dataset.today.AddDays(to)))
	}
}

// someone is what a random customer has, of those who have it.
func (d *dataset) someone(has func(person) string) string {
	for {
		if v := has(personOf(rand.IntN(d.size), d.today)); v != "" {
			return v
		}
	}
}

func phoneOf(dataset *dataset) string {
	return dataset.someone(func(person person) string { return person.phone })
}

// punctuated writes a phone as people do: +55 (11) 98765-4321.
func punctuated(phone string) string {
	end := len(phone) - 4
	return fmt.Sprintf("+%s (%s) %s-%s", phone[:2], phone[2:4], phone[4:end], phone[end:])
}

// respelled changes the case of letters: a search that finds the same, and that
// no cache of counts has seen.
func respelled(term string) string {
	return strings.Map(func(r rune) rune {
		if rand.IntN(2) == 0 {
			return unicode.ToUpper(r)
		}
		return r
	}, term)
}

func consonant() byte { return "bcdfglmnprstvz"[rand.IntN(14)] }
func vowel() byte     { return "aeiou"[rand.IntN(5)] }

// lineSpan bounds one look at one line, of one connection.
func (b *bench) lineSpan() time.Duration { return b.span / 5 }

// flat measures every line at both sizes in turns, one request after the other.
func (b *bench) flat(ctx context.Context, small, big *dataset) error {
	clients := map[*dataset]*client{}
	for _, d := range []*dataset{small, big} {
		if err := b.openDesk(ctx, d); err != nil {
			return fmt.Errorf("sign in: %w", err)
		}
		process, err := b.serve(ctx, carteira, d)
		if err != nil {
			return err
		}
		defer process.stop()
		client, err := dial(ctx, process.addr)
		if err != nil {
			return err
		}
		defer client.close()
		clients[d] = client
	}
	bar := newProgress(fmt.Sprintf("measuring flatness on %s", small.engine))
	lines := b.lines()
	for round := range b.rounds {
		for i, line := range lines {
			for dataset, client := range clients {
				took, err := b.latencies(ctx, client, line, dataset)
				if err != nil {
					return fmt.Errorf("%s at %d customers: %w", line.name, dataset.size, err)
				}
				key := flatKey{dataset.engine, line.name, dataset.size}
				b.flatness[key] = append(b.flatness[key], took...)
			}
			bar.show(round*len(lines)+i+1, b.rounds*len(lines))
		}
	}
	b.printFlat(small, big)
	return nil
}

func (l line) request(dataset *dataset, path string) []byte {
	if l.desk {
		return dataset.desk.get(path, "")
	}
	return get(&dataset.listed, path)
}

// latencies asks at least three times, at most a hundred, and not longer than
// needed.
func (b *bench) latencies(ctx context.Context, client *client, line line, dataset *dataset) ([]time.Duration, error) {
	const least, most = 3, 100
	path := line.path
	if path == "" {
		path = "/customers"
	}
	next := line.next(dataset)
	until := time.Now().Add(b.lineSpan())
	var took []time.Duration
	for n := 0; n < least || n < most && time.Now().Before(until); n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		request := line.request(dataset, path+"?"+next())
		began := time.Now()
		if _, err := client.do(request); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}
