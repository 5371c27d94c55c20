//go:build ignore

// A receiver of Carteira's webhooks. Run it behind a proxy that ends HTTPS:
//
//	PORT=9000 WEBHOOK_SECRET=whsec_… go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

var secret = []byte(os.Getenv("WEBHOOK_SECRET"))

// seen remembers ids until the program ends. In earnest: a table with a unique
// key, written in the transaction that does the work.
var seen sync.Map

func main() {
	if len(secret) == 0 { // everybody can sign with an empty key
		log.Fatal("set WEBHOOK_SECRET to the webhook's secret")
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // the raw bytes: decoded and encoded again they differ
	if err != nil {
		http.Error(w, "cannot read", http.StatusBadRequest)
		return
	}
	timestamp := r.Header.Get("X-Service-Timestamp")
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	if !hmac.Equal([]byte(want), []byte(r.Header.Get("X-Service-Signature"))) {
		http.Error(w, "wrong signature", http.StatusUnauthorized)
		return
	}
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 300*time.Second {
		http.Error(w, "too old, or from the future", http.StatusRequestTimeout)
		return
	}
	var event struct {
		Event string          `json:"event"`
		ID    string          `json:"id"`
		Data  json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &event); err != nil || event.ID == "" || event.Event == "" {
		http.Error(w, "not an event", http.StatusBadRequest)
		return
	}
	if _, repeated := seen.LoadOrStore(event.ID, true); !repeated {
		fmt.Println(event.Event, event.ID) // here goes your work; longer work goes into a queue
	}
	w.WriteHeader(http.StatusNoContent)
}
