package main

import (
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

// signedIn lets every user see and create all. A rule that keeps companies apart
// costs PocketBase much more than this, and it is mostly used for one company.
const signedIn = "@request.auth.id != ''"

// makeCollections makes what a customer list needs: a customer has a plan and a
// product.
func makeCollections(app core.App) error {
	products := collection("products", &core.TextField{Name: "name", Required: true})
	if err := app.Save(products); err != nil {
		return err
	}
	plans := collection("plans", &core.TextField{Name: "name", Required: true}, &core.NumberField{Name: "value"},
		&core.TextField{Name: "period"})
	if err := app.Save(plans); err != nil {
		return err
	}
	return app.Save(customers(plans, products))
}

// customers has the indexes that a filter by due date and a unique login need.
func customers(plans, products *core.Collection) *core.Collection {
	made := collection("customers", &core.TextField{Name: "name", Required: true}, &core.TextField{Name: "whatsapp"},
		&core.EmailField{Name: "email"}, &core.TextField{Name: "usuario"}, &core.TextField{Name: "external_id"},
		&core.TextField{Name: "notes"}, &core.DateField{Name: "due"}, relation("plan", plans),
		relation("product", products), &core.AutodateField{Name: "created", OnCreate: true},
		&core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true})
	made.AddIndex("customers_due", false, "due", "")
	made.AddIndex("customers_usuario", true, "usuario", "usuario != ''")
	return made
}

func collection(name string, fields ...core.Field) *core.Collection {
	made := core.NewBaseCollection(name)
	made.Fields.Add(fields...)
	made.ListRule = types.Pointer(signedIn)
	made.ViewRule = types.Pointer(signedIn)
	made.CreateRule = types.Pointer(signedIn)
	return made
}

func relation(name string, to *core.Collection) *core.RelationField {
	return &core.RelationField{Name: name, CollectionId: to.Id, MaxSelect: 1}
}
