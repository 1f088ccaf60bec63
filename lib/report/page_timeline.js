// SPDX-License-Identifier: MIT
// Time line of one cycle: bytes, events, phases, devices, watts on one axis, to zoom and pan.
const ROW = {tick: 20, caption: 15, event: 14, serial: 28, phase: 22, lane: 18, watts: 84, gap: 7};

class TimeLine {
	constructor(root, data) {
		this.data = data;
		this.name = (i) => data.names[i];
		this.foldOn = true;
		this.find = '';
		this.onshow = () => {};
		this.build(root);
		this.listen();
	}

	build(root) {
		const button = (text, label, f) => el('button', {type: 'button', 'aria-label': label, title: label,
			onclick: f}, text);
		const step = (d) => this.show(Math.max(0, Math.min(this.data.cycles.length - 1, this.i + d)));
		this.number = el('input', {type: 'number', 'aria-label': 'number of the cycle', id: 'cycle-number',
			onchange: () => {
				const i = this.data.cycles.findIndex((c) => c.n === Number(this.number.value));
				if (i >= 0) this.show(i);
				else this.number.value = this.data.cycles[this.i].n;
			}});
		const picks = this.data.chosen.map((i, k) => el('option', {value: i}, (k === 0 && this.data.typical
			? 'typical: ' : 'worst: ') + this.data.cycles[i].n));
		this.pick = el('select', {'aria-label': 'cycles worth a look', onchange: () => {
			if (this.pick.value !== '') this.show(Number(this.pick.value));
		}}, el('option', {value: ''}, 'worth a look'), ...picks);
		this.foldBox = el('input', {type: 'checkbox', checked: true, id: 'fold', onchange: () => {
			this.foldOn = this.foldBox.checked;
			this.reset();
		}});
		this.foldLabel = el('label', {}, this.foldBox, 'sleep folded');
		this.search = el('input', {type: 'search', id: 'find', placeholder: 'find a device',
			'aria-label': 'mark devices with these words', oninput: () => {
				this.find = this.search.value.trim().toLowerCase();
				this.draw();
				this.filterRows();
			}});
		root.append(el('div', {class: 'bar', role: 'toolbar', 'aria-label': 'time line'},
			el('span', {class: 'group'}, button('‹', 'cycle before', () => step(-1)), this.number,
				button('›', 'next cycle', () => step(1)), this.pick),
			el('span', {class: 'group'}, button('+', 'zoom in', () => this.zoom(0.5, 0.5)),
				button('−', 'zoom out', () => this.zoom(2, 0.5)),
				button('all', 'whole cycle', () => this.reset())), this.foldLabel, this.search));
		this.said = el('p', {class: 'said', role: 'status'});
		this.chart = el('div', {id: 'chart', tabindex: '0', role: 'group', 'aria-describedby': 'keys',
			'aria-label': 'time line: arrows move, plus and minus zoom, 0 shows all'});
		this.svg = svg('svg', {class: 'bars', width: '100%', role: 'img'});
		this.chart.append(this.svg);
		this.key = el('div', {class: 'key', 'aria-hidden': 'true'});
		this.below = el('div', {});
		this.tip = el('div', {id: 'tip', role: 'tooltip', hidden: true});
		root.append(this.said, this.chart, this.key, el('p', {class: 'quiet', id: 'keys'},
			'Drag or arrow keys move, wheel, pinch or + and − zoom, 0 shows all, page up and page down ' +
			'change the cycle; a double click on a bar fills the width with it.'), this.below);
		document.body.append(this.tip);
		this.legend();
	}

	legend() {
		const item = (cls, text) => {
			const s = svg('svg', {width: 18, height: 12, class: 'bars'});
			const g = svg('g', {class: cls});
			g.append(svg('rect', {x: 1, y: 1, width: 16, height: 10}));
			s.append(g);
			return el('span', {}, s, text);
		};
		if (this.data.cycles.some((c) => c.dv))
			this.key.append(item('ph down', 'phases on the way down'), item('ph up', 'and up'),
				item('dev', 'device'), item('dev async', 'asynchronous'),
				item('dev crit', 'on the critical path'), item('dev err', 'failed (×)'),
				item('fix', 'without what the console cost'));
	}

