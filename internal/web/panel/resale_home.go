package panel

import (
	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
)

// resale is what the home page of a company with resellers shows of them.
type resale struct {
	Balance int64
	Ending  []endingList
}

// endingList is resellers whose trial or subscription ends soon.
type endingList struct {
	Title, Empty, Link string
	List               []resellerRow
	Total              int64
}

// resale is nil for who may not see it, and for a company without a level, a
// function or a reseller for it.
func (s *Server) resale(req *request) (*resale, error) {
	if !req.sells() || !allows(req.User.Role, viewer) {
		return nil, nil //nolint:nilnil // there is nothing to show, which is no error
	}
	_, all, err := s.Resellers.List(req.Context(), req.Actor, reseller.Filter{}, input.Page{Number: 1, Size: 1})
	if err != nil || all == 0 {
		return nil, err
	}
	shown := &resale{}
	if shown.Balance, err = s.Resellers.Balance(req.Context(), req.Actor); err != nil {
		return nil, err
	}
	for _, standing := range []account.Standing{account.StandingTrial, account.StandingActive} {
		list, err := s.endingSoon(req, standing)
		if err != nil {
			return nil, err
		}
		shown.Ending = append(shown.Ending, list)
	}
	return shown, nil
}

// endingWords are the title of such a list, and what stands in its place when it
// has none.
var endingWords = map[account.Standing][2]string{
	account.StandingTrial:  {"Trials that end in 7 days", "No trial ends in the next 7 days."},
	account.StandingActive: {"Subscriptions that end in 7 days", "No subscription ends in the next 7 days."},
}

// endingSoon lists some of the resellers in a standing that ends within a week.
func (s *Server) endingSoon(req *request, standing account.Standing) (ending endingList, err error) {
	until := req.today.AddDays(noticeDays)
	filter := reseller.Filter{Status: standing, ExpiresFrom: req.today, ExpiresTo: until}
	first := input.Page{Number: 1, Size: homeRows}
	list, total, err := s.Resellers.List(req.Context(), req.Actor, filter, first)
	if err != nil {
		return ending, err
	}
	ending.Total, ending.Title, ending.Empty = total, endingWords[standing][0], endingWords[standing][1]
	ending.Link = "/resellers?status=" + string(standing) +
		"&expires_from=" + req.today.String() + "&expires_to=" + until.String()
	for _, seller := range list {
		ending.List = append(ending.List, resellerRowOf(req, seller, s.DB.Now()))
	}
	return ending, nil
}
