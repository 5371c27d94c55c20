// Command calls calls a live server with the client that oapi-codegen generates.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"carteira/test/openapi/gen/carteira"
)

func main() {
	if err := call(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func call(ctx context.Context) error {
	api, err := carteira.NewClientWithResponses(os.Getenv("BASE"), carteira.WithRequestEditorFn(
		func(_ context.Context, req *http.Request) error {
			req.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
			return nil
		}))
	if err != nil {
		return err
	}
	plan := int64(1)
	made, err := api.CreateCustomerWithResponse(ctx, &carteira.CreateCustomerParams{}, carteira.NewCustomer{Name: "José", PlanId: &plan})
	if err != nil || made.JSON200 == nil {
		return fmt.Errorf("create: %w: %s", err, made.Body)
	}
	read, err := api.GetCustomerWithResponse(ctx, made.JSON200.Data.Id)
	if err != nil || read.JSON200 == nil || read.JSON200.Data.Name != "José" {
		return fmt.Errorf("read: %w: %s", err, read.Body)
	}
	search := "jose"
	list, err := api.ListCustomersWithResponse(ctx, &carteira.ListCustomersParams{Search: &search})
	if err != nil || list.JSON200 == nil || list.JSON200.Meta.Total != 1 {
		return fmt.Errorf("list: %w: %s", err, list.Body)
	}
	refused, err := api.CreateCustomerWithResponse(ctx, &carteira.CreateCustomerParams{}, carteira.NewCustomer{})
	if err != nil || refused.JSON422 == nil || refused.JSON422.Message == "" {
		return fmt.Errorf("refuse: %w: %s", err, refused.Body)
	}
	fmt.Println("oapi-codegen", made.JSON200.Data.Id)
	return nil
}
