package panel

import (
	"strconv"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

// maxPicked is how many customers one form can act on.
const maxPicked = 200

// bulk does one thing with all customers that were picked. Each is a use case
// of its own: one that is refused does not keep the others from it.
func (s *Server) bulk(req *request) error {
	ids, err := picked(req)
	if err != nil {
		return req.complain(req.back("/customers"), err)
	}
	act, said, err := s.bulkAction(req, req.PostFormValue("action"))
	if err != nil {
		return err
	}
	if req.PostFormValue("action") == "delete" && req.PostFormValue("sure") == "" {
		return s.askBulkDelete(req, ids)
	}
	done, reason := 0, ""
	for _, id := range ids {
		err := act(id)
		if err != nil && !refused(err) && fault.KindOf(err) != fault.KindNotFound {
			return err
		}
		if err == nil {
			done++
			continue
		}
		if reason = fault.Public(err); !fault.FieldsOf(err).Empty() {
			_, reason = fault.FieldsOf(err).First()
		}
	}
	if done == len(ids) {
		return req.done(req.back("/customers"), said, done)
	}
	page.Complain(
		req.w,
		req.Request,
		"%d of %d: done. The others were refused: %s",
		done,
		len(ids),
		req.lang.Reason(reason),
	)
	page.Go(req.w, req.Request, req.back("/customers"))
	return nil
}

func picked(req *request) ([]int64, error) {
	var ids []int64
	for _, text := range req.PostForm["id"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return nil, fault.NotFound("customer")
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil, fault.New(fault.KindInvalid, "pick at least one customer")
	}
	if len(ids) > maxPicked {
		return nil, fault.New(fault.KindInvalid, "pick fewer customers at once")
	}
	return ids, nil
}

func (s *Server) bulkAction(
	req *request,
	name string,
) (act func(id int64) error, said string, err error) {
	switch name {
	case "renew":
		return func(id int64) error {
			_, err := s.Billing.Renew(
				req.Context(),
				req.Actor,
				id,
				billing.RenewalByHand{Periods: 1},
			)
			return err
		}, "Customers renewed: %d.", nil
	case "delete":
		return func(id int64) error {
			return s.Customers.Delete(req.Context(), req.Actor, id)
		}, "Customers deleted: %d.", nil
	case "plan":
		form := input.FromStrings(map[string]string{"plan_id": req.PostFormValue("bulk_plan_id")})
		draft := customer.ReadChanges(form)
		return func(id int64) error {
			_, err := s.Customers.Update(req.Context(), req.Actor, id, draft)
			return err
		}, "Customers moved to the plan: %d.", nil
	}
	return nil, "", fault.NotFound("page")
}

func (s *Server) askBulkDelete(req *request, ids []int64) error {
	return s.show(req, page.View{
		Name: "ask_bulk", Title: "Are you sure?",
		Data: map[string]any{"IDs": ids, "N": len(ids), "Back": req.back("/customers")},
	})
}
