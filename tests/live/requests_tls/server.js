// SPDX-License-Identifier: Apache-2.0
// server.js CERTIFICATE KEY PORT: HTTPS; /missing/… is not there.
const fs = require("fs");
const https = require("https");

const [certificate, key, port] = process.argv.slice(2);
const options = { cert: fs.readFileSync(certificate), key: fs.readFileSync(key) };

const server = https.createServer(options, (request, response) => {
	request.resume();
	request.on("end", () => {
		response.statusCode = request.url.startsWith("/missing") ? 404 : 200;
		response.setHeader("Content-Length", 6);
		response.end("hello\n");
	});
});
server.keepAliveTimeout = 120000; // connections are older than the recording
server.listen(Number(port), "127.0.0.1");
