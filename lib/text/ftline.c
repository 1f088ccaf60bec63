// SPDX-License-Identifier: MIT
/*
 * Lines of ftrace's text. What stands in front of an event differs by kernel and program:
 *   COMM-PID [(TGID)] [CPU] [(TGID)] [FLAGS] TIME: EVENT: ARGS    the kernel, trace-cmd
 *   COMM PID[/TID] [CPU] TIME: [COUNT] GROUP:EVENT: ARGS          perf script
 * The number in brackets is looked for, and the rest read around it: columns are of no use.
 */
#include "text/ftparts.h"

#define COMM_MOST 15 /* TASK_COMM_LEN less its NUL */

const char *ww_ft_number(const char *p, const char *end, int32_t *out)
{
	int32_t v = 0;
	const char *q = p;

	for (; q < end && ww_is_digit(*q) && q - p < 9; q++)
		v = v * 10 + (*q - '0');
	if (q == p || (q < end && ww_is_digit(*q)))
		return NULL;
	*out = v;
	return q;
}

const char *ww_ft_time(const char *p, const char *end, struct ww_ftline *out)
{
	int64_t s = 0, frac = 0, res = WW_NS_PER_S;
	const char *q = p;

	for (; q < end && ww_is_digit(*q); q++) {
		if (q - p == 20)
			return NULL;
		if (q - p < 18)
			s = s * 10 + (*q - '0');
	}
	if (q == p)
		return NULL;
	if (q == end || *q != '.') {
		out->bare = true;
		out->t_ns = q - p > 18 ? WW_NO_TIME : s;
		out->res_ns = 1;
		return q;
	}
	out->bare = false;
	for (p = ++q; q < end && ww_is_digit(*q); q++)
		if (res > 1) {
			frac = frac * 10 + (*q - '0');
			res /= 10;
		}
	if (q == p || s > INT64_C(9000000000))
		return NULL;
	out->t_ns = s * WW_NS_PER_S + frac * res;
	out->res_ns = res;
	return q;
}

const char *ww_ft_micros(const char *p, const char *end, int64_t *ns)
{
	const char *q = p;
	int64_t v = 0, unit = 100;

	for (; q < end && ww_is_digit(*q); q++) {
		if (q - p == 15)
			return NULL;
		v = v * 10 + (*q - '0');
	}
	if (q == p)
		return NULL;
	v *= 1000;
	if (q < end && *q == '.')
		for (q++; q < end && ww_is_digit(*q); q++, unit /= 10)
			v += (*q - '0') * unit;
	*ns = v;
	return q;
}

/* "[003] ": its number, and what stands behind. */
static const char *read_cpu(const char *open, const char *end, int32_t *cpu)
{
	const char *p = ww_ft_number(open + 1, end, cpu);

	/* Long stamps of trace-cmd leave no space. */
	if (!p || p - open > 5 || p + 1 >= end || p[0] != ']' ||
	    (p[1] != ' ' && !ww_is_digit(p[1])))
		return NULL;
	return p + 1;
}

/* Behind the CPU: "(TGID)", flags, and the time up to its colon. */
static const char *read_time(const char *p, const char *end, struct ww_ftline *out)
{
	const char *q;

	for (int i = 0; i < 3; i++) {
		p = ww_skip_spaces(p, end);
		if (p == end)
			return NULL;
		if (ww_is_digit(*p)) {
			q = ww_ft_time(p, end, out);
			/* "123.456789:", and with its difference "123.456789: (+12)" */
			if (q && q < end && *q == ':')
				return q + 1;
		}
		if (*p == '(') {
			q = memchr(p, ')', (size_t)(end - p));
			if (!q || q - p > 12)
				return NULL;
			p = q + 1;
			continue;
		}
		for (q = p; q < end && *q != ' '; q++)
			if (q - p == 10 || *q == ':')
				return NULL;
		p = q;
	}
	return NULL;
}

/* In front of the CPU: "COMM-PID (TGID) ", or of perf "COMM PID/TID ". */
static bool read_task(const char *p, const char *end, struct ww_ftline *out)
{
	const char *digits, *q;

	while (end > p && end[-1] == ' ')
		end--;
	if (end > p && end[-1] == ')') { /* "(  812)", "(-------)" */
		q = memrchr(p, '(', (size_t)(end - p));
		for (end = q ? q : p; end > p && end[-1] == ' ';)
			end--;
	}
	for (digits = end; digits > p && ww_is_digit(digits[-1]);)
		digits--;
	if (digits == p || !ww_ft_number(digits, end, &out->pid))
		return false;
	q = digits - 1;
	if (*q == '/') /* PID/TID: the task is the latter */
		while (q > p && *--q != ' ')
			if (!ww_is_digit(*q))
				return false;
	if (*q != '-' && *q != ' ')
		return false;
	while (q > p && q[-1] == ' ')
		q--;
	/* What a logger, a mail or a multiplexer put in front is no part of the name. */
	if (q - p > COMM_MOST) {
		digits = memchr(q - COMM_MOST, ' ', COMM_MOST);
		if (!digits) /* perf's names of kernel threads are longer */
			digits = memrchr(p, ' ', (size_t)(q - COMM_MOST - p));
		p = digits ? digits : p;
	}
	p = ww_skip_spaces(p, q);
	out->comm = ww_cut(p, q);
	return true;
}

