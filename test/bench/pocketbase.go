//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httputil"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// pocketBase is the kind of the other product that the goals go by. It is a
// module of its own, test/bench/pocketbase, which says what is in it.
const pocketBase = "pocketbase"

// pocket is a dataset in PocketBase: the same people, in a folder of its own.
type pocket struct {
	folder string
	token  string
}

// buildPocketBase builds the program, once.
func (b *bench) buildPocketBase(ctx context.Context) error {
	if b.pocketBase != "" {
		return nil
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "carteira").Output()
	if err != nil {
		return err
	}
	program := filepath.Join(b.dir, "pocketbase")
	module := filepath.Join(strings.TrimSpace(string(root)), "test", "bench", "pocketbase")
	if out, err := exec.CommandContext(ctx, "go", "-C", module, "build", "-o", program, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("build PocketBase (-pocketbase=false leaves it out): %w\n%s", err, out)
	}
	b.pocketBase = program
	return nil
}

// addPocket makes the PocketBase of a dataset.
func (b *bench) addPocket(ctx context.Context, dataset *dataset) error {
	if err := b.buildPocketBase(ctx); err != nil {
		return err
	}
	folder := filepath.Join(b.dir, fmt.Sprintf("pocketbase-%d", dataset.size))
	token, err := b.seedPocket(ctx, dataset, folder)
	if err != nil {
		return fmt.Errorf("seed PocketBase: %w", err)
	}
	dataset.pocket = &pocket{folder, token}
	return b.verifyPocket(ctx, dataset)
}

func (b *bench) seedPocket(ctx context.Context, dataset *dataset, folder string) (token string, err error) {
	seed := exec.CommandContext(ctx, b.pocketBase, "seed", "--dir", folder)
	rows, writer := io.Pipe()
	var out, failure bytes.Buffer
	seed.Stdin, seed.Stdout, seed.Stderr = rows, &out, &failure
	go func() { _ = writer.CloseWithError(dataset.writePeople(writer)) }()
	if err := seed.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, failure.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), &token); err != nil {
		return "", fmt.Errorf("it printed %.200q: %w", out.String(), err)
	}
	return token, nil
}

// pocketPlan and pocketPerson are lines of what PocketBase is filled with.
type pocketPlan struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Product int     `json:"product"`
}

type pocketPerson struct {
	Name     string `json:"name"`
	Whatsapp string `json:"whatsapp"`
	Email    string `json:"email"`
	Usuario  string `json:"usuario"`
	External string `json:"external_id"`
	Notes    string `json:"notes"`
	Due      string `json:"due"`
	Plan     int    `json:"plan"`
}

func (d *dataset) writePeople(to io.Writer) error {
	lines := json.NewEncoder(to)
	products, plans := []string{}, []pocketPlan{}
	for _, product := range d.listed.products {
		products = append(products, product.Name)
	}
	for i, plan := range d.listed.plans {
		plans = append(plans, pocketPlan{plan.Name, 99.90, min(i/3, len(products)-1)})
	}
	if err := lines.Encode(map[string]any{"products": products, "plans": plans}); err != nil {
		return err
	}
	for i := range d.size {
		p := personOf(i, d.today)
		due := ""
		if !p.due.IsZero() {
			due = p.due.String()
		}
		if err := lines.Encode(pocketPerson{p.name, p.phone, p.email, p.usuario, p.external, p.notes, due, p.plan}); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) startPocketBase(ctx context.Context, dataset *dataset) (*process, error) {
	addr, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	return b.startAt(ctx, exec.Command(b.pocketBase, "serve", "--dir", dataset.pocket.folder, "--http", addr), addr)
}

// verifyPocket sees that PocketBase answers with what the product answers.
func (b *bench) verifyPocket(ctx context.Context, dataset *dataset) error {
	client, stop, err := called(ctx, b.startPocketBase, dataset)
	if err != nil {
		return err
	}
	defer stop()
	body, err := client.do(pocketFirstPage(dataset, 0)())
	if err != nil {
		return err
	}
	var list struct {
		TotalItems int
		Items      []struct {
			Usuario string
			Expand  struct{ Plan, Product struct{ Name string } }
		}
	}
	if err := json.NewDecoder(httputil.NewChunkedReader(bytes.NewReader(body))).Decode(&list); err != nil {
		return err
	}
	newest, plans := personOf(dataset.size-1, dataset.today).usuario, 0
	for _, item := range list.Items {
		if item.Expand.Plan.Name != "" && item.Expand.Product.Name != "" {
			plans++
		}
	}
	if list.TotalItems != dataset.size || len(list.Items) != pageSize || list.Items[0].Usuario != newest || plans == 0 {
		return fmt.Errorf("PocketBase lists %d of %d, %d with a plan, beginning with %+v",
			len(list.Items), list.TotalItems, plans, list.Items[0])
	}
	for _, work := range works() {
		if _, err := client.do(work.pocket(dataset, 0)()); err != nil {
			return fmt.Errorf("PocketBase, %s: %w", work.name, err)
		}
	}
	return nil
}

// pocketRecords is the list as the product answers it: with the plan, its
// product and the total. Of the orders that give the newest first, this is the
// one that costs PocketBase least.
const pocketRecords = "/api/collections/customers/records?perPage=50&sort=-@rowid&expand=plan,product"

func pocketGet(token, path string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: bench\r\nAuthorization: %s\r\n\r\n", path, token)
}

func pocketFirstPage(dataset *dataset, _ int) requests {
	return always(pocketGet(dataset.pocket.token, pocketRecords))
}

func pocketRandomPage(dataset *dataset, _ int) requests {
	list := make([][]byte, choices)
	for i := range list {
		list[i] = pocketGet(dataset.pocket.token, pocketRecords+"&page="+strconv.Itoa(1+rand.IntN(dataset.size/pageSize)))
	}
	return among(list)
}

func pocketReadOne(dataset *dataset, _ int) requests {
	list := make([][]byte, choices)
	for i := range list {
		path := fmt.Sprintf("/api/collections/customers/records/%015d?expand=plan,product", 1+rand.IntN(dataset.size))
		list[i] = pocketGet(dataset.pocket.token, path)
	}
	return among(list)
}

func pocketCreate(dataset *dataset, conn int) requests {
	person := personOf(conn, dataset.today)
	return counting(func(number string) (head, body string) {
		body = fmt.Sprintf(`{"name":%q,"whatsapp":"5511987654321","email":"cliente.novo@example.com",`+
			`"usuario":"novo%s","due":"%s 00:00:00.000Z","plan":"%015d","product":"%015d"}`,
			person.name, number, dataset.today.AddDays(30), 1, 1)
		return "POST /api/collections/customers/records?expand=plan,product HTTP/1.1\r\nHost: bench\r\nAuthorization: " +
			dataset.pocket.token, body
	})
}
