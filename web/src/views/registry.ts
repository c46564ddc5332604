// SPDX-License-Identifier: Apache-2.0
//
// The tabs, in their order: one row a view. A view that only shows tables needs nothing but its row.
import { flameView } from "./flame";
import { latencyView } from "./latency";
import { rawView } from "./raw";
import { requestsView } from "./requests";
import { tablesView } from "./tables";
import { timelineView } from "./timeline";
import type { View } from "./view";
import { waitsView } from "./waits";

export const VIEWS: readonly View[] = [
	flameView,
	timelineView,
	waitsView,
	requestsView,
	latencyView,
	tablesView("locks", "Locks"),
	tablesView("disks", "Disks & files"),
	tablesView("network", "Network"),
	rawView,
];
