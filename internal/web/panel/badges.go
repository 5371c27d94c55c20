package panel

import (
	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/web/page"
)

// badge is a number beside an entry of the menu: what waits for a person there.
type badge struct {
	Count int64
	Words string // what it counts, for who does not see where it is
}

// mostOfABadge is from where on a badge does not say how many more.
const mostOfABadge = 999

// Text is the number as it is shown.
func (b badge) Text() string {
	if b.Count > mostOfABadge {
		return page.FormatInt(mostOfABadge) + "+"
	}
	return page.FormatInt(b.Count)
}

// badges are the numbers of the menu, by path. Counters know them, so that every
// page can have them.
func (s *Server) badges(req *request) (map[string]badge, error) {
	shown := map[string]badge{}
	overdue, err := s.Billing.Count(req.Context(), req.Actor, billing.Filter{Overdue: "true"})
	if err != nil {
		return nil, err
	}
	shown["/invoices"] = badge{overdue, req.lang.T("overdue")}
	if !allows(req.User.Role, viewer) || !req.Actor.May(payments) {
		return shown, nil
	}
	open, err := s.Payments.CountReviews(req.Context(), req.Actor, payment.ReviewFilter{Open: true})
	shown["/payments"] = badge{open, req.lang.T("for review")}
	return shown, err
}
