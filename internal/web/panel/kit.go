package panel

// The kit of all pages: what they read from a request, what they offer in
// selects and how they answer.

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"carteira/internal/catalog"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// form is what was sent, for a use case. Amounts may be written as in Brazil.
func (req *request) form(amounts ...string) *input.Form {
	return req.formWith(nil, amounts...)
}

func (req *request) formWith(lists []string, amounts ...string) *input.Form {
	values := maps.Clone(req.PostForm)
	for _, name := range amounts {
		if cents, err := money.ParseBR(req.PostFormValue(name)); err == nil {
			values[name] = []string{cents.String()}
		}
	}
	return input.FromForm(values, lists...)
}

// rowsOfAPage is how many rows a list shows unless the address asks for another
// number: as many as a page of 40 KB has room for.
const rowsOfAPage = 36

// query is what the address asks for.
func (req *request) query() *input.Form { return req.queryWith(rowsOfAPage) }

// queryWith is query for a list with longer or shorter rows than usual.
func (req *request) queryWith(rows int) *input.Form {
	values := req.URL.Query()
	if !values.Has("per_page") {
		values.Set("per_page", strconv.Itoa(rows))
	}
	return input.FromQuery(values)
}

// show shows a page in the frame of the panel.
func (s *Server) show(req *request, view page.View) error {
	frame, err := s.frame(req)
	if err != nil {
		return err
	}
	view.Frame, view.Zone = frame, req.Actor.Company.Zone
	s.pages.Render(req.w, req.Request, view)
	return nil
}

// done says what was done and goes on.
func (req *request) done(to, text string, args ...any) error {
	page.Say(req.w, req.Request, text, args...)
	page.Go(req.w, req.Request, to)
	return nil
}

// refused reports whether a form is to be shown again; other errors are for
// the page of errors.
func refused(err error) bool {
	kind := fault.KindOf(err)
	return err != nil &&
		(kind == fault.KindInvalid || kind == fault.KindConflict || kind == fault.KindRateLimited)
}

// complain says why something was refused and goes on; other errors are
// returned.
func (req *request) complain(to string, err error) error {
	if !refused(err) && fault.KindOf(err) != fault.KindUpstream {
		return err
	}
	text := fault.Public(err)
	if fields := fault.FieldsOf(err); !fields.Empty() {
		_, text = fields.First()
	}
	page.Complain(req.w, req.Request, text)
	page.Go(req.w, req.Request, to)
	return nil
}

// statusOf is the status of a page with a refused form.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return web.Status(err)
}

func urlQuery(s string) string { return url.QueryEscape(s) }

var catalogAll catalog.Filter

// maxChoices is how many plans or products a select offers.
const maxChoices = 200

// queryForm shows what the address asks for.
func queryForm(req *request) *page.Form {
	var pairs []string
	for name, values := range req.URL.Query() {
		pairs = append(pairs, name, values[0])
	}
	return page.NewForm(pairs...)
}

// choices are the plans and products that a select offers. Filters offer those
// that are no longer sold too.
func (s *Server) choices(req *request, inactive bool) (plans, products []page.Option, err error) {
	all := input.Page{Number: 1, Size: maxChoices}
	planList, _, err := s.Catalog.Plans(req.Context(), req.Actor, catalogAll, all)
	if err != nil {
		return nil, nil, err
	}
	productList, _, err := s.Catalog.Products(req.Context(), req.Actor, catalogAll, all)
	if err != nil {
		return nil, nil, err
	}
	none := "None"
	if inactive {
		none = "All"
	}
	plans, products = []page.Option{{Value: "", Label: req.lang.T(none)}}, []page.Option{{Value: "", Label: req.lang.T(none)}}
	for _, plan := range planList {
		if plan.Active || inactive {
			plans = append(plans, page.Option{Value: idText(plan.ID), Label: plan.Name + " · " + plan.Value.BR()})
		}
	}
	for _, product := range productList {
		if product.Active || inactive {
			products = append(products, page.Option{Value: idText(product.ID), Label: product.Name})
		}
	}
	return plans, products, nil
}

func idText(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// ask shows a question in the panel's frame.
func (s *Server) ask(req *request, confirm page.Confirm) error {
	return s.show(req, page.View{Name: "ask", Title: "Are you sure?", Data: confirm})
}

// back is where a form leads to that is on several pages.
func (req *request) back(otherwise string) string {
	if b := req.PostFormValue("back"); b != "" {
		return page.LocalPath(b)
	}
	return otherwise
}
