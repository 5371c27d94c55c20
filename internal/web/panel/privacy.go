package panel

import (
	"fmt"
	"strconv"

	"carteira/internal/web/page"
)

// customerFile is everything that is kept about a customer, to hand to them.
func (s *Server) customerFile(req *request) error {
	content, err := s.Privacy.CustomerFile(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	header := req.w.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="cliente-%d.json"`, req.id))
	header.Set("Content-Length", strconv.Itoa(len(content)))
	header.Set("Cache-Control", "no-store")
	_, _ = req.w.Write(content) // a reader who has gone away is not our failure
	return nil
}

func (s *Server) askEraseCustomer(req *request) error {
	customer, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Erase everything about %s?",
		Args:     []any{customer.Name},
		Danger:   true,
		Button:   "Erase",
		Back:     customerPath(customer.ID),
		Action:   customerPath(customer.ID) + "/erase",
		Effects: []string{
			"The customer, invoices, messages, events and what the audit log says of them are gone for good.",
			"The money that came stays in the books without a name, as the law wants it.",
			"This cannot be undone.",
		},
	})
}

func (s *Server) eraseCustomer(req *request) error {
	if err := s.Privacy.Erase(req.Context(), req.Actor, req.id); err != nil {
		return err
	}
	return req.done("/customers", "Everything about the customer was erased.")
}
