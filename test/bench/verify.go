//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
)

// listing is what an answer to a list says.
type listing struct {
	Data []struct {
		ID       int64  `json:"id"`
		Whatsapp string `json:"whatsapp"`
	} `json:"data"`
	Meta struct {
		Total int64 `json:"total"`
	} `json:"meta"`
}

// verify asks the product for what was seeded. The seed writes tables that are
// not its own, and must notice when the product has changed its mind about them.
func (b *bench) verify(ctx context.Context, dataset *dataset) error {
	process, err := b.serve(ctx, carteira, dataset)
	if err != nil {
		return err
	}
	defer process.stop()
	client, err := dial(ctx, process.addr)
	if err != nil {
		return err
	}
	defer client.close()
	last := dataset.size / pageSize
	for _, page := range []int{1, last / 3, last} {
		got, err := list(client, dataset, "page="+strconv.Itoa(page))
		if err != nil {
			return err
		}
		want := int64(dataset.size - (page-1)*pageSize)
		if got.Meta.Total != int64(dataset.size) || len(got.Data) != pageSize || got.Data[0].ID != want {
			return fmt.Errorf("page %d of %d customers has %d of %d, beginning with id %d instead of %d",
				page, dataset.size, len(got.Data), got.Meta.Total, got.Data[0].ID, want)
		}
	}
	phone := phoneOf(dataset)
	got, err := list(client, dataset, "search="+url.QueryEscape(punctuated(phone[:4]+phone[5:])))
	if err != nil {
		return err
	}
	if len(got.Data) == 0 || got.Data[0].Whatsapp != phone {
		return fmt.Errorf("the phone %s is not found without its ninth digit", phone)
	}
	return nil
}

func list(client *client, dataset *dataset, query string) (listing listing, err error) {
	body, err := client.do(get(&dataset.listed, "/customers?"+query))
	if err != nil {
		return listing, err
	}
	return listing, json.Unmarshal(body, &listing)
}
