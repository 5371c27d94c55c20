package panel

import (
	"regexp"
	"strings"
)

// mend leads to a field that mends what a gateway refused for want of it.
type mend struct{ Label, URL string }

// wantedFields are the words by which the reasons of gateways name what they want of
// a customer, with the field of the customer's form.
var wantedFields = []struct{ words, label, field string }{
	{"the customer's e-mail address", "Enter the customer's e-mail", "email"},
	{"the customer's CPF or CNPJ", "Enter the customer's CPF or CNPJ", "cpf_cnpj"},
}

// namedOption is how such a reason names an option of the gateway.
var namedOption = regexp.MustCompile(`the option (\w+)`)

// mends are where the user can mend what a gateway refused, by its reason in
// English. Only owners set gateways up.
func mends(req *request, refusal refusedCharge) []mend {
	var found []mend
	for _, wanted := range wantedFields {
		if strings.Contains(refusal.problem, wanted.words) && allows(req.User.Role, desk) {
			found = append(found, mend{req.lang.T(wanted.label), customerPath(refusal.customerID) + "/edit#f-" + wanted.field})
		}
	}
	option := namedOption.FindStringSubmatch(refusal.problem)
	if option != nil && allows(req.User.Role, owner) {
		found = append(found, mend{req.lang.T("Enter it at the gateway"), "/payments/gateways/" + refusal.provider + "#f-" + option[1]})
	}
	return found
}

// refusedCharge is a charge that a gateway refused to make.
type refusedCharge struct {
	problem    string // in English, as the record has it
	provider   string
	customerID int64
}
