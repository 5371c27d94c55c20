package customer

import (
	"encoding/json"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// The data of the customer events. Field names are the contract's, golden
// files hold them.

// brief identifies a customer in an event.
type brief struct {
	ID       int64   `json:"id"`
	UUID     string  `json:"uuid"`
	Name     string  `json:"name"`
	Whatsapp *string `json:"whatsapp"`
}

// contact is a customer who is no longer there to be read.
type contact struct {
	ID       int64   `json:"id"`
	UUID     string  `json:"uuid"`
	Name     string  `json:"name"`
	Username *string `json:"username"`
	Whatsapp *string `json:"whatsapp"`
	Email    *string `json:"email"`
}

// whole is a customer with all that an event carries.
type whole struct {
	contact
	Status    Status       `json:"status"`
	DueDate   civil.Date   `json:"due_date"`
	CreatedAt string       `json:"created_at"`
	Plan      *planData    `json:"plan"`
	Product   *productData `json:"product"`

	CpfCnpj *string          `json:"cpf_cnpj"`
	Address *address.Address `json:"address"`
	Price   *money.Cents     `json:"price"`
	Custom  json.RawMessage  `json:"custom"`
}

type planData struct {
	Name  string      `json:"name"`
	Value money.Cents `json:"value"`
}

type productData struct {
	Name string `json:"name"`
}

type createdData struct {
	Customer whole `json:"customer"`
}

type updatedData struct {
	Customer brief    `json:"customer"`
	Changed  []string `json:"changed"`
}

type deletedData struct {
	Customer contact `json:"customer"`
}

type renewedData struct {
	Customer        whole      `json:"customer"`
	PreviousDueDate civil.Date `json:"previous_due_date"`
	DueDate         civil.Date `json:"due_date"`
}

type expiredData struct {
	Customer whole      `json:"customer"`
	DueDate  civil.Date `json:"due_date"`
}

func briefOf(customer Customer) brief {
	return brief{customer.ID, customer.UUID, customer.Name, orNull(customer.Whatsapp)}
}

func contactOf(customer Customer) contact {
	return contact{
		customer.ID, customer.UUID, customer.Name, orNull(customer.Usuario), orNull(customer.Whatsapp), orNull(customer.Email),
	}
}

func describe(customer Customer, actor account.Actor, now time.Time) whole {
	w := whole{
		contact:   contactOf(customer),
		Status:    customer.Status(actor.Today(now)),
		DueDate:   customer.DueOn,
		CreatedAt: civil.Timestamp(customer.CreatedAt, customer.CreatedZone()),
		CpfCnpj:   orNull(customer.CpfCnpj),
	}
	if customer.Plan.ID != 0 {
		w.Plan = &planData{customer.Plan.Name, customer.Plan.Value}
	}
	if customer.Product.ID != 0 {
		w.Product = &productData{customer.Product.Name}
	}
	if !customer.Address.IsZero() {
		w.Address = &customer.Address
	}
	if customer.OwnPrice.Own {
		w.Price = &customer.OwnPrice.Amount
	}
	if customer.Custom != "" {
		w.Custom = json.RawMessage(customer.Custom)
	}
	return w
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
