package panel

import (
	"strconv"

	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

// maxPicked is how many customers one form can act on.
const maxPicked = 200

// bulk does one thing with all customers that were picked. Each is a use case
// of its own: one that is refused does not keep the others from it.
func (s *Server) bulk(q *request) error {
	ids, err := picked(q)
	if err != nil {
		return q.complain(q.back("/customers"), err)
	}
	act, said, err := s.bulkAction(q, q.PostFormValue("action"))
	if err != nil {
		return err
	}
	if q.PostFormValue("action") == "delete" && q.PostFormValue("sure") == "" {
		return s.askBulkDelete(q, ids)
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
		return q.done(q.back("/customers"), said, done)
	}
	page.Complain(q.w, q.Request, "%d of %d: done. The others were refused: %s", done, len(ids), q.lang.Reason(reason))
	page.Go(q.w, q.Request, q.back("/customers"))
	return nil
}

func picked(q *request) ([]int64, error) {
	var ids []int64
	for _, text := range q.PostForm["id"] {
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

func (s *Server) bulkAction(q *request, name string) (act func(id int64) error, said string, err error) {
	switch name {
	case "renew":
		return func(id int64) error {
			_, err := s.Customers.Renew(q.Context(), q.Actor, id)
			return err
		}, "Customers renewed: %d.", nil
	case "delete":
		return func(id int64) error { return s.Customers.Delete(q.Context(), q.Actor, id) }, "Customers deleted: %d.", nil
	case "plan":
		form := input.FromStrings(map[string]string{"plan_id": q.PostFormValue("bulk_plan_id")})
		draft := customer.ReadChanges(form)
		return func(id int64) error {
			_, err := s.Customers.Update(q.Context(), q.Actor, id, draft)
			return err
		}, "Customers moved to the plan: %d.", nil
	}
	return nil, "", fault.NotFound("page")
}

func (s *Server) askBulkDelete(q *request, ids []int64) error {
	return s.show(q, page.View{Name: "ask_bulk", Title: "Are you sure?", Data: map[string]any{"IDs": ids, "N": len(ids), "Back": q.back("/customers")}})
}
