package asaas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// debitor is the gateway of a company that Asaas has let into PIX Automático.
type debitor struct{ *gateway }

var _ payment.Debitor = (*debitor)(nil)

// autopayOption turns PIX Automático on. Asaas opens it to an account on request.
var autopayOption = wire.Autopay(
	"yes when Asaas has opened it to this account; the API key then needs the permission PIX_AUTOMATIC",
)

// authorisation is what Asaas calls an authorization.
type authorisation struct {
	ID         string
	Status     string
	CustomerID string
	ContractID string
	Payload    string // the code
	QR         struct {
		// ConciliationID is the pixQrCodeId of the payment of the code.
		ConciliationID string `json:"conciliationIdentifier"`
		ExpirationDate string
	} `json:"immediateQrCode"`
	CancellationReason string
}

// authorisationStates are by what Asaas calls them. It refuses what was not
// paid in time, and lets expire what had an end.
var authorisationStates = map[string]payment.AuthorisationState{
	"CREATED":   payment.AuthorisationAsked,
	"ACTIVE":    payment.AuthorisationActive,
	"REFUSED":   payment.AuthorisationRefused,
	"CANCELLED": payment.AuthorisationEnded,
	"EXPIRED":   payment.AuthorisationEnded,
}

// qrCharge begins the id of a charge that an authorisation's code pays. Asaas makes
// a payment of it only when it is paid, and knows it by the code until then.
const qrCharge = "qrcode:"

func (a *authorisation) public() payment.Authorisation {
	public := payment.Authorisation{
		Ref:    payment.Ref{ID: a.ID, Reference: a.ContractID},
		State:  authorisationStates[a.Status],
		Reason: wire.Cut(a.CancellationReason, 300),
	}
	switch a.Status {
	case "CREATED":
		public.PixCode = a.Payload
		public.Charge = &payment.Charge{
			ID: qrCharge + a.QR.ConciliationID, PixCode: a.Payload, ExpiresAt: timeOf(a.QR.ExpirationDate),
		}
	case "REFUSED", "EXPIRED":
		public.EndedBy = payment.ByExpiry
	}
	return public
}

// timeOf reads an instant in either of the forms that Asaas writes.
func timeOf(text string) time.Time {
	if at, err := time.ParseInLocation("02/01/2006 15:04:05", text, wire.Brasilia); err == nil {
		return at.UTC()
	}
	return wire.Time(text)
}

const authorisationsPath = "/v3/pix/automatic/authorizations"

type authorisationRequest struct {
	CustomerID string `json:"customerId"`
	Frequency  string `json:"frequency"`
	ContractID string `json:"contractId"`
	StartDate  string `json:"startDate"`
	// Value is what every debit is of; without it it varies, from MinLimit on.
	Value        json.Number `json:"value,omitempty"`
	MinLimit     json.Number `json:"minLimitValue,omitempty"`
	Description  string      `json:"description"`
	CreationMode string      `json:"paymentCreationMode"`
	RetryPolicy  string      `json:"retryPolicy,omitempty"`
	QR           struct {
		Value       json.Number `json:"originalValue"`
		Seconds     int64       `json:"expirationSeconds"`
		Description string      `json:"description"`
	} `json:"immediateQrCode"`
}

// Journeys are those that the provider's API has, or that we can follow.
func (d *debitor) Journeys() []payment.Journey { return []payment.Journey{payment.JourneyPayCode} }

// Authorise asks by a code that pays, which is the only journey that the API of
// Asaas has. It knows no key for repeated calls, so one with our contract's number
// is searched for before it is made.
func (d *debitor) Authorise(ctx context.Context, mandate payment.Mandate) (payment.Authorisation, error) {
	switch {
	case mandate.Journey != payment.JourneyPayCode || mandate.Charge == nil:
		return payment.Authorisation{}, &payment.Refusal{Reason: "Asaas asks for an authorisation only with a code that pays an invoice"}
	case wire.Frequencies[mandate.Every] == "":
		return payment.Authorisation{}, &payment.Refusal{Reason: "PIX Automático has no such period"}
	}
	customer, err := d.customer(ctx, mandate.Payer)
	if err != nil {
		return payment.Authorisation{}, wire.Outcome(err)
	}
	found, err := d.searchAuthorisation(ctx, customer, func(a *authorisation) bool { return a.ContractID == mandate.Reference })
	if errors.Is(err, payment.ErrNoCharge) {
		found, err = d.makeAuthorisation(ctx, mandate, customer)
	}
	if err != nil {
		return payment.Authorisation{}, wire.Outcome(err)
	}
	asked := found.public()
	if asked.Charge != nil && asked.Charge.ExpiresAt.IsZero() {
		asked.Charge.ExpiresAt = codeEnd(*mandate.Charge)
	}
	return asked, nil
}

// codeEnd is when a code that authorises ends. Asaas computes nothing for it: it asks for
// what is to pay until the due date, and ends with that.
func codeEnd(order payment.Order) time.Time {
	if order.Due == nil {
		return order.ExpiresAt
	}
	return order.Due.On.AddDays(1).Start(wire.Brasilia)
}

