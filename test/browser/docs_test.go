package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The viewer of the API's document is a program of others: what it makes of ours is seen in a browser only.
func TestDocumentOfTheAPIIsShown(t *testing.T) {
	p := startDemo(t)
	b := p.open(t)
	// The page unfolds the part of the document that the address names.
	b.do(chromedp.Navigate(b.url + "/docs?lang=en#tag/customers/POST/customers/{id}/renew-due-date"))
	b.see("Carteira API", "List customers", "Renew the due date", "previous_due_date", "customer.renewed")
}
