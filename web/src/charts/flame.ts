// SPDX-License-Identifier: Apache-2.0
//
// The flame graph, on a canvas of our own. d3-flame-graph makes an SVG element a box: 100,000 of them take seconds to
// lay out and hundreds of megabytes. Here a box that is narrower than half a pixel is not laid out at all, so
// the cost depends on the screen and not on the session. Callers come first; the widest callee is on the left.
import { changeColour, look, textOn } from "../colours";
import { theme } from "../ui/theme";
import { fitText, FONT, ink, prepare } from "./canvas";

/** A tree of calls: parents come before their children. */
export interface FlameTree {
	parent: ArrayLike<number>;
	nodes: number;
	label(node: number): string;
	look(node: number): string;
}

/** Weights of one tree: one of the roots of the picture, such as a state; label and colour of its first box. */
export interface FlameLayer {
	title: string;
	colour: string;
	/** By node, with all that it called. */
	total: Float64Array;
	sum: number;
}

export interface FlameState {
	isIcicle: boolean;
	/** By node, 1 where the search string matches; null without one. */
	matches: Uint8Array | null;
	/** By node, the change of its share against the baseline, -1 to 1; null without one. */
	change: Float64Array | null;
}

export interface Box {
	layer: number;
	/** -1 is the layer itself. */
	node: number;
}

export const BOX_HEIGHT = 18;
const MIN_WIDTH = 0.5;
const MAX_DEPTH = 400;
const MAX_BOXES = 200_000;

/** First child and next sibling of each node: made once a tree. */
export class Children {
	readonly first: Int32Array;
	readonly next: Int32Array;
	readonly roots: number[] = [];

	constructor(tree: { parent: ArrayLike<number>; nodes: number }) {
		this.first = new Int32Array(tree.nodes).fill(-1);
		this.next = new Int32Array(tree.nodes).fill(-1);
		for (let node = tree.nodes - 1; node >= 0; node--) {
			const parent = tree.parent[node];
			if (parent < 0) this.roots.push(node);
			else {
				this.next[node] = this.first[parent];
				this.first[parent] = node;
			}
		}
	}
}

export class Flame {
	readonly canvas = document.createElement("canvas");
	private boxLayer = new Int32Array(0);
	private boxNode = new Int32Array(0);
	private boxX = new Float32Array(0);
	private boxWidth = new Float32Array(0);
	private boxDepth = new Int32Array(0);
	private boxes = 0;
	private depth = 0;
	/** What did not fit in the boxes of a picture. */
	hidden = 0;

	private layers: FlameLayer[] = [];
	private state: FlameState = { isIcicle: true, matches: null, change: null };
	private zoom: Box | null = null;

	constructor(
		private readonly tree: FlameTree,
		private readonly children: Children,
	) {
		this.canvas.className = "flame";
	}

	get zoomed(): Box | null {
		return this.zoom;
	}

	show(layers: FlameLayer[], state: FlameState, zoom: Box | null): void {
		this.layers = layers;
		this.state = state;
		this.zoom =
			zoom && layers[zoom.layer] && (zoom.node < 0 || layers[zoom.layer].total[zoom.node] > 0)
				? zoom
				: null;
		this.draw();
	}

	draw(): void {
		const width = this.canvas.parentElement?.clientWidth ?? 800;
		this.layout(width);
		this.paint(width);
		// Callers are what is read first: at the top of an icicle, at the bottom of a flame.
		const box = this.canvas.parentElement;
		if (box) box.scrollTop = this.state.isIcicle ? 0 : box.scrollHeight;
	}

	at(x: number, y: number): Box | null {
		const height = (this.depth + 1) * BOX_HEIGHT;
		const depth = Math.floor((this.state.isIcicle ? y : height - y) / BOX_HEIGHT);
		for (let i = 0; i < this.boxes; i++)
			if (this.boxDepth[i] === depth && x >= this.boxX[i] && x < this.boxX[i] + this.boxWidth[i])
				return { layer: this.boxLayer[i], node: this.boxNode[i] };
		return null;
	}

	private put(layer: number, node: number, x: number, width: number, depth: number): boolean {
		if (this.boxes >= MAX_BOXES || depth > MAX_DEPTH) {
			this.hidden++;
			return false;
		}
		if (this.boxes >= this.boxNode.length) this.grow();
		const i = this.boxes++;
		this.boxLayer[i] = layer;
		this.boxNode[i] = node;
		this.boxX[i] = x;
		this.boxWidth[i] = width;
		this.boxDepth[i] = depth;
		if (depth > this.depth) this.depth = depth;
		return true;
	}

