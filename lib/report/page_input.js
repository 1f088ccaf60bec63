// SPDX-License-Identifier: MIT
// The time line's mouse, touch and keys, and the tables of the cycle that is shown.
Object.assign(TimeLine.prototype, {
	listen() {
		const chart = this.chart, fingers = new Map();
		let pinch = null;
		const place = (e) => {
			const r = this.svg.getBoundingClientRect();
			return [e.clientX - r.left, e.clientY - r.top];
		};
		const spread = () => {
			const [a, b] = [...fingers.values()];
			return {mid: (a + b) / 2, wide: Math.max(10, Math.abs(a - b))};
		};
		chart.addEventListener('pointerdown', (e) => {
			if (e.pointerType === 'mouse' && e.button) return;
			fingers.set(e.pointerId, place(e)[0]);
			pinch = fingers.size === 2 ? {...spread(), v: this.v} : null;
			this.point(e, this.under(...place(e), e.target));
		});
		chart.addEventListener('pointermove', (e) => {
			const [x, y] = place(e), before = fingers.get(e.pointerId);
			if (before === undefined) {
				if (e.pointerType === 'mouse') this.point(e, this.under(x, y, e.target));
				return;
			}
			fingers.set(e.pointerId, x);
			if (pinch) {
				const now = spread(), w0 = pinch.v[1] - pinch.v[0];
				const w = Math.min(1, Math.max(2 / this.axis.rest, w0 * pinch.wide / now.wide));
				this.move(pinch.v[0] + pinch.mid / this.w * w0 - now.mid / this.w * w, w);
			} else if (Math.abs(x - before) > 0) {
				const w = this.v[1] - this.v[0];
				if (!chart.hasPointerCapture(e.pointerId)) chart.setPointerCapture(e.pointerId);
				chart.classList.add('pan');
				this.move(this.v[0] - (x - before) / this.w * w, w);
				this.hide();
			}
		});
		const up = (e) => {
			fingers.delete(e.pointerId);
			pinch = null;
			if (!fingers.size) chart.classList.remove('pan');
		};
		chart.addEventListener('pointerup', up);
		chart.addEventListener('pointercancel', up);
		chart.addEventListener('pointerleave', (e) => {
			if (e.pointerType === 'mouse') this.hide();
		});
		document.addEventListener('pointerdown', (e) => {
			if (!chart.contains(e.target)) this.hide();
		});
		chart.addEventListener('wheel', (e) => {
			this.hide();
			const w = this.v[1] - this.v[0], dx = e.shiftKey ? e.deltaY : e.deltaX;
			if (Math.abs(dx) > Math.abs(e.deltaY) || e.shiftKey) {
				e.preventDefault();
				this.move(this.v[0] + dx / this.w * w, w);
			} else if (e.deltaY < 0 || w < 1) { // all is seen: the page scrolls on
				e.preventDefault();
				this.zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), place(e)[0] / this.w);
			}
		}, {passive: false});
		chart.addEventListener('dblclick', (e) => {
			const [x, y] = place(e), item = this.under(x, y, e.target);
			if (item.t && item.t[0] !== null) this.fill(...item.t);
			else this.zoom(0.4, x / this.w);
		});
		chart.addEventListener('keydown', (e) => this.pressed(e));
		addEventListener('resize', () => this.later());
	},

	// A stretch fills most of the width.
	fill(t0, t1) {
		const a = this.axis.u(t0), b = this.axis.u(t1 === null ? this.axis.hi : t1);
		const w = Math.min(1, Math.max(2 / this.axis.rest, (b - a) * 1.25));
		this.move((a + b) / 2 - w / 2, w);
	},

	pressed(e) {
		const w = this.v[1] - this.v[0];
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		const does = {
			ArrowLeft: () => this.move(this.v[0] - w / 8, w),
			ArrowRight: () => this.move(this.v[0] + w / 8, w),
			'+': () => this.zoom(0.6, 0.5), '=': () => this.zoom(0.6, 0.5),
			'-': () => this.zoom(1 / 0.6, 0.5), '0': () => this.reset(), Home: () => this.reset(),
			PageUp: () => this.i > 0 && this.show(this.i - 1),
			PageDown: () => this.i + 1 < this.data.cycles.length && this.show(this.i + 1),
			Escape: () => this.hide(),
		}[e.key];
		if (!does) return;
		e.preventDefault();
		does();
	},

	// ---- the same in words, for those who cannot see or hover ----
	table(id, head, rows, caption) {
		const body = el('tbody', {});
		for (const row of rows) body.append(row);
		const t = el('table', {id, class: 'sort'}, el('caption', {}, caption), el('thead', {}, el('tr', {},
			...head.map(([text, cls]) => el('th', {scope: 'col', class: cls || null}, text)))), body);
		makeSortable(t);
		return el('div', {class: 'scroll'}, t);
	},
	cell(text, key, cls) {
		return el('td', {class: cls || null, 'data-v': key === undefined || key === null ? null : key}, text);
	},
	mid(lo, hi) {
		return lo === null || hi === null ? null : (lo + hi) / 2e6;
	},
	msCell(lo, hi) {
		const m = this.mid(lo, hi);
		const text = m === null ? '–' : m.toFixed(m < 1 ? 3 : m < 100 ? 2 : 1);
		const e = this.cell(text, m);
		e.title = lengthText(lo, hi);
		return e;
	},

	deviceRow(d) {
		const [n, driver, phase, , t0, t1, lo, hi, clo, chi, error, flags, own] = d;
		const ax = this.c.ax, zero = ax.length > 4 && t0 <= ax[2] ? ax[4] : 0; // as on the axis
		const to = () => {
			if (t0 !== null) this.fill(t0, t1);
		};
		const name = t0 === null ? this.name(n) : el('button', {type: 'button', class: 'go', onclick: to,
			title: 'fill the width with it'}, this.name(n));
		const row = el('tr', {}, el('th', {scope: 'row', class: 'l name'}, name),
			this.cell(this.name(driver), null, 'l name'), this.cell(this.data.phases[phase], null, 'l'),
			this.msCell(lo, hi));
		if (this.fixes) row.append(this.msCell(clo === null ? lo : clo, chi === null ? hi : chi));
		row.append(t0 === null ? this.cell('–') : this.cell(minus(((t0 - zero) / 1000).toFixed(1)), t0),
			flags & 2 ? this.cell((own / 1e6).toFixed(2), own / 1e6) : this.cell('–'),
			this.cell(flags & 1 ? 'async' : '', null, 'l'), error ? this.cell(minus(String(error)), error, 'badtext')
				: this.cell('–'));
		row.device = d;
		return row;
	},

	tables() {
		const c = this.c, out = [];
		if (c.er && c.er.length) out.push(el('ul', {class: 'badtext'}, ...c.er.map((t) => el('li', {}, t))));
		if (c.ev && c.ev.length) out.push(this.eventTable());
		if (c.dv && c.dv.length) {
			this.fixes = c.dv.some((d) => d[8] !== null && (d[8] !== d[6] || d[9] !== d[7]));
			const head = [['device', 'l'], ['driver', 'l'], ['phase', 'l'], ['ms']];
			if (this.fixes) head.push(['without console']);
			head.push(['from, ms'], ['critical, ms'], ['', 'l'], ['error']);
			const rows = [...c.dv].sort((a, b) => (this.mid(b[6], b[7]) || 0) - (this.mid(a[6], a[7]) || 0))
				.map((d) => this.deviceRow(d));
			const table = this.table('device-table', head, rows, c.lo ? c.lo + ' shorter ones are left out' : '');
			table.classList.add('tall');
			out.push(el('details', {open: true}, el('summary', {}, c.dv.length + ' devices of cycle ' + c.n), table));
		}
		if (c.ot && c.ot.length) out.push(this.otherTable());
		this.below.replaceChildren(...out);
		this.filterRows();
	},

	eventTable() {
		const rows = this.c.ev.map(([k, lo, hi]) => el('tr', {}, el('th', {scope: 'row', class: 'l'}, this.name(k)),
			this.cell(lo === null ? '–' : exact(lo * 1000), lo), this.cell(hi === null ? '–' : exact(hi * 1000), hi)));
		return el('details', {}, el('summary', {}, 'events of cycle ' + this.c.n), this.table('event-table',
			[['event', 'l'], ['surely after, ms'], ['surely before, ms']], rows, '0 is ' + this.c.z));
	},

	otherTable() {
		const rows = this.c.ot.map((o) => el('tr', {}, el('th', {scope: 'row', class: 'l'}, this.name(o[0])),
			this.msCell(o[2], o[3]), this.cell(this.name(o[4]), null, 'l why'), this.cell(this.name(o[5]), null, 'l why')));
		return el('details', {}, el('summary', {}, 'what took time and is no device'), this.table('other-table',
			[['what', 'l'], ['ms'], ['after', 'l'], ['before', 'l']], rows, ''));
	},

	filterRows() {
		const t = document.getElementById('device-table');
		if (t) for (const row of t.tBodies[0].rows) row.hidden = this.find !== '' && !this.matches(row.device);
	},
});
