//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// payment is an invoice that was paid at the bank.
type payment struct {
	name    string // of the customer
	invoice int64
	due     string    // when it began
	paid    time.Time // at the bank
	settled time.Time // the invoice was seen to be paid; zero: never
}

// dueIn is a day after today, such as the one on which those who pay are due.
func dueIn(days int) string { return time.Now().AddDate(0, 0, days).Format(time.DateOnly) }

// payer is a customer who has an invoice, asks for its code and pays it at the
// bank, which calls back until it is answered. What is paid goes on under after.
func (w *load) payer(ctx, after context.Context, payer, n int) {
	name, due := fmt.Sprintf("chaos-p%d-%d", payer, n), dueIn(3)
	w.mu.Lock()
	w.begun++
	w.mu.Unlock()
	var customer struct{ Data struct{ ID int64 } }
	text := w.create(ctx, payer, map[string]any{"name": name, "email": "ana@example.com", "plan_id": w.lab.plan, "data_de_vencimento": due})
	if json.Unmarshal([]byte(text), &customer) != nil || customer.Data.ID == 0 {
		return
	}
	var invoices struct{ Data []struct{ ID int64 } }
	text, _ = w.repeat(ctx, payer, call{http.MethodGet, fmt.Sprintf("/customers/%d/invoices", customer.Data.ID), "", nil})
	if json.Unmarshal([]byte(text), &invoices) != nil || len(invoices.Data) != 1 {
		w.refuse(name, "invoices: "+text)
		return
	}
	p := &payment{name: name, invoice: invoices.Data[0].ID, due: due}
	var pix struct {
		Data struct {
			Payment struct {
				Code string `json:"pix_copy_paste"`
			}
		}
	}
	text, refused := w.repeat(ctx, payer, call{http.MethodPost, fmt.Sprintf("/invoices/%d/pix", p.invoice), name + "-pix", struct{}{}})
	if json.Unmarshal([]byte(text), &pix) != nil {
		w.refuse(name, refused)
		return
	}
	id := w.lab.bank.pay(pix.Data.Payment.Code)
	if id == "" {
		w.refuse(name, "a code that the bank does not know: "+text)
		return
	}
	w.mu.Lock()
	p.paid = time.Now()
	w.payments = append(w.payments, p)
	w.mu.Unlock()
	settled := make(chan struct{})
	w.paying.Go(func() {
		defer close(settled)
		w.settle(after, payer, p, id)
	})
	select {
	case <-ctx.Done():
	case <-settled:
	}
}

// refuse notes what a customer who pays was refused, unless the trial ended.
func (w *load) refuse(name, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, write := range w.writes {
		if write.name == name && why != "" && why != "invoices: " {
			write.refused = why
		}
	}
}

// settle calls back until the program has taken it, and then looks until the
// invoice is paid.
func (w *load) settle(ctx context.Context, try int, p *payment, id string) {
	for taken := false; !taken && ctx.Err() == nil; try++ {
		request, err := callback(ctx, "http://"+w.lab.address(try)+w.lab.callback, id)
		if err != nil {
			return
		}
		status, _, err := w.do(request)
		if taken = err == nil && status == http.StatusOK; !taken {
			pause(ctx, 200*time.Millisecond)
		}
	}
	for ; ctx.Err() == nil; try++ {
		text, _ := w.repeat(ctx, try, call{http.MethodGet, fmt.Sprintf("/invoices/%d", p.invoice), "", nil})
		if strings.Contains(text, `"status":"Pago"`) {
			w.mu.Lock()
			p.settled = time.Now()
			w.mu.Unlock()
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// slowestSettlement is the longest time, after from, until what was paid at the
// bank was settled. What is not yet counts until now.
func slowestSettlement(from time.Time, payments []payment) (longest time.Duration) {
	for _, p := range payments {
		end := p.settled
		if end.IsZero() {
			end = time.Now()
		}
		begin := p.paid
		if begin.Before(from) {
			begin = from
		}
		longest = max(longest, end.Sub(begin))
	}
	return longest
}
