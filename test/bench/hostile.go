//go:build linux

package main

import (
	"bytes"
	"net"
	"net/http"
	"time"
)

const badTLSPath = "/bad-tls" // it proves to be another address

// hostilePaths are the ways in which receivers are hostile.
var hostilePaths = []string{"/hang", "/drip", "/huge", "/reset", badTLSPath, "/redirect"}

func hostilePath(number int) string { return hostilePaths[number%len(hostilePaths)] }

var hostilities = map[string]func(http.ResponseWriter, *http.Request){
	"/hang":  func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() },
	"/drip":  drip,
	"/huge":  huge,
	"/reset": reset,
	"/redirect": func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Location", "/elsewhere")
		rw.WriteHeader(http.StatusFound)
	},
}

// drip answers 200 and then a byte now and then, until nobody listens.
func drip(rw http.ResponseWriter, request *http.Request) {
	flusher := http.NewResponseController(rw)
	for {
		if _, err := rw.Write([]byte{'.'}); err != nil || flusher.Flush() != nil {
			return
		}
		select {
		case <-request.Context().Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

var megabyte = bytes.Repeat([]byte("x"), 1<<20)

// huge answers 200 and ten megabytes.
func huge(rw http.ResponseWriter, _ *http.Request) {
	for range 10 {
		if _, err := rw.Write(megabyte); err != nil {
			return
		}
	}
}

// reset hangs up without a word.
func reset(rw http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		return
	}
	if raw, ok := conn.(interface{ NetConn() net.Conn }); ok {
		if tcp, ok := raw.NetConn().(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
			_ = tcp.Close()
			return
		}
	}
	_ = conn.Close()
}