	show(i) {
		const c = this.data.cycles[i];
		this.i = i;
		this.c = c;
		this.number.value = c.n;
		this.pick.value = this.data.chosen.includes(i) ? i : '';
		this.foldLabel.hidden = c.ax.length < 4 || c.ax[3] === c.ax[2];
		this.reset();
		this.tables();
		this.onshow(c);
	}

	say() {
		const c = this.c, f = this.data.figures[this.data.main];
		const v = c.v.find((x) => x[0] === this.data.main);
		this.said.replaceChildren(el('b', {}, 'Cycle ' + c.n), ': ', el('span', {class: 'res ' +
			(c.g > 0 ? 'good' : c.g < 0 ? 'bad' : 'none')}, c.r), c.mode ? ' (' + c.mode + ')' : '',
			f && v ? ', ' + f.words + ' ' + lengthText(v[1], v[2]) : '', c.why ? '. ' + c.why : '',
			'. 0 is ' + c.z + (this.axis.folded && this.axis.asleep ? ' (left of the fold: falling asleep)' : '') + '.');
	}

	reset() {
		this.v = [0, 1];
		this.axis = new Axis(this.c, this.foldOn);
		this.say();
		this.draw();
	}

	zoom(by, at) {
		const w = this.v[1] - this.v[0];
		const to = Math.min(1, Math.max(2 / this.axis.rest, w * by));
		const from = this.v[0] + (w - to) * at;
		this.move(from, to);
	}
	move(from, width) {
		from = Math.max(0, Math.min(1 - width, from));
		this.v = [from, from + width];
		this.later();
	}
	later() {
		if (this.waiting) return;
		this.waiting = true;
		requestAnimationFrame(() => {
			this.waiting = false;
			this.draw();
		});
	}

	// ---- drawing ----
	x(t) {
		return (this.axis.u(t) - this.v[0]) / (this.v[1] - this.v[0]) * this.w;
	}
	seen(a, b) {
		return b >= 0 && a <= this.w;
	}
	caption(text) {
		this.body.append(svg('text', {x: 0, y: this.y + 11, class: 'cap'}, text));
		this.y += ROW.caption;
	}

	bar(cls, t0, t1, y, h, name, item) {
		let a = this.x(t0), b = Math.max(this.x(t1), a + 1.2);
		if (!this.seen(a, b)) return;
		const g = svg('g', {class: cls, 'data-k': this.items.push(item) - 1});
		a = Math.max(a, -5);
		b = Math.min(b, this.w + 5);
		g.append(svg('rect', {x: a, y, width: b - a, height: h}));
		const room = b - Math.max(a, 0);
		if (name && (room > 56 || room > 6.7 * name.length + 8)) {
			const box = svg('svg', {x: Math.max(a, 0), y, width: Math.max(0, room - 2), height: h});
			box.append(svg('text', {x: 4, y: h - 5}, name));
			g.append(box);
		}
		this.body.append(g);
	}

	draw() {
		const c = this.c;
		this.w = Math.max(50, this.svg.clientWidth || this.chart.clientWidth - 14);
		this.items = [];
		this.strips = [];
		this.body = document.createDocumentFragment();
		this.y = ROW.tick + (c.ev ? 3 * ROW.event : 0) + ROW.gap;
		for (const s of c.se) if (!s.unit) this.drawBytes(s);
		if (c.ph && c.ph.length) this.drawPhases();
		if (c.dv) this.drawDevices();
		if (c.ot) this.drawOthers();
		for (const s of c.se) if (s.unit) this.drawWatts(s);
		if (!this.items.length && !this.strips.length) {
			this.body.replaceChildren(svg('text', {x: 8, y: this.y + 10},
				'Its lines have no stamps: what took how long stands in the tables.'));
		}
		const over = this.body;
		this.body = document.createDocumentFragment();
		this.drawTicks();
		this.drawEvents();
		this.svg.replaceChildren(this.body, over);
		this.svg.setAttribute('height', this.y);
		this.svg.setAttribute('aria-label', 'time line of cycle ' + c.n + ', ' +
			this.axis.when(Math.round(this.axis.t(this.v[0]))) + ' to ' + this.axis.when(Math.round(this.axis.t(this.v[1]))));
		this.chart.dataset.cycle = c.n;
		this.chart.dataset.view = this.v.join(' ');
	}

