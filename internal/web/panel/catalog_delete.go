package panel

import (
	"slices"

	"carteira/internal/platform/fault"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

// A plan or product that nobody has was a slip of the pen, and can be deleted.

func (s *Server) askDeletePlan(req *request) error {
	plan, err := s.Catalog.Plan(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	path := "/plans/" + idText(plan.ID)
	return s.ask(req, page.Confirm{
		Question: "Delete %s?", Args: []any{plan.Name}, Danger: true, Button: "Delete plan",
		Back: path, Action: path + "/delete",
		Effects: []string{"Only a plan that no customer and no invoice has can be deleted.", "This cannot be undone."},
	})
}

func (s *Server) deletePlan(req *request) error {
	err := s.inNoRule(req, func(rule reminder.Rule) bool { return rule.PlanID == req.id })
	if err != nil {
		return req.complain("/plans", err)
	}
	plan, err := s.Catalog.DeletePlan(req.Context(), req.Actor, req.id)
	if err != nil {
		return req.complain("/plans/"+idText(req.id), err)
	}
	return req.done("/plans", "%s was deleted.", plan.Name)
}

func (s *Server) askDeleteProduct(req *request) error {
	product, err := s.Catalog.Product(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	path := "/products/" + idText(product.ID)
	return s.ask(req, page.Confirm{
		Question: "Delete %s?", Args: []any{product.Name}, Danger: true, Button: "Delete product",
		Back: path, Action: path + "/delete",
		Effects: []string{"Only a product that no plan, no customer and no invoice has can be deleted.", "This cannot be undone."},
	})
}

func (s *Server) deleteProduct(req *request) error {
	err := s.inNoRule(req, func(rule reminder.Rule) bool { return rule.ProductID == req.id })
	if err != nil {
		return req.complain("/products", err)
	}
	product, err := s.Catalog.DeleteProduct(req.Context(), req.Actor, req.id)
	if err != nil {
		return req.complain("/products/"+idText(req.id), err)
	}
	return req.done("/products", "%s was deleted.", product.Name)
}

// inNoRule refuses what a message rule is for: without it the rule would reach
// nobody, and say nothing.
func (s *Server) inNoRule(req *request, uses func(reminder.Rule) bool) error {
	rules, err := s.Reminders.Rules(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rules, uses) {
		return fault.Conflict("a message rule is for it; change the rule first")
	}
	return nil
}
