package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

func customerCommand() *cobra.Command {
	const idFlag = "id!:int id of the customer"
	return group("customer", "What a customer may ask about their own data",
		forCompany(command{
			use: "file", short: "Print everything that is kept about a customer, as JSON", flags: idFlag,
			example: `  carteira customer file --company 1 --id 12 > cliente.json`,
		}, func(ctx context.Context, c call) error {
			content, err := c.Privacy.CustomerFile(ctx, c.actor, c.id())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.cmd.OutOrStdout(), string(content))
			return err
		}),
		forCompany(command{
			use: "erase", short: "Delete a customer and everything that is kept about them, but for what the law makes one keep",
			example: `  carteira customer erase --company 1 --id 12`, flags: idFlag,
		}, func(ctx context.Context, c call) error { return c.Privacy.Erase(ctx, c.actor, c.id()) }))
}

func invoiceCommand() *cobra.Command {
	return group("invoice", "Invoices: create, set",
		opened(command{
			use: "create", short: "Issue an extra invoice, beside those that due dates bring",
			long: "Create issues an invoice that belongs to no due date. Paying it renews nothing.",
			example: `  carteira invoice create --customer 12 --amount 50.00 --description "Visita técnica"
  carteira invoice create --customer 12 --due 2027-01-31`,
			flags: `
				customer!:int  id of the customer
				amount         what is owed, such as 50.00 (default: the customer's price)
				due            due date, YYYY-MM-DD (default: today)
				description    what it is for
				renews:bool    issue the invoice of the customer's due date, again if it was cancelled or renewed nothing`,
		}, createInvoice),
		act(command{
			use: "set", short: "Change an open invoice; what is not given stays",
			example: "  carteira invoice set --company 1 --id 12 --due 2027-02-05 --discount 2.00",
			flags: `
				id!:int      id of the invoice
				amount       what is owed, such as 50.00
				due          due date, YYYY-MM-DD
				description  what it is for
				discount     taken off until the due date, in place of the company's; empty brings that back`,
		}, func(ctx context.Context, c call) (any, error) {
			invoice, err := c.Billing.Edit(ctx, c.actor, c.id(), billing.ReadEdit(c.in))
			return invoiceJSON(invoice), err
		}))
}

func createInvoice(ctx context.Context, c call) error {
	id := c.in.ID("customer").Value
	companyID, err := c.Customers.CompanyOf(ctx, id)
	if fault.KindOf(err) == fault.KindNotFound {
		return fmt.Errorf("there is no customer %d", id)
	}
	if err != nil {
		return err
	}
	actor, err := c.Accounts.Actor(ctx, companyID)
	if err != nil {
		return err
	}
	invoice, err := c.Billing.Create(ctx, actor, id, billing.ReadExtra(c.in))
	if err != nil {
		return err
	}
	return printJSON(c.cmd, invoiceJSON(invoice))
}

// invoiceJSON is what the commands print of an invoice.
func invoiceJSON(invoice billing.Invoice) map[string]any {
	return map[string]any{
		"id": invoice.ID, "customer_id": invoice.Customer.ID, "status": invoice.Status,
		"total_amount": invoice.Amount, "due_date": invoice.DueOn,
	}
}

// all is a page with every plan or product that a company may have.
var all = input.Page{Number: 1, Size: 1 << 20}

const (
	planFlags = `
		name            name of the plan
		value           what it costs, such as 35.00
		period          what it pays for, such as 1month, 7days, 2weeks or 1year
		product-id:int  product it belongs to`
	productFlags = `
		name         name of the product
		description  what it is`
	activeFlag = "\nactive:bool=true whether it can be chosen for customers"
)

func planCommand() *cobra.Command {
	show := shown(catalog.PlanFields)
	return group("plan", "Plans sold to customers: create, list, set",
		act(command{
			use: "create", short: "Make a plan", flags: planFlags,
			example: `  carteira plan create --company 1 --name Mensal --value 35.00 --period 1month`,
		}, func(ctx context.Context, c call) (any, error) {
			return show(c.Catalog.CreatePlan(ctx, c.actor, catalog.ReadNewPlan(c.in)))
		}),
		act(command{
			use: "set", short: "Change a plan; what is not given stays",
			flags:   planFlags + activeFlag + "\nid!:int id of the plan",
			example: `  carteira plan set --company 1 --id 3 --active=false`,
		}, func(ctx context.Context, c call) (any, error) {
			return show(c.Catalog.UpdatePlan(ctx, c.actor, c.id(), catalog.ReadPlanChanges(c.in)))
		}),
		listOf(command{short: "List a company's plans"}, catalog.PlanFields,
			func(ctx context.Context, c call) ([]catalog.Plan, error) {
				plans, _, err := c.Catalog.Plans(ctx, c.actor, catalog.Filter{}, all)
				return plans, err
			}))
}

func productCommand() *cobra.Command {
	show := shown(catalog.ProductFields)
	return group("product", "Products: create, list, set",
		act(command{
			use: "create", short: "Make a product", flags: productFlags,
			example: `  carteira product create --company 1 --name "Fibra 500"`,
		}, func(ctx context.Context, c call) (any, error) {
			return show(c.Catalog.CreateProduct(ctx, c.actor, catalog.ReadNewProduct(c.in)))
		}),
		act(command{
			use: "set", short: "Change a product; what is not given stays",
			flags: productFlags + activeFlag + "\nid!:int id of the product",
		}, func(ctx context.Context, c call) (any, error) {
			return show(c.Catalog.UpdateProduct(ctx, c.actor, c.id(), catalog.ReadProductChanges(c.in)))
		}),
		listOf(command{short: "List a company's products"}, catalog.ProductFields,
			func(ctx context.Context, c call) ([]catalog.Product, error) {
				products, _, err := c.Catalog.Products(ctx, c.actor, catalog.Filter{}, all)
				return products, err
			}))
}
