// SPDX-License-Identifier: Apache-2.0
// server CERTIFICATE KEY PORT: HTTPS, by Go's own TLS; /missing/… is not there.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if strings.HasPrefix(r.URL.Path, "/missing") {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, "hello\n")
	})
	log.Fatal(http.ListenAndServeTLS("127.0.0.1:"+os.Args[3], os.Args[1], os.Args[2], nil))
}
