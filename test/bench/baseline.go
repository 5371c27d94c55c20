//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// baselineVariable turns this program into a baseline, a server in a process of
// its own like the product: "KIND ADDRESS FOLDER URL".
const baselineVariable = "CARTEIRA_BENCH_BASELINE"

// The kinds of baselines.
const (
	bare   = "bare" // net/http, writes the answer
	direct = "sql"  // the same, after the product's statements on PostgreSQL's driver
)

// answers are what the product answered, by the work they belong to.
type answers struct{ list, read, create []byte }

func loadAnswers(dir string) (answers answers, err error) {
	for name, to := range map[string]*[]byte{"list": &answers.list, "read": &answers.read, "create": &answers.create} {
		if *to, err = os.ReadFile(filepath.Join(dir, name+".json")); err != nil {
			return answers, err
		}
	}
	return answers, nil
}

// serveBaseline serves until it is told to stop.
func serveBaseline(settings string) error {
	parts := strings.SplitN(settings, " ", 4)
	if len(parts) < 4 {
		return fmt.Errorf("%s: KIND ADDRESS FOLDER URL", baselineVariable)
	}
	kind, addr, dir, url := parts[0], parts[1], parts[2], parts[3]
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	answers, err := loadAnswers(dir)
	if err != nil {
		return err
	}
	handler := bareHandler(answers)
	if kind != bare {
		driver, err := openDriver(ctx, url)
		if err != nil {
			return err
		}
		defer driver.close()
		handler = driver.handler(answers)
	}
	server := &http.Server{Addr: addr, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// bareHandler is what net/http costs without any work.
func bareHandler(answers answers) http.Handler {
	return routes(
		func(w http.ResponseWriter, _ *http.Request) { write(w, answers.list) },
		func(w http.ResponseWriter, _ *http.Request) { write(w, answers.read) },
		func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			write(w, answers.create)
		})
}

func routes(list, read, create http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/customers", list)
	mux.HandleFunc("GET /api/v1/customers/{id}", read)
	mux.HandleFunc("POST /api/v1/customers", create)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { write(w, []byte("ready\n")) })
	return mux
}

func write(w http.ResponseWriter, body []byte) {
	header := w.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