	drawTicks() {
		const a = this.axis, from = a.t(this.v[0]), to = a.t(this.v[1]);
		const live = (this.v[1] - this.v[0]) / a.live * a.rest;
		const most = Math.max(3, Math.floor(this.w / 68));
		let step = 1;
		for (let k = 0; live / step > most; k++) step *= k % 3 === 1 ? 2.5 : 2;
		let last = -99;
		const put = (lo, hi, zero) => {
			for (let n = Math.ceil((lo - zero) / step); n * step + zero <= hi; n++) {
				const x = this.x(n * step + zero);
				this.body.append(svg('line', {class: n ? 'grid' : 'axis0', x1: x, x2: x, y1: ROW.tick, y2: this.y}));
				if (x - last < 60 || x < 18 || x > this.w - 18) continue;
				this.body.append(svg('text', {class: 'tick', x, y: 12, 'text-anchor': 'middle'},
					tickText(n * step, step)));
				last = x;
			}
		};
		if (!a.folded) return put(from, to, 0);
		put(from, Math.min(to, a.f0), a.asleep);
		put(Math.max(from, a.f1), to, 0);
		const x0 = this.x(a.f0), x1 = this.axis.folded ? (a.before + FOLD - this.v[0]) /
			(this.v[1] - this.v[0]) * this.w : x0;
		if (!this.seen(x0, x1)) return undefined;
		const g = svg('g', {class: 'fold', 'data-k': this.items.push(this.sleepItem()) - 1});
		g.append(svg('rect', {x: x0, y: ROW.tick, width: x1 - x0, height: this.y - ROW.tick}));
		this.body.append(g);
		return undefined;
	}

	// What is known of the sleep: how long, and what firmware says of its own part.
	sleepItem() {
		const a = this.axis, fw = this.c.fw || [], lines = [];
		const slept = this.c.v.find((v) => this.data.figures[v[0]].key === 'kernel_slept');
		if (slept) lines.push('slept ' + lengthText(slept[1], slept[2]));
		if (a.f1 - a.f0 > 10000) lines.push(exact((a.f1 - a.f0) * 1000) + ' ms are folded here');
		else lines.push('the clock of this axis stood still');
		if (fw.length && fw[0] !== null) lines.push('firmware on the way down: ' + lengthText(fw[0], fw[1]));
		if (fw.length && fw[2] !== null) lines.push('firmware on the way up: ' + lengthText(fw[2], fw[3]));
		return {head: 'asleep', lines};
	}

	drawEvents() {
		const taken = [-99, -99, -99];
		const all = (this.c.ev || []).map(([k, lo, hi]) => ({name: this.name(k), lo, hi, t: lo === null ? hi : lo}))
			.filter((e) => e.t !== null).sort((a, b) => a.t - b.t);
		for (const {name, lo, hi, t} of all) {
			const a = this.x(t), b = hi === null ? a : this.x(hi);
			if (!this.seen(a, b)) continue;
			let row = 0;
			const wide = 6.4 * name.length + 8, left = a + wide > this.w ? a - wide : a;
			while (row < 3 && left < taken[row]) row++;
			const y = ROW.tick + Math.min(row, 2) * ROW.event;
			const lines = [lo !== null && hi !== null ? this.axis.when((lo + hi) / 2) + ' ± ' +
				exact((hi - lo) * 500) + ' ms' : (lo === null ? 'before ' : 'after ') + this.axis.when(t)];
			if (lo !== null && hi !== null) lines.push('surely between ' + this.axis.when(lo) + ' and ' + this.axis.when(hi));
			const g = svg('g', {'data-k': this.items.push({head: name, lines}) - 1});
			g.append(svg('rect', {x: a - 2, y: y + 3, width: Math.max(4, b - a), height: this.y - y - 3,
				fill: 'transparent'}), svg('line', {class: 'event', x1: a, x2: a, y1: y + 3, y2: this.y}));
			if (row < 3) {
				taken[row] = left + wide;
				g.append(svg('text', {class: 'evt', x: left === a ? a + 3 : a - 3, y: y + 12,
					'text-anchor': left === a ? 'start' : 'end'}, name));
			}
			this.body.append(g);
		}
	}