	private grow(): void {
		const size = Math.max(4096, this.boxNode.length * 2);
		const copy = <T extends Int32Array | Float32Array>(made: T, from: T): T => {
			made.set(from);
			return made;
		};
		this.boxLayer = copy(new Int32Array(size), this.boxLayer);
		this.boxNode = copy(new Int32Array(size), this.boxNode);
		this.boxX = copy(new Float32Array(size), this.boxX);
		this.boxWidth = copy(new Float32Array(size), this.boxWidth);
		this.boxDepth = copy(new Int32Array(size), this.boxDepth);
	}

	private layout(width: number): void {
		this.boxes = this.depth = this.hidden = 0;
		const { zoom } = this;
		if (zoom) {
			const layer = this.layers[zoom.layer];
			const path: number[] = [];
			for (let node = zoom.node; node >= 0; node = this.tree.parent[node]) path.push(node);
			this.put(zoom.layer, -1, 0, width, 0);
			path.reverse().forEach((node, i) => this.put(zoom.layer, node, 0, width, i + 1));
			const inside = zoom.node < 0 ? layer.sum : layer.total[zoom.node];
			this.callees(zoom.layer, zoom.node, 0, width / inside, path.length);
			return;
		}
		const sum = this.layers.reduce((all, layer) => all + layer.sum, 0);
		let x = 0;
		this.layers.forEach((layer, i) => {
			const w = sum > 0 ? (layer.sum / sum) * width : 0;
			if (w >= MIN_WIDTH && this.put(i, -1, x, w, 0)) this.callees(i, -1, x, width / sum, 0);
			x += w;
		});
	}

	/** Lays out what a node called, widest first. */
	private callees(layer: number, node: number, x: number, scale: number, depth: number): void {
		const { total } = this.layers[layer];
		const wide: number[] = [];
		if (node < 0) {
			for (const root of this.children.roots) if (total[root] * scale >= MIN_WIDTH) wide.push(root);
		} else
			for (let child = this.children.first[node]; child >= 0; child = this.children.next[child])
				if (total[child] * scale >= MIN_WIDTH) wide.push(child);
		if (wide.length > 1) wide.sort((a, b) => total[b] - total[a]);
		for (const child of wide) {
			const w = total[child] * scale;
			if (this.put(layer, child, x, w, depth + 1)) this.callees(layer, child, x, scale, depth + 1);
			x += w;
		}
	}

	private paint(width: number): void {
		const height = (this.depth + 1) * BOX_HEIGHT;
		const context = prepare(this.canvas, width, height);
		const colours = ink();
		const mode = theme();
		const { matches, change, isIcicle } = this.state;
		const palette = new Map<string, [string, string]>();
		const paletteOf = (name: string): [string, string] => {
			let pair = palette.get(name);
			if (!pair) {
				const fill = look(name)[mode];
				pair = [fill, textOn(fill)];
				palette.set(name, pair);
			}
			return pair;
		};
		context.font = `12px ${FONT}`;
		context.textBaseline = "middle";
		for (let i = 0; i < this.boxes; i++) {
			const node = this.boxNode[i];
			const x = this.boxX[i];
			const w = this.boxWidth[i];
			const y = isIcicle ? this.boxDepth[i] * BOX_HEIGHT : height - (this.boxDepth[i] + 1) * BOX_HEIGHT;
			let [fill, text] =
				node < 0 ? [this.layers[this.boxLayer[i]].colour, ""] : paletteOf(this.tree.look(node));
			if (node >= 0 && change) fill = changeColour(change[node], mode);
			if (!text || change) text = textOn(fill);
			const isMatch = node >= 0 && matches?.[node];
			context.globalAlpha = matches && !isMatch && node >= 0 ? 0.35 : 1;
			context.fillStyle = fill;
			context.fillRect(x, y, Math.max(MIN_WIDTH, w - (w > 3 ? 1 : 0)), BOX_HEIGHT - 1);
			if (isMatch) {
				context.fillStyle = colours.accent;
				context.fillRect(x, y + BOX_HEIGHT - 4, Math.max(1, w - 1), 3);
			}
			if (w > 24) {
				const label = fitText(
					context,
					node < 0 ? this.layers[this.boxLayer[i]].title : this.tree.label(node),
					w - 8,
				);
				context.globalAlpha = matches && !isMatch && node >= 0 ? 0.6 : 1;
				context.fillStyle = text;
				if (label) context.fillText(label, x + 4, y + BOX_HEIGHT / 2);
			}
		}
		context.globalAlpha = 1;
	}
}
