package asaas

import (
	"context"
	"encoding/json"
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
	found, err := wire.Make(func() (authorisation, error) { return d.byContract(ctx, customer, mandate.Reference) },
		func() (authorisation, error) { return d.makeAuthorisation(ctx, mandate, customer) })
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
	err := d.api.Send(ctx, http.MethodPost, authorisationsPath, body, &made)
	whole := made.ID != "" && made.ContractID == mandate.Reference && made.Payload != "" && made.QR.ConciliationID != ""
	return made, wire.Expect(err, whole, "POST %s: the answer lacks id, contract or code", authorisationsPath)
}

// byContract finds the authorisation with our reference; of all customers when none is given.
func (d *debitor) byContract(ctx context.Context, customer, reference string) (authorisation, error) {
	return d.searchAuthorisation(ctx, customer, func(a *authorisation) bool { return a.ContractID == reference })
}

// searchAuthorisation finds one; of several the one that is active counts, and then
// the one that can be.
func (d *debitor) searchAuthorisation(
	ctx context.Context, customer string, wanted func(*authorisation) bool,
) (authorisation, error) {
	return wire.Search(func(page int) ([]authorisation, bool, error) {
		query := url.Values{"limit": {strconv.Itoa(wire.PerPage)}, "offset": {strconv.Itoa(page * wire.PerPage)}}
		if customer != "" {
			query.Set("customerId", customer)
		}
		var list struct {
			Data    []authorisation
			HasMore bool
		}
		err := d.api.Get(ctx, authorisationsPath, query, &list)
		return list.Data, list.HasMore, wire.Expect(err, list.Data != nil, "GET %s: answered without data", authorisationsPath)
	}, func(a *authorisation) int {
		switch {
		case !wanted(a):
			return 0
		case a.Status == "ACTIVE":
			return 3
		case a.Status == "CREATED":
			return 2
		}
		return 1
	})
}

// findAuthorisation reads one by its id, or else by our reference.
func (d *debitor) findAuthorisation(ctx context.Context, ref payment.Ref) (found authorisation, err error) {
	if ref.ID == "" {
		found, err = d.byContract(ctx, "", ref.Reference)
	} else {
		err = d.readByID(ctx, authorisationsPath, ref.ID, &found)
		err = wire.Expect(err, found.ID == ref.ID, "asked for authorisation %s, got %.40q", ref.ID, found.ID)
	}
	known := authorisationStates[found.Status] != ""
	return found, wire.Expect(err, known, "an authorisation of Asaas has the unknown status %.40q", found.Status)
}

// FetchAuthorisation reads it back.
func (d *debitor) FetchAuthorisation(ctx context.Context, ref payment.Ref) (payment.Authorisation, error) {
	return wire.Look(ctx, ref, d.findAuthorisation, func(found authorisation) (payment.Authorisation, error) {
		return found.public(), nil
	})
}

// EndAuthorisation cancels it.
func (d *debitor) EndAuthorisation(ctx context.Context, ref payment.Ref) error {
	return wire.End(ctx, ref, d.findAuthorisation, authorisation.live, d.end)
}

func (a authorisation) live() bool { return a.Status == "CREATED" || a.Status == "ACTIVE" }

func (d *debitor) end(ctx context.Context, live authorisation) error {
	var after authorisation
	err := d.api.Send(ctx, http.MethodDelete, authorisationsPath+"/"+url.PathEscape(live.ID), nil, &after)
	return wire.Expect(err, after.Status == "CANCELLED", "authorisation %s was to be cancelled and is %.40q", live.ID, after.Status)
}
