package checkout

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// noticed is when a payer last said that an open invoice was paid; zero: never.
func (e *edge) noticed(ctx context.Context, shown payment.Page) (time.Time, error) {
	if shown.Invoice.Status != billing.Open {
		return time.Time{}, nil
	}
	list, err := e.payments.Notices(ctx, account.System(shown.Company, "checkout"), shown.Invoice.ID)
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	return list[0].CreatedAt, nil
}

// paidData is the form of a payer who has paid already.
type paidData struct {
	content
	Form *page.Form
}

func (e *edge) askPaid(w http.ResponseWriter, r *http.Request) {
	e.paidPage(w, r, nil)
}

// paidPage is the form, which does not turn into another page while a file is being
// chosen. An invoice that is not open has nothing to ask.
func (e *edge) paidPage(w http.ResponseWriter, r *http.Request, refusal error) {
	code := r.PathValue("code")
	shown, err := e.payments.Page(r.Context(), code)
	if err != nil {
		e.pages.FailGuest(w, r, err)
		return
	}
	if shown.Invoice.Status != billing.Open {
		page.Go(w, r, "/pay/"+code)
		return
	}
	data, status := paidData{content{Page: shown, Code: code, State: stateOf(shown)}, page.NewForm()}, http.StatusOK
	if refusal != nil {
		data.Form.Fail(refusal)
		status = web.Status(refusal)
	}
	e.pages.Render(w, r, page.View{Name: "paid", Title: "I have paid already", Data: &data, Zone: shown.Company.Zone, Status: status})
}

// sayPaid takes the proof of who has paid. The body is bounded before it is read,
// and read once the invoice is known to be open and asked about seldom enough.
func (e *edge) sayPaid(w http.ResponseWriter, r *http.Request) {
	const rest = 4 << 10 // of the form around the file
	r.Body = http.MaxBytesReader(w, r.Body, payment.MaxNoticeFile+rest)
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute))
	err := e.payments.SayPaid(r.Context(), r.PathValue("code"), func() ([]byte, error) { return proofOf(r) })
	if slices.Contains([]fault.Kind{fault.KindInvalid, fault.KindRateLimited, fault.KindConflict}, fault.KindOf(err)) {
		e.paidPage(w, r, err)
		return
	}
	if err != nil {
		e.pages.FailGuest(w, r, err)
		return
	}
	page.Go(w, r, "/pay/"+r.PathValue("code"))
}

// proofOf reads the file of a form.
func proofOf(r *http.Request) ([]byte, error) {
	file, _, err := r.FormFile("file")
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, fault.Field("file", "must not be larger than 2 MiB")
	}
	if err != nil {
		return nil, fault.Field("file", "choose a file")
	}
	defer func() {
		_ = file.Close() // it was only read
		_ = r.MultipartForm.RemoveAll()
	}()
	return io.ReadAll(file)
}
