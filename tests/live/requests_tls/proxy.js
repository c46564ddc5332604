// SPDX-License-Identifier: Apache-2.0
// proxy.js UPSTREAM CERTIFICATE KEY PORT: HTTPS, which asks the same of another server, over TLS, too, and passes its answer on.
const fs = require("fs");
const https = require("https");

const [upstream, certificate, key, port] = process.argv.slice(2);
const options = { cert: fs.readFileSync(certificate), key: fs.readFileSync(key) };
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });

const server = https.createServer(options, (request, response) => {
	const ask = { agent, host: "127.0.0.1", port: Number(upstream), path: request.url, method: request.method,
		headers: request.headers };
	const asked = https.request(ask, (answer) => {
		response.writeHead(answer.statusCode, { "Content-Length": answer.headers["content-length"] });
		answer.pipe(response);
	});
	request.pipe(asked);
});
server.keepAliveTimeout = 120000; // connections are older than the recording
server.listen(Number(port), "127.0.0.1");