	// Bins of a series, each an equal part of the folded axis: [begin, end, value, width].
	points(s) {
		if (s.points) return s.points;
		const a = new Axis(this.c, true), n = this.data.bins;
		s.points = [];
		for (const run of s.p) {
			let bin = run[0];
			for (let i = 1; i < run.length; i += s.unit ? 2 : 1, bin++) {
				const v = s.unit ? run[i] / s.d : run[i];
				s.points.push([a.t(bin / n), a.t((bin + 1) / n), v, s.unit ? (run[i] + run[i + 1]) / s.d : v]);
			}
		}
		return s.points;
	}

	drawBytes(s) {
		const p = this.points(s), rate = (q) => q[2] / (q[1] - q[0] + 1);
		const most = p.reduce((m, q) => Math.max(m, rate(q)), 0);
		this.caption('bytes: ' + s.name);
		this.strips.push({y0: this.y, y1: this.y + ROW.serial, s});
		let d = '';
		for (const q of p) {
			const a = this.x(q[0]), b = Math.max(this.x(q[1]), a + 0.7);
			if (!this.seen(a, b)) continue;
			const h = Math.max(2, rate(q) / most * ROW.serial).toFixed(1);
			d += 'M' + a.toFixed(1) + ' ' + (this.y + ROW.serial) + 'v-' + h + 'h' + (b - a).toFixed(1) + 'v' + h + 'z';
		}
		this.body.append(svg('path', {class: 'byte', d}));
		if (s === this.c.se.find((x) => !x.unit))
			for (const [lo, hi, l0, l1] of this.c.st || []) {
				const t = (lo + hi) / 2;
				this.bar('stall', t, t + (l0 + l1) / 2e3, this.y, ROW.serial, '', {head: 'starvation',
					lines: [lengthText(l0, l1), 'from ' + this.axis.when(t)]});
			}
		if (this.c.r === 'hung' && s === this.c.se.find((x) => !x.unit)) {
			const from = Math.max(...this.c.ev.map((e) => e[2] === null ? e[1] : e[2]));
			this.bar('stall', from, this.axis.hi, this.y, ROW.serial, 'no sign of life', {head: 'no sign of life',
				lines: [this.c.why]});
		}
		this.y += ROW.serial + ROW.gap;
	}

	drawPhases() {
		let nested = 0;
		this.caption('phases');
		for (const [phase, verb, t0, t1, lo, hi, clo, chi, flags, joules, u] of this.c.ph) {
			if (t0 === null) continue;
			const name = this.data.phases[phase], down = phase <= 12;
			const lines = [lengthText(lo, hi)];
			if (clo !== null && (clo !== lo || chi !== hi)) lines.push('without the console ' + lengthText(clo, chi));
			lines.push('from ' + this.axis.when(t0));
			if (flags & 1) lines.push('ended in a failure');
			if (joules !== undefined) lines.push(energyText(joules, u, (t1 - t0) / 1e6));
			nested = Math.max(nested, flags & 2 ? 1 : 0);
			this.bar('ph ' + (down ? 'down' : 'up') + (phase % 2 ? ' alt' : '') + (flags & 1 ? ' err' : ''), t0,
				t1 === null ? this.axis.hi : t1, this.y + (flags & 2 ? ROW.phase : 0), ROW.phase - 3, name,
				{head: name + (this.name(verb) ? ' (' + this.name(verb) + ')' : ''), lines, t: [t0, t1]});
		}
		this.y += (1 + nested) * ROW.phase + ROW.gap;
	}

