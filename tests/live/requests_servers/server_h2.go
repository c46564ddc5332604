// SPDX-License-Identifier: Apache-2.0
// server_h2 PORT: HTTP/2 without TLS, and as gRPC does: what h2.js asks. net/http alone has it over TLS only.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
)

func call(w http.ResponseWriter, r *http.Request) {
	status := "0"
	if strings.HasSuffix(r.URL.Path, "Refuse") {
		status = "7"
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "grpc-status")
	w.Write(make([]byte, 5))
	w.Header().Set("grpc-status", status)
}

func main() {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch {
		case r.Header.Get("Content-Type") == "application/grpc":
			call(w, r)
		case strings.HasPrefix(r.URL.Path, "/fail"):
			w.WriteHeader(503)
		default:
			io.WriteString(w, "hello\n")
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], h2c.NewHandler(handler, &http2.Server{})))
}