/* "CPU:3 [LOST 120 EVENTS]", "CPU:3 [LOST EVENTS]", "CPU:3 [120 EVENTS DROPPED]" */
static bool read_lost(const char *p, const char *end, struct ww_ftline *out)
{
	int32_t n;
	const char *q;

	if (end - p < 12 || memcmp(p, "CPU:", 4) != 0)
		return false;
	q = ww_ft_number(p + 4, end, &out->cpu);
	if (!q || end - q < 4 || q[0] != ' ' || q[1] != '[' ||
	    !memmem(q, (size_t)(end - q), "EVENTS", 6))
		return false;
	q += 2;
	if (end - q > 5 && memcmp(q, "LOST ", 5) == 0)
		q += 5;
	out->lost = ww_ft_number(q, end, &n) ? n : 0;
	out->kind = WW_FT_LOST;
	return true;
}

static void clear(struct ww_ftline *out)
{
	memset(out, 0, offsetof(struct ww_ftline, ev));
	out->pid = out->cpu = -1;
	out->t_ns = out->dur_ns = WW_NO_TIME;
	out->depth = -1;
	ww_pmev_clear(&out->ev);
}

/*
 * The latency format: "COMM-PID   1d..2   23us+: EVENT: ARGS", the time since the first line;
 * of trace-cmd in seconds.
 */
static bool read_latency(const char *p, const char *end, struct ww_ftline *out)
{
	const char *dash = memchr(p, '-', (size_t)(end - p)), *start = p, *q;

	for (; dash; dash = memchr(dash + 1, '-', (size_t)(end - dash - 1))) {
		q = ww_ft_number(dash + 1, end, &out->pid);
		if (q && q < end && *q == ' ' && dash > p)
			break;
	}
	if (!dash)
		return false;
	q = ww_ft_number(ww_skip_spaces(q, end), end, &out->cpu);
	if (!q || out->cpu > 9999)
		return false;
	while (q < end && *q != ' ' && *q != ':')
		q++;
	p = ww_skip_spaces(q, end);
	q = ww_ft_micros(p, end, &out->t_ns);
	if (q && end - q > 3 && memcmp(q, "us", 2) == 0) {
		out->res_ns = WW_NS_PER_US;
		for (q += 2; q < end && *q != ':' && *q != ' ';)
			q++;
		q = ww_skip_spaces(q, end);
	} else {
		q = ww_ft_time(p, end, out);
	}
	if (!q || q == end || *q != ':')
		return false;
	out->comm = ww_cut(start, dash);
	out->kind = WW_FT_EVENT;
	ww_ft_event(q + 1, end, out);
	return true;
}

/* The line of an event, or not. */
static bool read_event(const char *p, const char *end, struct ww_ftline *out)
{
	const char *open = p;

	while ((open = memchr(open, '[', (size_t)(end - open))) != NULL) {
		const char *q = read_cpu(open, end, &out->cpu);

		if (q)
			q = read_time(q, end, out);
		if (q && read_task(p, open, out)) {
			out->kind = WW_FT_EVENT;
			ww_ft_event(q, end, out);
			return true;
		}
		open++;
	}
	out->cpu = out->pid = -1;
	out->t_ns = WW_NO_TIME;
	out->bare = false;
	return false;
}

int ww_ftline_parse(const char *line, size_t n, struct ww_ftline *out)
{
	const char *p = line, *end = line + n;

	clear(out);
	while (end > p && (end[-1] == '\r' || end[-1] == '\n'))
		end--;
	/* Systrace's pages of old hold the lines as a string of a script. */
	if (end - p > 3 && memcmp(end - 3, "\\n\\", 3) == 0)
		end -= 3;
	/* Quoted in a mail. */
	while (p < end && *p == '>')
		p = ww_skip_spaces(p + 1, end);
	p = ww_skip_spaces(p, end);
	if (p == end)
		return out->kind;
	if (*p == '#') {
		out->kind = WW_FT_HEADER;
		out->text = ww_cut(ww_skip_spaces(p + 1, end), end);
		return out->kind;
	}
	if (*p == 'C' && read_lost(p, end, out))
		return out->kind;
	if (read_event(p, end, out))
		return out->kind;
	if (ww_ft_graph(p, end, out)) {
		out->kind = WW_FT_GRAPH;
	} else {
		clear(out);
		if (!read_latency(p, end, out))
			clear(out);
	}
	return out->kind;
}
