// SPDX-License-Identifier: Apache-2.0
//
// server.js PORT: /catalog parses 6 MB of JSON in one callback, /health does nothing. It writes how long its loop was
// busy at a stretch: between two times at which it waited for events, by its own count of idle time.
const fs = require('fs');
const http = require('http');
const {performance} = require('perf_hooks');

const rows = Array.from({length: 60000}, (_, i) => ({id: i, name: 'user' + i, tags: ['a', 'b', 'c'], score: i * 1.5}));
const catalog = JSON.stringify(rows.concat(rows));
const truth = fs.openSync(process.env.TRUTH, 'a');
let began = 0, idle = 0;

fs.writeSync(truth, `- pid ${process.pid}\n`);

function parseCatalog() {
	return JSON.parse(catalog).length;
}

// At each request: if the loop was idle since the last one, a stretch has ended when it became idle.
function noteStretch() {
	const now = Number(process.hrtime.bigint());
	const total = performance.eventLoopUtilization().idle * 1e6;

	if (total - idle < 1000)
		return;
	const end = Math.round(now - (total - idle));
	if (end - began >= 10e6)
		fs.writeSync(truth, `${end} !turn ${end - began}\n`);
	began = now;
	idle = total;
}

http.createServer((request, response) => {
	noteStretch();
	response.end(request.url === '/catalog' ? String(parseCatalog()) : 'ok');
}).listen(Number(process.argv[2]), '127.0.0.1');
