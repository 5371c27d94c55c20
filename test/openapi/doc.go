// Package openapi has programs that nobody here wrote read openapi/openapi.yaml:
// linters, generators of clients in TypeScript and Go, and a runner of Postman
// collections. What they make is compiled strictly and calls the real program.
// It is a module of its own, with its own package.json.
package openapi

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen -generate types,client -package carteira -o gen/carteira/client.go ../../openapi/openapi.yaml

// What oapi-codegen generates imports this. It is not there when go mod tidy looks, which would drop it.
import _ "github.com/oapi-codegen/runtime"