	deviceItem(d) {
		const [n, driver, phase, , t0, t1, lo, hi, clo, chi, error, flags, own, func, parent] = d;
		const lines = [this.data.phases[phase] + ': ' + (flags & 4 ? 'no return was seen' : lengthText(lo, hi))];
		if (clo !== null && (clo !== lo || chi !== hi)) lines.push('without the console ' + lengthText(clo, chi));
		if (t0 !== null) lines.push('from ' + this.axis.when(t0));
		if (flags & 2) lines.push('on the critical path: ' + exact(own) + ' ms of it its own');
		if (flags & 1) lines.push('asynchronous');
		if (error) lines.push('returned ' + minus(String(error)));
		if (this.name(func)) lines.push('by ' + this.name(func));
		if (this.name(parent)) lines.push('child of ' + this.name(parent));
		return {head: (this.name(driver) ? this.name(driver) + ' ' : '') + this.name(n), lines, t: [t0, t1]};
	}

	matches(d) {
		return (this.name(d[0]) + ' ' + this.name(d[1]) + ' ' + this.data.phases[d[2]]).toLowerCase()
			.includes(this.find);
	}

	drawDevices() {
		let lanes = 0;
		for (const d of this.c.dv) lanes = Math.max(lanes, d[3] + 1);
		if (!lanes) return;
		this.caption('devices' + (this.c.lo ? ' (the ' + this.c.dv.length + ' longest or failed)' : ''));
		for (const d of this.c.dv) {
			const [n, , , lane, t0, t1, lo, hi, clo, chi, error, flags] = d;
			if (lane < 0) continue;
			const y = this.y + lane * ROW.lane;
			const cls = 'dev' + (flags & 1 ? ' async' : '') + (flags & 2 ? ' crit' : '') +
				(error || flags & 4 ? ' err' : '') + (this.find ? this.matches(d) ? ' hit' : ' dim' : '');
			this.bar(cls, t0, t1, y, ROW.lane - 3, (error || flags & 4 ? '× ' : '') + this.name(n),
				this.deviceItem(d));
			if (clo !== null && (clo !== lo || chi !== hi)) {
				const a = this.x(t0), b = this.x(t0 + (clo + chi) / 2e3);
				const g = svg('g', {class: 'fix', 'pointer-events': 'none'});
				if (this.seen(a, b)) g.append(svg('rect', {x: Math.max(a, -5), y: y + ROW.lane - 6,
					width: Math.max(0.5, Math.min(b, this.w + 5) - Math.max(a, -5)), height: 3}));
				this.body.append(g);
			}
		}
		this.y += lanes * ROW.lane + ROW.gap;
	}

	drawOthers() {
		const placed = this.c.ot.filter((o) => o[1] !== null && o[2] !== null && o[3] !== null);
		if (!placed.length) return;
		this.caption('other');
		const end = (o) => o[1] + (o[2] + o[3]) / 2e3, until = [];
		for (const o of placed.sort((a, b) => a[1] - b[1] || end(b) - end(a))) {
			let lane = until.findIndex((t) => t <= o[1]); // what goes on at the same time stands below
			if (lane < 0) lane = Math.min(until.length, 3);
			until[lane] = Math.max(until[lane] || 0, end(o));
			this.bar('oth', o[1], end(o), this.y + lane * ROW.lane, ROW.lane - 3, this.name(o[0]), this.otherItem(o));
		}
		this.y += until.length * ROW.lane + ROW.gap;
	}
	otherItem([what, t, lo, hi, before, after]) {
		const lines = [lengthText(lo, hi)];
		if (t !== null) lines.push('from ' + this.axis.when(t));
		if (this.name(before)) lines.push('after: ' + this.name(before));
		if (this.name(after)) lines.push('before: ' + this.name(after));
		return {head: this.name(what), lines};
	}

