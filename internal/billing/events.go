package billing

import (
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// The data of the invoice events. Field names are the contract's; golden files
// pin them.

type brief struct {
	ID          int64       `json:"id"`
	TotalAmount money.Cents `json:"total_amount"`
	Status      Status      `json:"status"`
}

type invoiceWithDue struct {
	brief
	DueDate civil.Date `json:"due_date"`
}

type owner struct {
	ID   int64  `json:"id"`
	UUID string `json:"uuid"`
	Name string `json:"name"`
}

type createdData struct {
	Invoice  invoiceWithDue `json:"invoice"`
	Customer owner          `json:"customer"`
}

type paidData struct {
	Invoice  brief `json:"invoice"`
	Customer owner `json:"customer"`
}

func briefOf(invoice Invoice) brief {
	return brief{invoice.ID, invoice.Amount, invoice.Status}
}

func customerOf(invoice Invoice) owner { return owner(invoice.Customer) }

// SubjectID is the invoice that was paid.
func (d paidData) SubjectID() int64 { return d.Invoice.ID }
