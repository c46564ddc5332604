// SPDX-License-Identifier: Apache-2.0
// server PORT: /wait answers after 2 ms; anything else at once.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if strings.HasPrefix(r.URL.Path, "/wait") {
			time.Sleep(2 * time.Millisecond)
		}
		io.WriteString(w, "hello\n")
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
