package account

import (
	"context"
	"slices"
	"strings"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// List is a list of the panel that users arrange for themselves.
type List string

// The lists, by where the panel has them.
const (
	CustomerList List = "customers"
	InvoiceList  List = "invoices"
	PaymentList  List = "payments"
	MessageList  List = "messages/log"
	ResellerList List = "resellers"
	CreditList   List = "credits"
	AuditList    List = "settings/audit"
	// DeliveryList is how a user has the deliveries of every webhook: each has a list of its own, below this place.
	DeliveryList List = "webhooks"
)

// Lists are all of them.
var Lists = []List{CustomerList, InvoiceList, PaymentList, MessageList, ResellerList, CreditList, AuditList, DeliveryList}

// View is a list as a user saved it under a name: its filters and its order. No
// other user sees it.
type View struct {
	ID    int64
	List  List
	Name  string
	Query string // of the list's address
}

const (
	maxViews     = 20 // of one list of one user
	maxViewName  = 60
	maxViewQuery = 2000
	maxColumns   = 20
)

// ViewDraft is the view that a user wants to save.
type ViewDraft struct {
	View

	Problems input.Problems // what the form had wrong
}

// ReadView reads the fields list, view (its name) and query.
func ReadView(in *input.Form) ViewDraft {
	in.Require("list")
	in.Require("view")
	draft := ViewDraft{View: View{
		List: readList(in), Name: in.Line("view", maxViewName).Value, Query: in.Text("query", maxViewQuery).Value,
	}}
	draft.Problems = in.Problems()
	return draft
}

func readList(in *input.Form) List {
	return input.OneOf(in, "list", Lists...).Value
}

// Arranged is how the user has a list: the saved views, by name, and the columns that
// were chosen; none: the usual ones.
func (s *Service) Arranged(ctx context.Context, actor Actor, list List) (views []View, columns []string, err error) {
	var chosen []string
	err = sqldb.Together(ctx, s.db, readingViews(actor, list, &views), readingColumns(actor, list, &chosen))
	return views, strings.Fields(strings.Join(chosen, " ")), err
}

// SaveView saves a view. One of the same name is replaced.
func (s *Service) SaveView(ctx context.Context, actor Actor, draft ViewDraft) (View, error) {
	if err := draft.Problems.Err(); err != nil {
		return View{}, err
	}
	view := draft.View
	err := actor.Write(ctx, s.db, func(tx Tx) error {
		if _, err := lockUser(ctx, tx.Tx, actor.Company.ID, actor.UserID); err != nil {
			return err
		}
		var saved []View
		err := sqldb.Together(ctx, tx, readingViews(actor, view.List, &saved))
		if err != nil {
			return err
		}
		known := slices.ContainsFunc(saved, func(one View) bool { return one.Name == view.Name })
		if len(saved) >= maxViews && !known {
			return fault.Conflict("you have 20 saved views of this list; delete one first")
		}
		view.ID, err = sqldb.Value[int64](ctx, tx, `
			INSERT INTO list_views (company_id, user_id, list, name, query, created_at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (company_id, user_id, list, name) DO UPDATE SET query = excluded.query RETURNING id`,
			tx.Company.ID, tx.Actor.UserID, string(view.List), view.Name, view.Query, tx.Now().UnixMicro())
		return err
	})
	return view, err
}

// DeleteView deletes a view of the user, and returns it.
func (s *Service) DeleteView(ctx context.Context, actor Actor, id int64) (View, error) {
	return Write(ctx, actor, s.db, func(tx Tx) (view View, err error) {
		view, err = sqldb.One(ctx, tx, scanView, `
			DELETE FROM list_views WHERE company_id = ? AND user_id = ? AND id = ? RETURNING id, list, name, query`,
			tx.Company.ID, tx.Actor.UserID, id)
		return view, sqldb.Found(err, "view")
	})
}

// ColumnChoice is which columns of a list a user wants.
type ColumnChoice struct {
	List  List
	Names []string // none: the usual ones

	Problems input.Problems // what the form had wrong
}

// ReadColumns reads the fields list and columns.
func ReadColumns(in *input.Form) ColumnChoice {
	in.Require("list")
	choice := ColumnChoice{List: readList(in), Names: in.List("columns").Value}
	if len(choice.Names) > maxColumns {
		in.Refuse("columns", "must be fewer")
	}
	choice.Problems = in.Problems()
	return choice
}

// ChooseColumns remembers which columns of a list the user wants.
func (s *Service) ChooseColumns(ctx context.Context, actor Actor, choice ColumnChoice) error {
	if err := choice.Problems.Err(); err != nil {
		return err
	}
	return actor.Write(ctx, s.db, func(tx Tx) error {
		return tx.Do(ctx, `
			INSERT INTO list_columns (company_id, user_id, list, columns) VALUES (?, ?, ?, ?)
			ON CONFLICT (company_id, user_id, list) DO UPDATE SET columns = excluded.columns`,
			tx.Company.ID, tx.Actor.UserID, string(choice.List), strings.Join(choice.Names, " "))
	})
}
