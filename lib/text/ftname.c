// SPDX-License-Identifier: MIT
/* What stands behind the time of an event's line. */
#include "text/ftparts.h"

#define IS(s, text) ww_slice_is(s, "" text, sizeof(text) - 1)

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ww_is_digit(c) || c == '_';
}

/* The name at p; perf's "power:suspend_resume:" gives the last one. */
static const char *read_name(const char *p, const char *end, struct ww_slice *name)
{
	const char *q = p;

	for (;;) {
		while (q < end && is_name(*q))
			q++;
		if (q == end || *q != ':' || q == p)
			return NULL;
		*name = ww_cut(p, q);
		if (q + 1 == end || !is_name(q[1]))
			return q + 1;
		p = ++q;
	}
}

/*
 * A mark of user space: "tracing_mark_write: SUSPEND START"; of trace-cmd "print: ", then the
 * same, or an address where it knows no names.
 */
static bool read_mark(struct ww_ftline *out)
{
	static const char write[] = "tracing_mark_write: ";
	const char *end = out->text.p + out->text.n;

	if (IS(out->event, "print") && out->text.n >= sizeof(write) - 1 &&
	    memcmp(out->text.p, write, sizeof(write) - 1) == 0)
		out->text = ww_cut(out->text.p + sizeof(write) - 1, end);
	else if (IS(out->event, "print") && out->text.n > 2 && memcmp(out->text.p, "0x", 2) == 0 &&
		 memchr(out->text.p, ' ', out->text.n))
		out->text = ww_cut((char *)memchr(out->text.p, ' ', out->text.n) + 1, end);
	else if (!IS(out->event, "tracing_mark_write") && !IS(out->event, "0"))
		return false;
	out->kind = WW_FT_MARK;
	return true;
}

/*
 * Probes of pm-graph: "acpi_ps_execute_cal: (acpi_ps_execute+0x0/0x2a0) path=..." and
 * "..._ret: (caller+0x41/0x70 <- acpi_ps_execute)".
 */
static void read_probe(struct ww_ftline *out)
{
	struct ww_slice e = out->event, a = out->text;
	bool call;

	if (e.n < 5 || e.p[e.n - 4] != '_' || a.n < 3 || a.p[0] != '(')
		return;
	call = memcmp(e.p + e.n - 3, "cal", 3) == 0;
	if (!call && memcmp(e.p + e.n - 3, "ret", 3) != 0)
		return;
	out->kind = WW_FT_GRAPH;
	out->opens = call;
	out->closes = !call;
	out->func = (struct ww_slice){e.p, e.n - 4};
}

/* "cpu: 0001 target: 140 step: 37 (sched_cpu_deactivate)", "cpu: 0001  state: ... ret: 0" */
static void read_cpuhp(struct ww_ftline *out)
{
	struct ww_slice a = out->text;
	const char *end = a.p + a.n, *open;
	int32_t cpu;

	if (a.n < 6 || memcmp(a.p, "cpu: ", 5) != 0 || !ww_ft_number(a.p + 5, end, &cpu))
		return;
	out->kind = WW_FT_GRAPH;
	out->opens = out->event.p[6] != 'e' || out->event.p[7] == 'n';
	out->closes = !out->opens;
	out->ev.count = cpu;
	open = memrchr(a.p, '(', a.n);
	if (open && out->opens && end[-1] == ')')
		out->func = ww_cut(open + 1, end - 1);
}

static bool read_funcgraph(struct ww_ftline *out, const char *args, const char *end)
{
	if (!ww_ft_graph_body(args, end, out))
		return false;
	out->kind = WW_FT_GRAPH;
	return true;
}

void ww_ft_event(const char *p, const char *end, struct ww_ftline *out)
{
	const char *args;
	struct ww_slice e;
	int32_t count;

	p = ww_skip_spaces(p, end);
	if (p < end && *p == '(') { /* the difference to the line before */
		args = memchr(p, ')', (size_t)(end - p));
		p = args ? ww_skip_spaces(args + 1, end) : p;
	}
	if (p < end && ww_is_digit(*p)) { /* perf's count of events */
		args = ww_ft_number(p, end, &count);
		p = args && args < end && *args == ' ' ? ww_skip_spaces(args, end) : p;
	}
	args = read_name(p, end, &e);
	if (!args) { /* the function tracer's "func <-caller", and what is none */
		if (ww_ft_graph_body(p, end, out))
			out->kind = WW_FT_GRAPH;
		out->text = ww_cut(p, end);
		return;
	}
	out->event = e;
	/* One space alone: that a driver has no name shows as the next one. */
	out->text = ww_cut(args < end && *args == ' ' ? args + 1 : args, end);
	if (ww_ftevent_parse(e, out->text, &out->ev) != WW_PMEV_NONE) {
		out->ev.pid = out->pid;
		return;
	}
	args = ww_skip_spaces(args, end);
	if ((IS(e, "funcgraph_entry") || IS(e, "funcgraph_exit")) && read_funcgraph(out, args, end))
		return;
	out->text = ww_cut(args, end);
	if (read_mark(out))
		return;
	if (e.n > 7 && memcmp(e.p, "cpuhp_", 6) == 0)
		read_cpuhp(out);
	else
		read_probe(out);
}
