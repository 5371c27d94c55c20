package panel

import "carteira/internal/customer"

// alike are the customers who may be the one that a form would make, unless the
// form says that it is another.
func (s *Server) alike(req *request, draft customer.Draft) ([]customer.Alike, error) {
	if req.PostFormValue("another") != "" {
		return nil, nil
	}
	return s.Customers.Alike(req.Context(), req.Actor, draft)
}
