package panel

import (
	"net/http"

	"carteira/internal/account"
)

// role is who may open a page.
type role string

const (
	public role = ""       // without a session
	self   role = "self"   // any signed-in user, about themselves
	reader role = "reader" // everybody who is signed in
	viewer role = "viewer" // who may see totals and take lists along: all but attendants
	desk   role = "desk"   // who works with customers: attendants too
	staff  role = "staff"  // who may change everything that is not an owner's
	owner  role = "owner"
)

// allows is what the roles of users may open. Who only reads is refused every
// change here and nowhere else: no route that changes something says reader or
// viewer.
func allows(has account.Role, needs role) bool {
	switch needs {
	case public, self, reader:
		return true
	case viewer:
		return has != account.RoleAttendant
	case desk:
		return has == account.RoleAttendant || allows(has, staff)
	case staff:
		return has == account.RoleStaff || has == account.RoleOwner
	case owner:
		return has == account.RoleOwner
	}
	return false
}

// The functions that a company's plan can lack.
const (
	basic     = account.Function("")
	api       = account.FunctionAPI
	webhooks  = account.FunctionWebhooks
	imports   = account.FunctionImport
	exports   = account.FunctionExport
	payments  = account.FunctionPayments
	resellers = account.FunctionResellers
	reminders = account.FunctionReminders
)

// route is one page, or one form that is sent.
type route struct {
	method, path string
	role         role
	function     account.Function // that the company's plan must have; basic: none
	handler      handler
}

func (op route) pattern() string { return op.method + " " + op.path }

// pathRow is a path, with who may open it, what shows its page and what takes its
// form; nil: it has none.
type pathRow struct {
	path      string
	role      role
	function  account.Function
	get, post handler
}

// routesOf are the pages and forms of a table.
func routesOf(rows []pathRow) (list []route) {
	for _, row := range rows {
		if row.get != nil {
			list = append(list, route{http.MethodGet, row.path, row.role, row.function, row.get})
		}
		if row.post != nil {
			list = append(list, route{http.MethodPost, row.path, row.role, row.function, row.post})
		}
	}
	return list
}
