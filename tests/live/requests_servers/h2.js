// SPDX-License-Identifier: Apache-2.0
// h2.js serve PORT: HTTP/2 without TLS.
// h2.js ask PORT REQUESTS [FIRST]: over one connection, 8 at a time. With FIRST it asks so many before the others, prints
// "ready", and goes on with a line on its standard input. Prints, of the others, how many of each kind were answered.
// h2.js leave PORT: asks what is never answered: takes one back, and leaves with one.
const http2 = require("http2");
const [what, port, requests, first] = process.argv.slice(2);
const secret = "hunter2secret";

// What is asked in turn: path, method, and what the client is to count it as.
const kinds = [
	["item", "POST", `/items/4711?token=${secret}`],
	["page", "GET", `/pages/front?token=${secret}`],
	["fail", "GET", `/fail?token=${secret}`],
	["rpc", "POST", "/shop.v1.InventoryAndShippingService/AddItem2"],
	["refused", "POST", "/shop.v1.InventoryAndShippingService/Refuse"],
];

function answer(stream, path, type) {
	if (path.startsWith("/never")) return;
	if (type === "application/grpc") {
		stream.respond({ ":status": 200, "content-type": type }, { waitForTrailers: true });
		stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": path.endsWith("Refuse") ? "7" : "0" }));
		stream.end(Buffer.alloc(5));
		return;
	}
	stream.respond({ ":status": path.startsWith("/fail") ? 503 : 200 });
	stream.end("hello\n");
}

function serve() {
	const server = http2.createServer();
	server.on("stream", (stream, headers) => {
		stream.on("error", () => {});
		stream.resume();
		stream.on("end", () => answer(stream, headers[":path"], headers["content-type"]));
	});
	server.on("sessionError", () => {});
	server.listen(Number(port), "127.0.0.1");
}

function ask(session, path, method, type, done) {
	const headers = { ":method": method, ":path": path, cookie: secret, "x-request-id": String(Math.random()) };
	let status, trailer = "";
	if (type) headers["content-type"] = type;
	const stream = session.request(headers, { endStream: method === "GET" });
	stream.on("response", (received) => { status = received[":status"]; });
	stream.on("trailers", (received) => { trailer = received["grpc-status"]; });
	stream.resume();
	stream.on("end", () => done(status, trailer));
	if (method !== "GET") stream.end(`password=${secret}`);
}

// count requests, 8 at a time
function askAll(session, count, done) {
	const answered = {};
	let begun = 0, ended = 0;

	function next() {
		if (begun === count) return;
		const [name, method, path] = kinds[begun++ % kinds.length];
		ask(session, path, method, path.startsWith("/shop") ? "application/grpc" : "", (status, trailer) => {
			const wanted = { fail: "503", rpc: "2000", refused: "2007" }[name] || "200";
			answered[name] = (answered[name] || 0) + (`${status}${trailer}` === wanted);
			if (++ended === count) done(answered);
			else next();
		});
	}
	for (let i = 0; i < 8; i++) next();
}

function told(session, answered) {
	session.close(() => console.log(kinds.map(([name]) => answered[name]).join(" ")));
}

function leave(session) {
	const stream = session.request({ ":path": "/never" });
	session.request({ ":path": "/never/mind" }).on("error", () => {});
	stream.on("error", () => {});
	setTimeout(() => stream.close(http2.constants.NGHTTP2_CANCEL), 200);
	setTimeout(() => session.destroy(), 400);
}

if (what === "serve") {
	serve();
} else {
	const session = http2.connect(`http://127.0.0.1:${port}`);
	if (what === "leave") {
		leave(session);
	} else if (!first) {
		askAll(session, Number(requests), (answered) => told(session, answered));
	} else {
		askAll(session, Number(first), () => {
			console.log("ready");
			process.stdin.once("data", () => {
				process.stdin.destroy();
				askAll(session, Number(requests), (answered) => told(session, answered));
			});
		});
	}
}
