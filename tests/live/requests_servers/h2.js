// SPDX-License-Identifier: Apache-2.0
// h2.js serve PORT: HTTP/2 without TLS.
// h2.js ask PORT REQUESTS: over one connection, 8 at a time; prints how many were answered.
const http2 = require("http2");
const [what, port, requests] = process.argv.slice(2);
const secret = "hunter2secret";

function serve() {
	const server = http2.createServer();
	server.on("stream", (stream) => {
		stream.resume();
		stream.on("end", () => {
			stream.respond({ ":status": 200 });
			stream.end("hello\n");
		});
	});
	server.listen(Number(port), "127.0.0.1");
}

function ask() {
	const session = http2.connect(`http://127.0.0.1:${port}`);
	let begun = 0, answered = 0;

	function next() {
		if (begun === Number(requests)) {
			if (answered === begun) session.close(() => console.log(answered));
			return;
		}
		begun++;
		const stream = session.request({ ":method": "POST", ":path": `/items/4711?token=${secret}`, cookie: secret });
		stream.on("response", (headers) => { answered += headers[":status"] === 200; });
		stream.resume();
		stream.on("end", next);
		stream.end(`password=${secret}`);
	}
	for (let i = 0; i < 8; i++) next();
}

if (what === "serve") serve();
else ask();
