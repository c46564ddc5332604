// SPDX-License-Identifier: Apache-2.0
// server.js MODEL UPSTREAM_PORT PORT: asks its upstream, then answers.
//   sequential  two calls, one after the other
//   fanout      three calls at the same time
//   timers      a call, with a random timer before and after it
//   few         two calls, one after the other, on 8 connections: most calls wait for a connection
//   ticks       the same as sequential; a timer makes calls of its own, with the id 0, for no request
const http = require("http");

const [model, upstream, port] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const agent = new http.Agent({keepAlive: true, maxSockets: model === "few" ? 8 : 256});

function call(path, number) {
	return new Promise((resolve, reject) => {
		http.get({port: upstream, host: "127.0.0.1", path: `${path}?call=${number}`, agent}, (response) => {
			response.resume();
			response.on("end", resolve);
		}).on("error", reject);
	});
}

const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 6));

async function work(path) {
	if (model === "timers") {
		await pause();
		await call(path, 0);
		await pause();
	} else if (model === "fanout") {
		await Promise.all([0, 1, 2].map((number) => call(path, number)));
	} else {
		await call(path, 0);
		await call(path, 1);
	}
}

if (model === "ticks") setInterval(() => call("/tick/0", 0).catch(console.error), 3);

http.createServer((request, response) => {
	request.resume();
	request.on("end", () => work(request.url).then(() => response.end("hello\n"), (error) => {
		console.error(error);
		response.writeHead(502).end();
	}));
}).listen(port, "127.0.0.1");
