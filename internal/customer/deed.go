package customer

import "carteira/internal/account"

// deed is what the audit log says of a change. Of one who was made or deleted
// it tells all fields, which the zero Customer lacks.
func deed(action string, before, after Customer) account.Deed {
	d := account.Deed{Action: action, Record: "customer", ID: after.ID, Name: after.Name, Before: fields(before), After: fields(after)}
	if action == "customer.deleted" {
		d.After = nil
	}
	return d
}

func fields(c Customer) account.Fields {
	return account.Fields{
		"name": c.Name, "whatsapp": c.Whatsapp, "email": c.Email, "usuario": c.Usuario, "data_de_vencimento": c.DueOn.String(),
		"plan": c.Plan.Name, "product": c.Product.Name, "notes": c.Notes, "external_id": c.ExternalID,
	}
}
