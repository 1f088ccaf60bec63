// SPDX-License-Identifier: MIT
/*
 * Lines of the function graph tracer. Which columns there are depends on options:
 *   [TIME |] [CPU)] [COMM-PID |] [FLAGS |] [MARK DURATION us] |  func() {
 * and in another style the duration is a comment in front of the function.
 */
#include "text/ftparts.h"

/* "! 123.456 us": a mark of the scale, a duration. Blank is good, too. */
static bool read_duration(const char *p, const char *end, struct ww_ftline *out)
{
	const char *q;
	int64_t ns;

	p = ww_skip_spaces(p, end);
	while (end > p && end[-1] == ' ')
		end--;
	if (p == end)
		return true;
	if (*p && strchr("+!#*@$", *p))
		p = ww_skip_spaces(p + 1, end);
	if (end - p < 4 || memcmp(end - 2, "us", 2) != 0)
		return false;
	q = ww_ft_micros(p, end, &ns);
	if (!q || ww_skip_spaces(q, end) != end - 2)
		return false;
	out->dur_ns = ns;
	return true;
}

/* " 0)" at the beginning of a column, if it stands there. */
static const char *read_cpu(const char *p, const char *end, struct ww_ftline *out)
{
	int32_t cpu;
	const char *q = ww_ft_number(ww_skip_spaces(p, end), end, &cpu);

	if (!q || q == end || *q != ')')
		return p;
	out->cpu = cpu;
	return q + 1;
}

/* One column in front of the functions: NULL it is none. */
static bool read_column(const char *p, const char *end, struct ww_ftline *out, bool *last)
{
	struct ww_ftline t = {.t_ns = WW_NO_TIME};
	const char *q, *dash;

	p = ww_skip_spaces(read_cpu(p, end, out), end);
	while (end > p && end[-1] == ' ')
		end--;
	*last = true;
	if (read_duration(p, end, out))
		return true;
	*last = false;
	q = ww_ft_time(p, end, &t);
	if (q == end && !t.bare) {
		out->t_ns = t.t_ns;
		out->res_ns = t.res_ns;
		return true;
	}
	dash = memrchr(p, '-', (size_t)(end - p));
	if (dash && dash > p && ww_ft_number(dash + 1, end, &out->pid) == end) {
		out->comm = ww_cut(p, dash);
		return true;
	}
	/* Flags: "d..1." */
	if (end - p > 8)
		return false;
	for (q = p; q < end; q++)
		if (!*q || !strchr(".dDNBbXpPlLhHsSzZn0123456789#-", *q))
			return false;
	return true;
}

// "} /* name */": what is in a comment.
static struct ww_slice comment(const char *p, const char *end)
{
	const char *q;

	if (end - p < 5 || memcmp(p, "/*", 2) != 0)
		return (struct ww_slice){0};
	p = ww_skip_spaces(p + 2, end);
	q = memmem(p, (size_t)(end - p), "*/", 2);
	if (!q)
		q = end;
	while (q > p && q[-1] == ' ')
		q--;
	return ww_cut(p, q);
}

// An event within: "/* device_pm_callback_end: mmc mmc2:0001, err=0 */"
static bool read_within(struct ww_slice c, struct ww_ftline *out)
{
	const char *end = c.p + c.n;
	int64_t dur = out->dur_ns;

	if (c.n < 4)
		return false;
	ww_ft_event(c.p, end, out);
	out->dur_ns = dur;
	return out->event.n > 0;
}

/* The functions' column: spaces tell the depth. */
static bool read_function(const char *p, const char *end, struct ww_ftline *out)
{
	const char *q = ww_skip_spaces(p, end), *name;
	int64_t depth = (q - p) / 2 - 1;

	while (end > q && end[-1] == ' ')
		end--;
	if (q == end)
		return false;
	out->depth = depth > 0 ? (int)(depth < 1000 ? depth : 1000) : 0;
	if (*q == '}') {
		out->closes = true;
		out->func = comment(ww_skip_spaces(q + 1, end), end);
		name = out->func.n ? memchr(out->func.p, ' ', out->func.n) : NULL;
		if (name) /* "f ret=0x0" */
			out->func.n = (size_t)(name - out->func.p);
		return q + 1 == end || out->func.n > 0 || q[1] == ' ' || q[1] == ';';
	}
	if (*q == '/')
		return read_within(comment(q, end), out);
	name = memchr(q, '(', (size_t)(end - q));
	if (!name || name == q || (end[-1] != '{' && end[-1] != ';' && end[-1] != '/'))
		return false;
	out->func = ww_cut(q, name);
	out->opens = true;
	out->closes = end[-1] != '{' && !memmem(name, (size_t)(end - name), ") {", 3);
	return true;
}

bool ww_ft_graph_body(const char *p, const char *end, struct ww_ftline *out)
{
	const char *bar = memchr(p, '|', (size_t)(end - p));

	return bar && read_duration(p, bar, out) && read_function(bar + 1, end, out);
}

// "/* + 16.666 us  */      }": the duration as a comment.
static bool read_commented(const char *p, const char *end, struct ww_ftline *out)
{
	const char *close = memmem(p, (size_t)(end - p), "*/", 2);

	if (end - p < 4 || memcmp(p, "/*", 2) != 0 || !close || close < p + 2)
		return false;
	return read_duration(p + 2, close, out) && read_function(close + 2, end, out);
}

bool ww_ft_graph(const char *p, const char *end, struct ww_ftline *out)
{
	const char *bar, *q;
	bool last = false;

	if (*p == '/')
		return read_commented(p, end, out);
	q = p;
	while (!last && (bar = memchr(q, '|', (size_t)(end - q))) != NULL) {
		if (!read_column(q, bar, out, &last))
			break;
		q = bar + 1;
	}
	if (q == p) {
		q = read_cpu(p, end, out);
		if (q == p)
			return false;
	}
	return read_function(q, end, out);
}
