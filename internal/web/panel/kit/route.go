package kit

import (
	"net/http"

	"carteira/internal/account"
)

// Role is who may open a page.
type Role string

// The roles that pages ask for.
const (
	Public Role = ""       // without a session
	Self   Role = "self"   // any signed-in user, about themselves
	Reader Role = "reader" // everybody who is signed in
	Viewer Role = "viewer" // who may see totals and take lists along: all but attendants
	Desk   Role = "desk"   // who works with customers: attendants too
	Staff  Role = "staff"  // who may change everything that is not an owner's
	Owner  Role = "owner"
)

// Allows is what the roles of users may open. Who only reads is refused every
// change here and nowhere else: no route that changes something says reader or
// viewer.
func Allows(has account.Role, needs Role) bool {
	switch needs {
	case Public, Self, Reader:
		return true
	case Viewer:
		return has != account.RoleAttendant
	case Desk:
		return has == account.RoleAttendant || Allows(has, Staff)
	case Staff:
		return has == account.RoleStaff || has == account.RoleOwner
	case Owner:
		return has == account.RoleOwner
	}
	return false
}

// The functions that a company's plan can lack.
const (
	Basic     = account.Function("")
	API       = account.FunctionAPI
	Webhooks  = account.FunctionWebhooks
	Imports   = account.FunctionImport
	Exports   = account.FunctionExport
	Payments  = account.FunctionPayments
	Resellers = account.FunctionResellers
	Reminders = account.FunctionReminders
)

// Route is one page, or one form that is sent.
type Route struct {
	Method, Path string
	Role         Role
	Function     account.Function // that the company's plan must have; basic: none
	handler      Handler
}

// Pattern is what the standard mux has for it.
func (op Route) Pattern() string { return op.Method + " " + op.Path }

// PathRow is a path, with who may open it, what shows its page and what takes its
// form; nil: it has none.
type PathRow struct {
	Path      string
	Role      Role
	Function  account.Function
	Get, Post Handler
}

// RoutesOf are the pages and forms of a table.
func RoutesOf(rows []PathRow) (list []Route) {
	for _, row := range rows {
		if row.Get != nil {
			list = append(list, Route{http.MethodGet, row.Path, row.Role, row.Function, row.Get})
		}
		if row.Post != nil {
			list = append(list, Route{http.MethodPost, row.Path, row.Role, row.Function, row.Post})
		}
	}
	return list
}
