// SPDX-License-Identifier: Apache-2.0
// What a flame graph does in a browser: hover, zoom, search, keys. It reads the drawing alone: data-x
// and data-w are shares of the panel, data-p is the number of its caller's box, and the first line of a
// box's title is its name. Without this script the drawing stands, and titles show on hover.
"use strict";
(function () {
	const svg = document.documentElement;
	const LEFT = 10, COLUMN = 6.63, LEAST = 480;
	let width = 1180;
	const boxes = Array.from(svg.querySelectorAll(".f"), function (g) {
		const title = g.querySelector("title").textContent;
		return {
			g: g, rect: g.querySelector("rect"), text: g.querySelector("text"),
			name: title.split("\n")[0], lines: title.split("\n"),
			x: +g.dataset.x, w: +g.dataset.w,
			parent: g.dataset.p === "" ? -1 : +g.dataset.p, panel: g.parentNode,
		};
	});
	const children = boxes.map(function () { return []; });
	boxes.forEach(function (box, i) {
		if (box.parent >= 0)
			children[box.parent].push(i);
		box.number = i;
	});
	const details = svg.querySelector(".details"), hint = svg.querySelector(".hint");
	const input = svg.querySelector("input"), head = svg.querySelector(".head");
	const field = svg.querySelector("foreignObject"), note = svg.querySelector(".head .note");
	const targets = new Map(); // of panels: the box that is zoomed to
	let focused = -1, matches = [], at = -1;

	function cut(text, columns) {
		if (columns < 3)
			return "";
		for (let i = 0; text.length > columns && i < 8; i++) // template arguments tell least
			text = text.replace(/<(?!…>)(?:[^<>]|<…>)+>/g, "<…>");
		return text.length <= columns ? text : text.slice(0, columns - 1) + "…";
	}

	function place(box, x, w) {
		const px = LEFT + x * width, pw = w * width;
		box.rect.setAttribute("x", px.toFixed(2));
		box.rect.setAttribute("width", (pw - Math.min(0.6, pw / 5)).toFixed(2));
		box.text.setAttribute("x", (px + 3).toFixed(2));
		box.text.textContent = cut(box.name, Math.floor((pw - 6) / COLUMN));
	}

	function zoom(target) {
		targets.set(target.panel, target);
		boxes.forEach(function (box) {
			if (box.panel !== target.panel)
				return;
			const x = (box.x - target.x) / target.w, w = box.w / target.w;
			const left = Math.max(x, 0), right = Math.min(x + w, 1);
			const isOut = right - left <= 1e-9;
			const isAround = box.w > target.w * (1 + 1e-9);
			box.g.classList.toggle("hidden", isOut);
			box.g.classList.toggle("dim", isAround && !isOut);
			if (!isOut)
				place(box, left, right - left);
		});
	}

	// As wide as the window. Where note and hint have no room side by side, what was found is shown.
	function fit() {
		svg.removeAttribute("viewBox");
		svg.setAttribute("width", "100%");
		const all = Math.max(svg.getBoundingClientRect().width, LEAST);
		svg.setAttribute("width", all);
		width = all - 2 * LEFT;
		svg.querySelectorAll(".wide").forEach(function (rect) {
			rect.setAttribute("width", all);
		});
		field.setAttribute("width", Math.min(400, all / 2));
		field.setAttribute("x", all - LEFT - field.getAttribute("width"));
		hint.setAttribute("x", all - LEFT);
		const isTight = (note.textContent.length + hint.textContent.length + 3) * COLUMN > width;
		const isSearching = svg.classList.contains("searching");
		hint.classList.toggle("hidden", isTight && !isSearching);
		note.classList.toggle("hidden", isTight && isSearching);
		Array.from(targets.values()).forEach(zoom);
	}

	function show(box) {
		const last = box.lines.length - 1; // how much: before what may be long
		details.textContent = cut([box.lines[last]].concat(box.lines.slice(0, last)).join("   "),
			Math.floor(width / COLUMN));
	}

	function reset() {
		boxes.filter(function (box) { return box.parent < 0; }).forEach(zoom);
		details.textContent = "";
	}

	function focus(number) {
		if (number === undefined || number < 0)
			return;
		if (focused >= 0)
			boxes[focused].g.setAttribute("tabindex", "-1");
		focused = number;
		if (boxes[number].g.classList.contains("hidden"))
			zoom(boxes[number]);
		show(boxes[number]);
		boxes[number].g.setAttribute("tabindex", "0");
		boxes[number].g.focus();
		show(boxes[number]);
	}

	function matcher(query) {
		const flags = /[A-Z]/.test(query) ? "" : "i";
		try {
			const pattern = new RegExp(query, flags);
			return function (name) { return pattern.test(name); };
		} catch (error) { // no regular expression: as it stands
			const plain = query.toLowerCase();
			return function (name) { return name.toLowerCase().includes(plain); };
		}
	}

	// What is below a match is in it: each share counts once.
	function search(query) {
		const fits = query ? matcher(query) : null, inside = [], sums = new Map();
		matches = [];
		boxes.forEach(function (box, i) {
			const isMatch = !!fits && box.parent >= 0 && fits(box.name);
			inside[i] = box.parent >= 0 && inside[box.parent];
			if (isMatch && !inside[i])
				sums.set(box.panel, (sums.get(box.panel) || 0) + box.w);
			inside[i] = inside[i] || isMatch;
			box.g.classList.toggle("match", isMatch);
			if (isMatch)
				matches.push(i);
		});
		svg.classList.toggle("searching", !!fits);
		at = -1;
		hint.textContent = !fits ? hint.dataset.text : matches.length + (matches.length === 1 ? " box matches" : " boxes match") +
			Array.from(sums, function (pair) {
				return ", " + (100 * pair[1]).toFixed(1) + " % of " + pair[0].dataset.kind;
			}).join("");
		fit();
	}

	function next(step) {
		if (!matches.length)
			return;
		at = (at + step + matches.length) % matches.length;
		focus(matches[at]);
	}

	function sibling(step) {
		const box = boxes[focused];
		const all = box.parent < 0 ? boxes.filter(function (b) { return b.parent < 0; })
			.map(function (b) { return b.number; }) : children[box.parent];
		focus(all[all.indexOf(focused) + step]);
	}

	const keys = {
		ArrowDown: function () { focus(children[focused][0]); },
		ArrowUp: function () { focus(boxes[focused].parent); },
		ArrowLeft: function () { sibling(-1); },
		ArrowRight: function () { sibling(1); },
		Enter: function () { zoom(boxes[focused]); },
		" ": function () { zoom(boxes[focused]); },
		n: function () { next(1); },
		N: function () { next(-1); },
		Escape: function () { input.value = ""; search(""); reset(); },
	};

	svg.addEventListener("keydown", function (event) {
		if ((event.key === "f" && (event.ctrlKey || event.metaKey)) ||
		    (event.key === "/" && event.target !== input)) {
			input.focus();
			input.select();
			event.preventDefault();
		} else if (event.target === input) {
			if (event.key === "Enter")
				next(event.shiftKey ? -1 : 1);
			else if (event.key === "Escape")
				keys.Escape();
		} else if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
			if (focused < 0 && event.key.startsWith("Arrow"))
				focus(0);
			else if (focused >= 0 || event.key === "Escape" || event.key.toLowerCase() === "n")
				keys[event.key]();
			event.preventDefault();
		}
	});
	boxes.forEach(function (box, i) {
		box.g.addEventListener("click", function () { focus(i); zoom(box); });
		box.g.addEventListener("mouseenter", function () { show(box); });
		box.g.addEventListener("focus", function () { focused = i; show(box); });
	});
	input.addEventListener("input", function () { search(input.value); });
	svg.querySelector("button").addEventListener("click", keys.Escape);
	// The head stays in view when a deep graph is scrolled.
	window.addEventListener("scroll", function () {
		head.setAttribute("transform", "translate(0," + Math.max(window.scrollY, 0) + ")");
	});
	window.addEventListener("resize", fit);
	svg.classList.add("live");
	reset();
	fit();
}());
