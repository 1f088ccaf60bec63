// SPDX-License-Identifier: MIT
// Tables that sort by their heads; small helpers for the rest of the page.
'use strict';
const el = (tag, attrs, ...kids) => {
	const e = document.createElement(tag);
	for (const k in attrs || {}) {
		if (k.startsWith('on')) e.addEventListener(k.slice(2), attrs[k]);
		else if (attrs[k] === true) e.setAttribute(k, '');
		else if (attrs[k] !== null && attrs[k] !== false) e.setAttribute(k, attrs[k]);
	}
	e.append(...kids);
	return e;
};

// What a cell is sorted by: its data-v, else its number, else its text.
function cellKey(cell) {
	const told = cell.getAttribute('data-v');
	if (told !== null) return Number(told);
	const text = cell.textContent.trim();
	if (text === '' || text === '–') return null;
	const n = Number(text);
	return Number.isNaN(n) ? text.toLowerCase() : n;
}

function compare(a, b) {
	if (typeof a === 'number' && typeof b === 'number') return a - b;
	return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

// What is not known comes last, whichever way.
function sortBy(table, column, down) {
	const body = table.tBodies[0];
	const rows = [...body.rows].map((row, i) => ({row, i, key: cellKey(row.cells[column])}));
	rows.sort((x, y) => {
		if (x.key === null || y.key === null) return (x.key === null) - (y.key === null) || x.i - y.i;
		return (down ? -1 : 1) * compare(x.key, y.key) || x.i - y.i;
	});
	body.append(...rows.map((r) => r.row));
	[...table.tHead.rows[0].cells].forEach((th, i) => {
		if (i === column) th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
		else th.removeAttribute('aria-sort');
	});
}

function makeSortable(table) {
	[...table.tHead.rows[0].cells].forEach((th, i) => {
		const button = el('button', {type: 'button'}, ...th.childNodes);
		button.addEventListener('click', () => {
			const now = th.getAttribute('aria-sort');
			const first = th.classList.contains('l') || i === 0 ? 'ascending' : 'descending';
			sortBy(table, i, now ? now === 'ascending' : first === 'descending');
		});
		th.append(button);
	});
}

// A field for words and, where there are several, a choice of results.
function makeFilter(table, data) {
	const rows = [...table.tBodies[0].rows];
	const texts = rows.map((r) => r.textContent.toLowerCase());
	const results = [...new Set(data.cycles.map((c) => c.r))];
	const count = el('span', {class: 'quiet', role: 'status'});
	const words = el('input', {type: 'search', placeholder: 'filter: words',
		'aria-label': 'show cycles whose row has these words', id: 'filter'});
	const which = el('select', {'aria-label': 'show cycles of this result', id: 'result'},
		el('option', {value: ''}, 'all results'),
		...results.map((r) => el('option', {value: r}, r)));
	const byRow = new Map(data.cycles.map((c) => ['cycle-' + c.n, c.r]));
	const apply = () => {
		const want = words.value.toLowerCase().split(/\s+/).filter((w) => w);
		let shown = 0;
		rows.forEach((row, i) => {
			const yes = (!which.value || byRow.get(row.id) === which.value) &&
				want.every((w) => texts[i].includes(w));
			row.hidden = !yes;
			shown += yes;
		});
		count.textContent = shown === rows.length ? '' : shown + ' of ' + rows.length;
	};
	words.addEventListener('input', apply);
	which.addEventListener('change', apply);
	table.closest('.scroll').before(el('div', {class: 'bar'}, words, which, count));
}
