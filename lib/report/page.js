// SPDX-License-Identifier: MIT
// The page comes alive: which cycle is shown, tables, links.
function start() {
	const data = JSON.parse(document.getElementById('data').textContent);
	const index = new Map(data.cycles.map((c, i) => [c.n, i]));
	document.documentElement.classList.add('js');
	for (const table of document.querySelectorAll('table.sort')) makeSortable(table);
	const cycles = document.getElementById('cycle-table');
	if (cycles) makeFilter(cycles, data);
	const live = document.getElementById('live');
	if (!live || !data.cycles.length) return;
	const view = new TimeLine(live, data);
	const links = new Map();
	for (const a of document.querySelectorAll('#dots a')) links.set(a.getAttribute('href'), a);
	let marked = [];
	view.onshow = (c) => {
		for (const e of marked) e.classList.remove('now');
		marked = [links.get('#cycle-' + c.n), document.getElementById('cycle-' + c.n)].filter((e) => e);
		for (const e of marked) e.classList.add('now');
	};
	const go = (hash, move) => {
		const m = /^#cycle-(\d+)$/.exec(hash);
		const i = m ? index.get(Number(m[1])) : undefined;
		if (i === undefined) return false;
		view.show(i);
		if (move) document.getElementById('timeline').scrollIntoView();
		return true;
	};
	// Every link to a cycle leads to its time line.
	document.addEventListener('click', (e) => {
		const a = e.target.closest ? e.target.closest('a[href^="#cycle-"]') : null;
		if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return;
		const hash = a.getAttribute('href');
		e.preventDefault();
		if (location.hash !== hash) history.replaceState(null, '', hash);
		go(hash, true);
	});
	addEventListener('hashchange', () => go(location.hash, true));
	if (!go(location.hash, false)) view.show(data.chosen.length ? data.chosen[0] : 0);
}
start();
