/* SPDX-License-Identifier: MIT */
/* Lines of any bytes as ftrace's and as pm-graph's: what is told lies in the line, and is sane. */
#include "text/ftline.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct ww_slice s, const char *text, size_t n)
{
	if (s.n && (s.p < text || s.n > n || s.p > text + n - s.n))
		abort();
}

static void check_event(const struct ww_pmev *e, const char *p, size_t n)
{
	if (e->kind < 0 || e->kind >= WW_PMEV_KINDS || e->phase < 0 || e->phase >= WW_PM_PHASES ||
	    e->verb < 0 || e->verb > WW_PM_V_RECOVER || e->mode < 0 || e->mode > WW_PM_MODE_DISK)
		abort();
	inside(e->device, p, n);
	inside(e->driver, p, n);
	inside(e->parent, p, n);
	inside(e->wakeup, p, n);
	if (e->kind != WW_PMEV_ASLEEP && e->kind != WW_PMEV_AWAKE)
		inside(e->text, p, n);
}

static void check(const char *p, size_t n)
{
	struct ww_ftline l;
	struct ww_pmgraph g;
	int kind = ww_ftline_parse(p, n, &l);

	if (kind != l.kind || kind < WW_FT_NONE || kind > WW_FT_LOST || l.pid < -1 || l.cpu < -1 ||
	    l.lost < 0 || l.depth < -1)
		abort();
	if ((l.dur_ns < 0 && l.dur_ns != WW_NO_TIME) || (l.t_ns < 0 && l.t_ns != WW_NO_TIME))
		abort();
	if (kind == WW_FT_NONE && l.ev.kind != WW_PMEV_NONE)
		abort();
	inside(l.comm, p, n);
	inside(l.event, p, n);
	inside(l.text, p, n);
	inside(l.func, p, n);
	check_event(&l.ev, p, n);
	if (ww_pmgraph_parse(p, n, &g) != g.kind || g.mode < 0 || g.mode > WW_PM_MODE_DISK)
		abort();
	inside(g.host, p, n);
	inside(g.kernel, p, n);
	inside(g.key, p, n);
	inside(g.text, p, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);
		char *line = malloc(n + !n);

		if (!line)
			return 0;
		memcpy(line, p, n);
		check(line, n);
		free(line);
		p += n + 1;
	}
	return 0;
}
