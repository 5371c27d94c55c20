package catalog

import "carteira/internal/account"

// The fields of plans and products that requests can set. A change that differs
// in none of them is none.
var (
	planFields = account.AuditTable[Plan]{
		{Name: "name", Show: func(plan *Plan) any { return plan.Name }},
		{Name: "value", Show: func(plan *Plan) any { return plan.Value.String() }},
		{Name: "period", Show: func(plan *Plan) any { return plan.Period.String() }},
		{
			Name: "product",
			Show: func(plan *Plan) any { return plan.Product.Name },
			Key:  func(plan *Plan) any { return plan.Product.ID },
		},
		{Name: "active", Show: func(plan *Plan) any { return plan.Active }},
	}
	productFields = account.AuditTable[Product]{
		{Name: "name", Show: func(product *Product) any { return product.Name }},
		{Name: "description", Show: func(product *Product) any { return product.Description }},
		{Name: "active", Show: func(product *Product) any { return product.Active }},
	}
)
