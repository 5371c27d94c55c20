package dashboard

import (
	"fmt"
	"net/url"
	"slices"

	"carteira/internal/figures"
	"carteira/internal/platform/civil"
)

// links are the lists that figures count. What no list can show is not among
// them: money by means of payment, and movements of past months.
func (l look) links() map[string]string {
	month := []string{l.first.String(), l.last.String()}
	links := map[string]string{
		"customers.total":          l.link("customers"),
		"customers.active":         l.link("customers", "status", "Ativo"),
		"customers.due_today":      l.link("customers", "status", "Vence hoje"),
		"customers.expired":        l.link("customers", "status", "Vencido"),
		"customers.cancelled":      l.link("customers", "status", "Cancelado"),
		"customers.new":            l.link("customers", "created_from", month[0], "created_to", month[1]),
		"customers.lost":           l.link("customers", "status", "Vencido", "due_from", month[0], "due_to", month[1]),
		"invoices.open.count":      l.link("invoices", "status", "Em aberto", "overdue", "false", "due_from", month[0], "due_to", month[1]),
		"invoices.overdue.count":   l.link("invoices", "overdue", "true", "due_from", month[0], "due_to", month[1]),
		"invoices.cancelled.count": l.link("invoices", "status", "Cancelado", "due_from", month[0], "due_to", month[1]),
		"invoices.paid.count":      l.link("invoices", "status", "Pago", "paid_from", month[0], "paid_to", month[1]),
		"overdue.invoices":         l.link("invoices", "overdue", "true"),
		"overdue.customers":        l.link("customers", "owes_to", l.today.AddDays(-1).String()),
	}
	if l.question.PlanID == 0 && l.question.ProductID == 0 {
		links["customers.renewed"] = l.link("customers", "renewed_in", monthOf(l.first))
	}
	for n, span := range figures.Spans {
		first, last := span.DueDates(l.today)
		from, to := first.String(), last.String()
		links[fmt.Sprintf("overdue.by_age.%d.customers", n)] = l.link("customers", "owes_from", from, "owes_to", to)
		links[fmt.Sprintf("overdue.by_age.%d.invoices", n)] = l.link(
			"invoices",
			"overdue",
			"true",
			"due_from",
			from,
			"due_to",
			to,
		)
	}
	if l.isPresent() {
		links["recurring.customers"] = l.link("customers", "recurring", "true")
		for _, kind := range []figures.Kind{figures.New, figures.Lost, figures.Up, figures.Down} {
			links["recurring."+string(kind)+".customers"] = l.link("customers", "moved", string(kind))
		}
	}
	return links
}

// isPresent reports whether the month asked for is that of today.
func (l look) isPresent() bool { return l.first == firstOf(l.today) }

// link is a list with filters, of the plan and the product asked for. A filter
// without a value is left out.
func (l look) link(list string, filters ...string) string {
	query := url.Values{}
	for filter := range slices.Chunk(filters, 2) {
		if filter[1] != (civil.Date{}).String() {
			query.Set(filter[0], filter[1])
		}
	}
	for name, id := range map[string]int64{"plan_id": l.question.PlanID, "product_id": l.question.ProductID} {
		if id != 0 {
			query.Set(name, fmt.Sprint(id))
		}
	}
	if len(query) == 0 {
		return "/" + list
	}
	return "/" + list + "?" + query.Encode()
}
