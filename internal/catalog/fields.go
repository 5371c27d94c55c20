package catalog

import "carteira/internal/account"

// The fields of plans and products that requests can set. A change that differs
// in none of them is none.
var (
	planFields = account.AuditTable[Plan]{
		{Name: "name", Show: func(p *Plan) any { return p.Name }},
		{Name: "value", Show: func(p *Plan) any { return p.Value.String() }},
		{Name: "period", Show: func(p *Plan) any { return p.Period.String() }},
		{
			Name: "product",
			Show: func(p *Plan) any { return p.Product.Name },
			Key:  func(p *Plan) any { return p.Product.ID },
		},
		{Name: "active", Show: func(p *Plan) any { return p.Active }},
	}
	productFields = account.AuditTable[Product]{
		{Name: "name", Show: func(p *Product) any { return p.Name }},
		{Name: "description", Show: func(p *Product) any { return p.Description }},
		{Name: "active", Show: func(p *Product) any { return p.Active }},
	}
)
