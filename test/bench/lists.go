//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// list is a query of /customers, with what varies in it.
type list struct {
	name   string
	query  func(d *dataset) string
	search bool
}

func fixed(query string) func(*dataset) string { return func(*dataset) string { return query } }

// lists are every filter and order that there is, and searches with and without
// them; mostly a page in the middle, which is the dearest.
var lists = []list{
	{name: "first page", query: fixed("")},
	{name: "last page", query: func(d *dataset) string { return page("", d.size) }},
	{name: "any page", query: func(d *dataset) string { return page("", rand.IntN(d.size)) }},
	{name: "by name, middle", query: func(d *dataset) string { return page("sort=name", d.size/2) }},
	{name: "by due date, middle", query: func(d *dataset) string { return page("sort=due_date", d.size/2) }},
	{name: "active, middle", query: func(d *dataset) string { return page("status=ativo", d.size/3) }},
	{name: "due today", query: fixed("status=vence_hoje")},
	{name: "late by name", query: fixed("status=vencido&sort=name")},
	{name: "a common plan, middle", query: func(d *dataset) string { return page(d.plan(0), d.size/5) }},
	{name: "a rare plan by due date", query: func(d *dataset) string { return d.plan(len(planShare)-1) + "&sort=due_date" }},
	{name: "a plan and late", query: func(d *dataset) string { return d.plan(0) + "&status=vencido" }},
	{name: "a product", query: func(d *dataset) string { return fmt.Sprintf("product_id=%d", d.listed.products[1].ID) }},
	{name: "due in two months", query: func(d *dataset) string {
		return fmt.Sprintf("due_from=%s&due_to=%s", d.today.AddDays(-30), d.today.AddDays(30))
	}},
	{name: "changed since ever", query: fixed("updated_since=2001-01-01")},
	{name: "an external id", query: func(d *dataset) string {
		return "external_id=" + d.someone(func(person person) string { return person.external })
	}},
	{name: "search a rare term", search: true, query: func(d *dataset) string {
		_, code, _ := strings.Cut(d.someone(func(person person) string { return person.usuario }), ".")
		return "search=" + code
	}},
	{name: "search a common name", search: true, query: fixed("search=oliveira")},
	{name: "search a common name, late", search: true, query: fixed("search=oliveira&status=vencido")},
	{name: "search a common name by name, last", search: true, query: fixed("search=oliveira&sort=-name")},
	{name: "search a full name", search: true, query: func(d *dataset) string {
		return "search=" + url.QueryEscape(d.someone(func(person person) string { return person.name }))
	}},
	{name: "search a phone", search: true, query: func(d *dataset) string {
		return "search=" + url.QueryEscape(punctuated(d.someone(func(person person) string { return person.phone })))
	}},
	{name: "search two letters", search: true, query: fixed("search=ar")},
	{name: "search one letter", search: true, query: fixed("search=a")},
	{name: "search what is not there", search: true, query: fixed("search=xyzwq")},
}

// page is the page that a row is on, counted from 0.
func page(query string, row int) string {
	return strings.TrimPrefix(query+"&page="+strconv.Itoa(1+row/(pageSize+1)), "&")
}

func (d *dataset) plan(i int) string { return fmt.Sprintf("plan_id=%d", d.listed.plans[i].ID) }

// someone is what a random customer has, of those who have it.
func (d *dataset) someone(has func(person) string) string {
	for {
		if value := has(personOf(rand.IntN(d.size), d.today)); value != "" {
			return value
		}
	}
}

// punctuated writes a phone as people do: +55 (11) 98765-4321.
func punctuated(phone string) string {
	end := len(phone) - 4
	return fmt.Sprintf("+%s (%s) %s-%s", phone[:2], phone[2:4], phone[4:end], phone[end:])
}

// cost is what a list takes: by the clock, and of processor time with PostgreSQL's.
type cost struct{ took, cpu time.Duration }

// floor is how much CPU a list may take at a size; at the big one it answers within
// a second, whatever it takes.
func (l list) floor(b *bench, size int) time.Duration {
	switch {
	case size == b.big:
		return time.Second
	case !l.search:
		return 40 * time.Millisecond
	case size <= 10_000:
		return 15 * time.Millisecond
	}
	return 120 * time.Millisecond
}

// lists measures every list at every size, one request after the other, and says
// which one comes nearest to its floor.
func (b *bench) lists(ctx context.Context, sets []*dataset) error {
	for _, set := range sets {
		process, err := b.startProduct(ctx, set)
		if err != nil {
			return err
		}
		worst, name, bound := 0.0, "", time.Duration(0)
		for _, list := range lists {
			cost, err := b.cost(ctx, process, list, set)
			if err != nil {
				process.stop()
				return fmt.Errorf("%s at %d customers: %w", list.name, set.size, err)
			}
			measured, floor := cost.cpu, list.floor(b, set.size)
			if set.size == b.big {
				measured = cost.took
			}
			if share := measured.Seconds() / floor.Seconds(); share > worst {
				worst, name, bound = share, fmt.Sprintf("%s of %s", millis(measured), list.name), floor
			}
			fmt.Printf("  %s, %s customers: %s; CPU %s\n", list.name, grouped(set.size), millis(cost.took), millis(cost.cpu))
		}
		process.stop()
		what := fmt.Sprintf("lists at %s, CPU of the one nearest to its floor", grouped(set.size))
		if set.size == b.big {
			what = fmt.Sprintf("lists at %s, time of the slowest", grouped(set.size))
		}
		b.report.add(set.engine, what, name, "≤ "+millis(bound), worst <= 1)
	}
	return nil
}

// cost asks for a fifth of the span, at least three times.
func (b *bench) cost(ctx context.Context, process *process, list list, set *dataset) (cost cost, err error) {
	client, err := dial(ctx, process.addr)
	if err != nil {
		return cost, err
	}
	defer client.close()
	before, err := b.used(ctx, process, set)
	if err != nil {
		return cost, err
	}
	var took []time.Duration
	for until := time.Now().Add(b.span / 5); len(took) < 3 || time.Now().Before(until); {
		request := get(&set.listed, "/customers?"+list.query(set))
		began := time.Now()
		if _, err := client.do(request); err != nil {
			return cost, err
		}
		took = append(took, time.Since(began))
	}
	after, err := b.used(ctx, process, set)
	for pid, used := range after {
		cost.cpu += used - before[pid]
	}
	cost.took, cost.cpu = median(took), cost.cpu/time.Duration(len(took))
	return cost, err
}
