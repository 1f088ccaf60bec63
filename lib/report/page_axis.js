// SPDX-License-Identifier: MIT
// Figures as text, and the way from a time to its place.
const FOLD = 0.04; // part of the width that a folded sleep takes
const NS = (() => {
	const d = document.createElement('div');
	d.innerHTML = '<svg></svg>';
	return d.firstChild.namespaceURI;
})();

function svg(tag, attrs, text) {
	const e = document.createElementNS(NS, tag);
	for (const k in attrs) e.setAttribute(k, attrs[k]);
	if (text !== undefined) e.textContent = text;
	return e;
}

// ---- figures ----
const minus = (s) => s.replace('-', '−');
// Nanoseconds as ms, to the microsecond: that of an interval's end is rounded outwards.
const trimmed = (ms) => minus(ms.toFixed(3).replace(/\.?0+$/, ''));
const exact = (ns) => trimmed(ns / 1e6);
const below = (ns) => trimmed(Math.floor(ns / 1e3) / 1e3);
const above = (ns) => trimmed(Math.ceil(ns / 1e3) / 1e3);

// A length known between two bounds, ns.
function lengthText(lo, hi) {
	if (lo === null && hi === null) return 'unknown';
	if (lo === null) return 'at most ' + above(hi) + ' ms';
	if (hi === null) return 'at least ' + below(lo) + ' ms';
	if (hi - lo <= 2000) return exact((lo + hi) / 2) + ' ms';
	const half = (hi - lo) / 2e6;
	const d = Math.max(0, Math.min(3, 1 - Math.floor(Math.log10(half))));
	return minus(((lo + hi) / 2e6).toFixed(d)) + ' ± ' + (Math.ceil(half * 10 ** d) / 10 ** d).toFixed(d) +
		' ms, between ' + below(lo) + ' and ' + above(hi);
}
// Joules with their standard uncertainty over so many seconds; what stands after ± is k = 2.
function energyText(joules, u, seconds) {
	const with2 = (v, w) => {
		const d = Math.max(0, Math.min(4, 1 - Math.floor(Math.log10(2 * w))));
		return v.toFixed(d) + ' ± ' + (2 * w).toFixed(d);
	};
	if (!(u > 0)) return joules + ' J';
	return with2(joules, u) + ' J, ' + with2(joules / seconds, u / seconds) + ' W';
}
// A moment, us from the cycle's zero.
const momentText = (us) => (us > 0 ? '+' : '') + exact(us * 1000) + ' ms';

function tickText(us, step) {
	if (Math.abs(us) < step / 2) return '0';
	const ms = step < 1e6;
	const v = Math.abs(us) / (ms ? 1e3 : 1e6);
	const d = Math.max(0, -Math.floor(Math.log10(step / (ms ? 1e3 : 1e6)) + 1e-9));
	return (us < 0 ? '−' : '+') + v.toFixed(d) + (ms ? ' ms' : ' s');
}

// ---- axis: time to place, 0..1 ----
class Axis {
	constructor(c, folded) {
		[this.lo, this.hi] = c.ax;
		this.folds = c.ax.length > 2;
		this.folded = this.folds && folded;
		if (this.folds) [this.f0, this.f1, this.asleep] = c.ax.slice(2);
		this.rest = Math.max(1, this.hi - this.lo - (this.folded ? this.f1 - this.f0 : 0));
		this.live = this.folded ? 1 - FOLD : 1;
		this.before = this.folded ? (this.f0 - this.lo) / this.rest * this.live : 1;
	}
	// A moment in words: before a folded sleep from when it began.
	when(t) {
		if (this.folded && t <= this.f0 && this.asleep) return momentText(t - this.asleep) + ' from falling asleep';
		return momentText(t);
	}
	u(t) {
		if (!this.folded || t <= this.f0) return (t - this.lo) / this.rest * this.live;
		if (t >= this.f1) return this.before + FOLD + (t - this.f1) / this.rest * this.live;
		return this.before + (t - this.f0) / (this.f1 - this.f0) * FOLD;
	}
	t(u) {
		if (!this.folded || u <= this.before) return this.lo + u / this.live * this.rest;
		if (u >= this.before + FOLD) return this.f1 + (u - this.before - FOLD) / this.live * this.rest;
		return this.f0 + (u - this.before) / FOLD * (this.f1 - this.f0);
	}
}
