// SPDX-License-Identifier: Apache-2.0
// server.js PORT: /wait answers after 20 ms, by a timer; anything else at once.
const http = require("http");

http.createServer((request, response) => {
	request.resume();
	request.on("end", () => {
		if (request.url.startsWith("/wait")) setTimeout(() => response.end("hello\n"), 20);
		else response.end("hello\n");
	});
}).listen(Number(process.argv[2]), "127.0.0.1");
