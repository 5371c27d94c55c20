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

// whole is a customer with all that an event tells.
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

func briefOf(c Customer) brief { return brief{c.ID, c.UUID, c.Name, orNull(c.Whatsapp)} }

func contactOf(c Customer) contact {
	return contact{c.ID, c.UUID, c.Name, orNull(c.Usuario), orNull(c.Whatsapp), orNull(c.Email)}
}

func describe(c Customer, a account.Actor, now time.Time) whole {
	w := whole{
		contact: contactOf(c), Status: c.Status(a.Today(now)), DueDate: c.DueOn,
		CreatedAt: civil.Timestamp(c.CreatedAt, c.CreatedZone()), CpfCnpj: orNull(c.CpfCnpj),
	}
	if c.Plan.ID != 0 {
		w.Plan = &planData{c.Plan.Name, c.Plan.Value}
	}
	if c.Product.ID != 0 {
		w.Product = &productData{c.Product.Name}
	}
	if !c.Address.IsZero() {
		w.Address = &c.Address
	}
	if c.OwnPrice.Own {
		w.Price = &c.OwnPrice.Amount
	}
	if c.Custom != "" {
		w.Custom = json.RawMessage(c.Custom)
	}
	return w
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
