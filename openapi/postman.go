package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// deletions is the folder of what deletes. It is the last: a run from top to bottom
// leaves nothing for what follows it.
const deletions = "Delete (last)"

// Postman is the document as a collection for Postman, with the document's examples,
// for the installation at an address. Its user sets the variable token.
func Postman(address string) []byte {
	var doc postmanDocument
	if err := json.Unmarshal(JSON(), &doc); err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err)) // embedded and tested
	}
	folders := map[string][]postmanItem{}
	for path, methods := range doc.Paths {
		for method, source := range methods {
			if method != "parameters" {
				folder, item := doc.item(strings.ToUpper(method), path, source)
				folders[folder] = append(folders[folder], item)
			}
		}
	}
	collection := map[string]any{
		"info": map[string]any{
			"name":        "Carteira API",
			"description": "Set the variable token to a token of your installation (panel, API).",
			"schema":      "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
		},
		"item":     doc.sorted(folders),
		"variable": []any{pair("baseUrl", strings.TrimRight(address, "/")+"/api/v1"), pair("token", "")},
		"auth":     map[string]any{"type": "bearer", "bearer": []any{pair("token", "{{token}}")}},
		"event":    []any{map[string]any{"listen": "test", "script": map[string]any{"exec": strings.Split(postmanTest, "\n")}}},
	}
	out, err := json.MarshalIndent(collection, "", "  ")
	if err != nil {
		panic(err) // what JSON gave has a form
	}
	return out
}

// postmanTest is run after each request. A run of all operations reaches the limit of
// calls a minute: the request that met it waits and is sent again.
const postmanTest = `if (pm.response.code === 429) {
  setTimeout(() => {}, 1000 * Number(pm.response.headers.get("Retry-After")));
  pm.execution.setNextRequest(pm.info.requestId);
} else {
  pm.test("is answered as documented", () => {
    pm.expect(pm.response.code).to.be.oneOf([200, 403, 404, 409, 422]);
    pm.expect(pm.response.json()).to.have.property("success", pm.response.code === 200);
  });
}`

type postmanDocument struct {
	Tags       []struct{ Name string }
	Paths      map[string]map[string]json.RawMessage
	Components struct{ Parameters map[string]postmanParameter }
}

type postmanParameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Example     any
	Schema      struct{ Default any }
}

// postmanItem is one request.
type postmanItem struct {
	Name    string         `json:"name"`
	Request map[string]any `json:"request"`

	order string
}

// item is an operation as a request, and the folder that it is in.
func (d *postmanDocument) item(method, path string, source json.RawMessage) (string, postmanItem) {
	var op struct {
		Summary, Description string
		Tags                 []string
		Parameters           []postmanParameter
		RequestBody          *struct {
			Content map[string]postmanMedia
		}
	}
	var ofPath []postmanParameter
	mustRead(source, &op)
	if shared, ok := d.Paths[path]["parameters"]; ok {
		mustRead(shared, &ofPath)
	}
	address := map[string]any{}
	header := []any{pair("Accept", "application/json")}
	var variables, query []any
	for _, parameter := range append(ofPath, op.Parameters...) {
		if name, ok := strings.CutPrefix(parameter.Ref, "#/components/parameters/"); ok {
			parameter = d.Components.Parameters[name]
		}
		switch parameter.In {
		case "path":
			variables = append(variables, pair(parameter.Name, parameter.text()))
		case "query":
			query = append(query, map[string]any{
				"key": parameter.Name, "value": parameter.text(), "description": parameter.Description, "disabled": true,
			})
		}
		if parameter.Name == "Idempotency-Key" {
			header = append(header, pair(parameter.Name, "{{$guid}}"))
		}
	}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i, segment := range segments {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			segments[i] = ":" + strings.TrimSuffix(name, "}")
		}
	}
	address["raw"], address["host"], address["path"] = "{{baseUrl}}/"+strings.Join(segments, "/"), []string{"{{baseUrl}}"}, segments
	address["variable"], address["query"] = orEmpty(variables), orEmpty(query)
	request := map[string]any{"method": method, "url": address, "description": op.Description}
	if op.RequestBody != nil {
		header = append(header, pair("Content-Type", "application/json"))
		request["body"] = map[string]any{"mode": "raw", "raw": op.RequestBody.Content["application/json"].first()}
	}
	request["header"] = header
	folder := op.Tags[0]
	order := path + " " + method
	if method == "DELETE" {
		folder, order = deletions, fmt.Sprintf("%02d%s", 99-len(segments), path) // a part before the whole
	}
	return folder, postmanItem{op.Summary, request, order}
}

func mustRead(source json.RawMessage, into any) {
	if err := json.Unmarshal(source, into); err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err)) // embedded and tested
	}
}

func (p postmanParameter) text() string {
	switch {
	case p.Example != nil:
		return fmt.Sprint(p.Example)
	case p.Schema.Default != nil:
		return fmt.Sprint(p.Schema.Default)
	default:
		return ""
	}
}

// postmanMedia is a body with its examples.
type postmanMedia struct {
	Example  json.RawMessage
	Examples map[string]struct{ Value json.RawMessage }
}

// first is the only example, or the first by name.
func (m postmanMedia) first() string {
	first := ""
	for name := range m.Examples {
		if first == "" || name < first {
			first = name
		}
	}
	if first == "" {
		return string(m.Example)
	}
	return string(m.Examples[first].Value)
}

// sorted are the folders in the order of the document's tags.
func (d *postmanDocument) sorted(folders map[string][]postmanItem) []any {
	var names []string
	for _, tag := range d.Tags {
		names = append(names, tag.Name)
	}
	var list []any
	for _, name := range append(names, deletions) {
		items := folders[name]
		slices.SortFunc(items, func(a, b postmanItem) int { return cmp.Compare(a.order, b.order) })
		if len(items) > 0 {
			list = append(list, map[string]any{"name": name, "item": items})
		}
	}
	return list
}

func pair(key, value string) map[string]any {
	return map[string]any{"key": key, "value": value, "type": "string"}
}

func orEmpty(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}
