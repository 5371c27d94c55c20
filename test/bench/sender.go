//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"carteira/internal/event"
	"carteira/internal/webhook"
)

// senderVariable turns this program into the bare loop that deliveries are
// compared with: the file of an errand.
const senderVariable = "CARTEIRA_BENCH_SENDER"

// errand is what the bare loop does: it signs and posts a body to each address
// so many times, on so many connections to each.
type errand struct {
	URLs  []string
	Roots string
	Each  int // posts to each address
	Conns int // to each address
	Body  json.RawMessage
}

// runSender is the loop, in a process of its own like the product.
func runSender(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var e errand
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	roots, err := os.ReadFile(e.Roots)
	if err != nil {
		return err
	}
	debug.SetGCPercent(400) // as the product does
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(roots)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: e.Conns, DisableCompression: true,
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var running sync.WaitGroup
	for _, url := range e.URLs {
		for range e.Conns {
			running.Go(func() {
				for range e.Each / e.Conns {
					if err := post(ctx, transport, url, e.Body); err != nil {
						cancel(err)
						return
					}
				}
			})
		}
	}
	running.Wait()
	return context.Cause(ctx)
}

func post(ctx context.Context, transport *http.Transport, url string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, webhook.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header = http.Header{
		"Content-Type":        {"application/json"},
		"User-Agent":          {"Carteira/1.0"},
		"X-Service-Event":     {string(event.CustomerCreated)},
		"X-Service-Delivery":  {"evt_01JCV3M8Q2X7R5T9W0Y4Z6ABCD"},
		"X-Service-Timestamp": {timestamp},
		"X-Service-Signature": {"sha256=" + webhook.Sign([]byte("whsec_0123456789012345678901234567890123456789"), timestamp, body)},
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %d", url, response.StatusCode)
	}
	return nil
}

// sendBare has the loop do an errand and measures it at the receivers.
func (b *bench) sendBare(ctx context.Context, receivers *receivers, errand errand) (sample sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	text, err := json.Marshal(errand)
	if err != nil {
		return sample, err
	}
	file := filepath.Join(b.dir, "errand.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return sample, err
	}
	receivers.reset(len(errand.URLs) * laneWarm)
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), senderVariable+"="+file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		return sample, err
	}
	pid := cmd.Process.Pid
	spending := func() (map[int]time.Duration, error) { return map[int]time.Duration{pid: cpuOf(pid)}, nil }
	count, err := receivers.measure(ctx, len(errand.URLs)*(errand.Each-laneWarm), spending)
	if ended := cmd.Wait(); ended != nil || err != nil {
		return sample, fmt.Errorf("bare loop: %w\n%s", errors.Join(ended, err), out.Bytes())
	}
	sample.perSecond, sample.cpu, sample.takeCPU = count.perSecond, count.spent[pid], count.taking
	return sample, nil
}