func (d *debitor) makeAuthorisation(ctx context.Context, mandate payment.Mandate, customer string) (authorisation, error) {
	body := authorisationRequest{
		CustomerID:   customer,
		Frequency:    wire.Frequencies[mandate.Every],
		ContractID:   mandate.Reference,
		StartDate:    mandate.From.String(),
		Description:  wire.Cut(mandate.Description, 35),
		CreationMode: "MANUAL",
	}
	if mandate.Amount > 0 {
		body.Value = wire.Number(mandate.Amount)
	} else if mandate.Minimum > 0 {
		body.MinLimit = wire.Number(mandate.Minimum)
	}
	if mandate.Retries {
		body.RetryPolicy = "ALLOW_THREE_IN_SEVEN_DAYS"
	}
	body.QR.Value = wire.Number(mandate.Charge.Amount)
	body.QR.Seconds = int64(max(codeEnd(*mandate.Charge).Sub(d.env.Now()), time.Minute) / time.Second)
	body.QR.Description = wire.Cut(mandate.Charge.Description, 35)
	var made authorisation
	err := d.api.Do(ctx, wire.Request{Method: http.MethodPost, Path: authorisationsPath, Body: body}, &made)
	if err == nil && (made.ID == "" || made.ContractID != mandate.Reference || made.Payload == "" || made.QR.ConciliationID == "") {
		err = errors.New("POST " + authorisationsPath + ": the answer lacks id, contract or code")
	}
	return made, err
}

// maxPages bounds a search: with more pages the search fails, instead of taking
// what was not seen for something that is not there.
const (
	maxPages = 50
	perPage  = 100
)

// searchAuthorisation finds one; of several the one that is active counts, and then
// the one that can be.
func (d *debitor) searchAuthorisation(
	ctx context.Context, customer string, wanted func(*authorisation) bool,
) (authorisation, error) {
	matches := map[string]authorisation{}
	for page := range maxPages {
		query := url.Values{"limit": {strconv.Itoa(perPage)}, "offset": {strconv.Itoa(page * perPage)}}
		if customer != "" {
			query.Set("customerId", customer)
		}
		var list struct {
			Data    []authorisation
			HasMore bool
		}
		err := d.api.Do(ctx, wire.Request{Method: http.MethodGet, Path: authorisationsPath, Query: query}, &list)
		if err == nil && list.Data == nil {
			err = errors.New("GET " + authorisationsPath + ": answered without data")
		}
		if err != nil {
			return authorisation{}, err
		}
		for i := range list.Data {
			if wanted(&list.Data[i]) {
				matches[list.Data[i].Status] = list.Data[i]
			}
		}
		if !list.HasMore {
			return best(matches)
		}
	}
	return authorisation{}, errors.New("GET " + authorisationsPath + ": there are too many authorisations to search")
}

func best(matches map[string]authorisation) (authorisation, error) {
	for _, status := range []string{"ACTIVE", "CREATED"} {
		if found, ok := matches[status]; ok {
			return found, nil
		}
	}
	for _, found := range matches {
		return found, nil
	}
	return authorisation{}, payment.ErrNoCharge
}

// findAuthorisation reads one by its id, or else by our reference.
func (d *debitor) findAuthorisation(ctx context.Context, ref payment.Ref) (authorisation, error) {
	found, err := d.readAuthorisation(ctx, ref)
	if err == nil && authorisationStates[found.Status] == "" {
		err = fmt.Errorf("an authorisation of Asaas has the unknown status %.40q", found.Status)
	}
	return found, err
}

func (d *debitor) readAuthorisation(ctx context.Context, ref payment.Ref) (authorisation, error) {
	if ref.ID == "" {
		return d.searchAuthorisation(ctx, "", func(a *authorisation) bool { return a.ContractID == ref.Reference })
	}
	var found authorisation
	err := d.readByID(ctx, authorisationsPath, ref.ID, &found)
	if err == nil && found.ID != ref.ID {
		err = fmt.Errorf("asked for authorisation %s, got %.40q", ref.ID, found.ID)
	}
	return found, err
}

// FetchAuthorisation reads it back.
func (d *debitor) FetchAuthorisation(ctx context.Context, ref payment.Ref) (payment.Authorisation, error) {
	found, err := d.findAuthorisation(ctx, ref)
	if err != nil {
		return payment.Authorisation{}, wire.Outcome(err)
	}
	return found.public(), nil
}

// EndAuthorisation cancels it.
func (d *debitor) EndAuthorisation(ctx context.Context, ref payment.Ref) error {
	return wire.Twice(func() error { return d.endAuthorisation(ctx, ref) })
}

func (d *debitor) endAuthorisation(ctx context.Context, ref payment.Ref) error {
	found, err := d.findAuthorisation(ctx, ref)
	if errors.Is(err, payment.ErrNoCharge) {
		return nil
	}
	if err != nil || found.Status != "CREATED" && found.Status != "ACTIVE" {
		return err
	}
	var after authorisation
	path := authorisationsPath + "/" + url.PathEscape(found.ID)
	err = d.api.Do(ctx, wire.Request{Method: http.MethodDelete, Path: path}, &after)
	if err == nil && after.Status != "CANCELLED" {
		err = fmt.Errorf("DELETE %s: the authorisation is %.40q", path, after.Status)
	}
	return err
}