	drawWatts(s) {
		const p = this.points(s), h = ROW.watts;
		let most = 0, least = 0, d = '';
		for (const q of p) {
			most = Math.max(most, q[3]);
			least = Math.min(least, q[2]);
		}
		most = most > least ? most : least + 1;
		this.caption('power: ' + s.name + ', ' + s.unit);
		this.strips.push({y0: this.y, y1: this.y + h, s});
		const y = (v) => (this.y + h - 1 - (v - least) / (most - least) * (h - 4)).toFixed(1);
		for (const v of [least, (most + least) / 2, most])
			this.body.append(svg('line', {class: 'grid', x1: 0, x2: this.w, y1: y(v), y2: y(v)}));
		for (const q of p) {
			const x = Math.max(-1e4, Math.min(1e4 + this.w, this.x((q[0] + q[1]) / 2))).toFixed(1);
			d += (d ? 'L' : 'M') + x + ' ' + y(q[2]) + (q[2] < q[3] ? 'L' + x + ' ' + y(q[3]) : '');
		}
		this.body.append(svg('path', {class: 'watt', d}));
		const near = p.filter((q) => this.seen(this.x(q[1]), this.x(q[0])));
		if (near.length < 80) // few readings: where they are
			for (const q of near) this.body.append(svg('circle', {class: 'reading', r: 2.2,
				cx: this.x((q[0] + q[1]) / 2), cy: y(q[3])}));
		const label = (v, dy) => this.body.append(svg('text', {class: 'tick', x: 2, y: Number(y(v)) + dy,
			'paint-order': 'stroke'}, Number(v.toPrecision(3)) + ' ' + s.unit));
		label(most, 10);
		label(least, -3);
		this.y += h + ROW.gap;
	}

	// What lies below a place: a bar's figures, a count of bytes, watts.
	under(x, y, target) {
		const g = target.closest ? target.closest('[data-k]') : null;
		const t = this.axis.t(this.v[0] + x / this.w * (this.v[1] - this.v[0]));
		const strip = this.strips.find((s) => y >= s.y0 && y <= s.y1);
		if (strip && !(g && g.classList.contains('stall'))) return this.reading(strip.s, t);
		return g ? this.items[Number(g.getAttribute('data-k'))] : {head: '', lines: [this.axis.when(Math.round(t))]};
	}
	reading(s, t) {
		const lines = [this.axis.when(Math.round(t))];
		let best = null;
		for (const q of this.points(s)) {
			const d = t < q[0] ? q[0] - t : t > q[1] ? t - q[1] : 0;
			if (!best || d < best.d) best = {d, q};
		}
		if (!best) return {head: s.name, lines};
		const [a, b, lo, hi] = best.q, when = ' from ' + this.axis.when(a) + ' to ' + this.axis.when(b);
		if (s.unit) lines.push((lo === hi ? lo : lo + '–' + hi) + ' ' + s.unit + when);
		else lines.push(best.d === 0 ? lo + ' bytes' + when : 'no byte');
		return {head: s.name, lines};
	}

	point(e, item) {
		const tip = this.tip;
		tip.replaceChildren(...(item.head ? [el('b', {}, item.head)] : []), ...item.lines.map((l) => el('div', {}, l)));
		tip.hidden = false;
		const w = tip.offsetWidth, h = tip.offsetHeight, wide = document.documentElement.clientWidth;
		const x = Math.max(4, Math.min(wide - w - 8, e.clientX + 14));
		const y = e.clientY + 18 + h > innerHeight ? e.clientY - h - 12 : e.clientY + 18;
		tip.style.left = x + scrollX + 'px';
		tip.style.top = Math.max(4, y) + scrollY + 'px';
	}
	hide() {
		this.tip.hidden = true;
	}
}
