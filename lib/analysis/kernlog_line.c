/* SPDX-License-Identifier: MIT */
/* A line of kernel text or of ftrace becomes an event for the builder. */
#include "analysis/kernlog.h"
#include "text/kmsg.h"

/* Sentences that a mail program wrapped into so many lines. */
#define PARTS_MAX 4

static struct ww_slice tail_of(struct ww_slice s, size_t from)
{
	return (struct ww_slice){s.p + from, s.n - from};
}

/* The power events on a console, as tp_printk prints them. */
static int traced(struct ww_slice m, struct ww_pmev *ev)
{
	static const char resume[] = "suspend_resume: ";
	static const char start[] = "device_pm_callback_start: ";
	static const char end[] = "device_pm_callback_end: ";

	if (m.n > sizeof(resume) && memcmp(m.p, resume, sizeof(resume) - 1) == 0)
		return ww_ftevent_parse((struct ww_slice){m.p, 14}, tail_of(m, 16), ev);
	if (m.n > sizeof(start) && memcmp(m.p, start, sizeof(start) - 1) == 0)
		return ww_ftevent_parse((struct ww_slice){m.p, 24}, tail_of(m, 26), ev);
	if (m.n > sizeof(end) && memcmp(m.p, end, sizeof(end) - 1) == 0)
		return ww_ftevent_parse((struct ww_slice){m.p, 22}, tail_of(m, 24), ev);
	return WW_PMEV_NONE;
}

static void parse(struct ww_slice m, struct ww_pmev *ev)
{
	if (ww_kmsg_parse(m.p, m.n, ev) == WW_PMEV_NONE && m.n > 24 &&
	    (m.p[0] == 's' || m.p[0] == 'd') && traced(m, ev) == WW_PMEV_NONE)
		ww_pmev_clear(ev);
}

static void header(struct ww_kl_input *in, const char *line, size_t n, int *rc,
		   struct ww_error *err)
{
	struct ww_pmgraph h;

	if (ww_pmgraph_parse(line, n, &h) != WW_PMG_NONE)
		*rc = ww_pmbuild_header(in->build, &h, err);
}

/* The clock that its times are of, the best there is in this text. */
static void stamp(struct ww_kl_input *in, const struct ww_kline *l, struct ww_pm_in *to)
{
	to->line.host_ns = l->host_ns;
	to->host_res_ns = l->host_ns != WW_NO_TIME ? l->host_res_ns : 0;
	if (l->kernel_ns != WW_NO_TIME) {
		to->clock = WW_PM_CLOCK_PRINTK;
		to->line.t_ns = l->kernel_ns;
		to->res_ns = l->kernel_res_ns;
	} else if (in->kernel_stamps > 0) {
		to->clock = WW_PM_CLOCK_PRINTK;
		to->line.t_ns = WW_NO_TIME;
	} else if (l->host_ns != WW_NO_TIME) {
		to->clock = WW_PM_CLOCK_HOST;
		to->line.t_ns = l->host_ns;
		to->res_ns = l->host_res_ns;
	} else if (to->line.lo_ns != WW_NO_TIME) {
		to->clock = WW_PM_CLOCK_BENCH;
		to->line.t_ns = to->line.lo_ns;
		to->res_ns = to->line.hi_ns - to->line.lo_ns;
	} else {
		to->clock = WW_PM_CLOCK_NONE;
		to->line.t_ns = WW_NO_TIME;
	}
}

static bool of_kernel(const struct ww_kl_input *in, const struct ww_kline *l,
		      const struct ww_pmev *ev)
{
	if (l->kernel_ns != WW_NO_TIME || l->from == WW_LINE_KERNEL)
		return true;
	return in->kernel_stamps == 0 && l->from == WW_LINE_UNKNOWN && ev->kind != WW_PMEV_NONE &&
	       ev->kind != WW_PMEV_FIRMWARE;
}

int ww_kl_flush(struct ww_kl_input *in, struct ww_error *err)
{
	if (!in->held.any)
		return 0;
	in->held.any = false;
	/* Its slices pointed into a line that is gone. */
	in->held.in.message = (struct ww_slice){in->held.text, in->held.n};
	parse(in->held.in.message, &in->held.ev);
	in->held.in.ev = &in->held.ev;
	return ww_pmbuild_feed(in->build, &in->held.in, err);
}

static void hold(struct ww_kl_input *in, const struct ww_pm_in *what)
{
	if (what->message.n >= WW_KL_JOIN)
		return;
	in->held.any = true;
	in->held.parts = 1;
	in->held.n = what->message.n;
	memcpy(in->held.text, what->message.p, what->message.n);
	in->held.in = *what;
	in->held.means = what->ev->kind != WW_PMEV_NONE;
}

/*
 * Does this line complete the one that is held? Then the whole is in the place of it.
 * @return 1 it was taken
 */
static int joined(struct ww_kl_input *in, const struct ww_kline *l, struct ww_error *err)
{
	size_t n = in->held.n + 1 + l->text.n;
	struct ww_pmev ev;
	int rc;

	if (l->kernel_ns != WW_NO_TIME || l->host_ns != WW_NO_TIME || n >= WW_KL_JOIN ||
	    l->text.n == 0)
		return 0;
	in->held.text[in->held.n] = ' ';
	memcpy(in->held.text + in->held.n + 1, l->text.p, l->text.n);
	if ((ww_kmsg_parse(in->held.text, n, &ev) == WW_PMEV_NONE &&
	     (!ev.partial || in->held.means)) ||
	    (ev.partial && in->held.parts >= PARTS_MAX))
		return 0;
	in->held.n = n;
	in->held.parts++;
	/* The line break stands for the blank that was sent. */
	if (in->held.in.line.bytes > 0)
		in->held.in.line.bytes += 1 + (uint32_t)l->text.n;
	if (ev.partial)
		return 1;
	rc = ww_kl_flush(in, err);
	return rc < 0 ? rc : 1;
}

static void count(struct ww_kl_input *in, const struct ww_kline *l)
{
	in->kernel_stamps += l->kernel_ns != WW_NO_TIME;
	in->tagged += l->tag.n > 0;
	if (l->host_ns == WW_NO_TIME)
		return;
	in->host_stamps++;
	in->host_res_ns = l->host_res_ns;
}

static int kernel_line(struct ww_kl_input *in, const char *line, size_t n, const int64_t *lo,
		       struct ww_pm_in to, struct ww_error *err)
{
	struct ww_kline l;
	struct ww_pmev ev;
	int rc = 0;

	if (n > 0 && line[0] == '#') {
		header(in, line, n, &rc, err);
		if (rc < 0)
			return rc;
	}
	ww_kline_parse(in->state, line, n, &l);
	count(in, &l);
	if (in->held.any) {
		rc = joined(in, &l, err);
		if (rc == 0)
			rc = ww_kl_flush(in, err);
		else if (rc > 0)
			return 0;
		if (rc < 0)
			return rc;
	}
	if (l.from == WW_LINE_USER || l.from == WW_LINE_XEN || l.from == WW_LINE_EC ||
	    l.text.n == 0)
		ww_pmev_clear(&ev);
	else
		parse(l.text, &ev);
	if (ev.kind == WW_PMEV_NONE && !ev.partial && ww_pmbuild_idle(in->build))
		return 0;
	in->events += ev.kind != WW_PMEV_NONE;
	to.ev = &ev;
	to.message = l.text;
	to.line.kernel = of_kernel(in, &l, &ev);
	to.line.firmware = l.from == WW_LINE_FIRMWARE || l.from == WW_LINE_XEN ||
			   l.from == WW_LINE_EC || ev.kind == WW_PMEV_FIRMWARE;
	to.line.bytes = to.line.kernel && l.console_n > 0 ? (uint32_t)l.console_n + 2 : 0;
	to.line.pid = l.caller_kind == 'T' ? l.caller : -1;
	while (n > 0 && line[n - 1] == '\r')
		n--;
	if (lo != NULL && l.console_n > 0 && l.console_n < n)
		to.line.first_lo_ns = lo[n - l.console_n];
	stamp(in, &l, &to);
	if (ev.partial) {
		hold(in, &to);
		if (in->held.any)
			return 0;
	}
	return ww_pmbuild_feed(in->build, &to, err);
}

/* pm-graph marks the end of what it watches. */
static bool is_end_mark(const struct ww_ftline *l)
{
	return l->kind == WW_FT_MARK && l->text.n >= 15 &&
	       memcmp(l->text.p, "RESUME COMPLETE", 15) == 0;
}

static void probe(struct ww_kl_input *in, const struct ww_ftline *l)
{
	if (l->event.n > 4 && l->func.n + 4 == l->event.n && l->opens != l->closes)
		ww_pmbuild_probe(in->build, l->func, l->opens, l->pid, l->t_ns);
}

static int ftrace_line(struct ww_kl_input *in, const char *line, size_t n, struct ww_pm_in to,
		       struct ww_error *err)
{
	struct ww_ftline l;
	int rc = 0;

	switch (ww_ftline_parse(line, n, &l)) {
	case WW_FT_HEADER:
		header(in, line, n, &rc, err);
		return rc;
	case WW_FT_LOST:
		in->lost += l.lost > 0 ? (uint64_t)l.lost : 1;
		in->build->lost = true;
		return 0;
	case WW_FT_NONE:
		return 0;
	case WW_FT_GRAPH:
		in->graphs += l.event.n == 0;
		probe(in, &l);
		break;
	default:
		break;
	}
	if (is_end_mark(&l)) {
		if (ww_pmbuild_idle(in->build))
			return 0;
		ww_pmev_clear(&l.ev);
		l.ev.kind = WW_PMEV_EXIT;
	}
	if (l.ev.kind == WW_PMEV_NONE)
		return 0;
	in->events++;
	in->bare += l.bare;
	to.ev = &l.ev;
	to.message = l.text;
	to.line.kernel = 1;
	to.line.pid = l.pid;
	to.line.t_ns = l.t_ns;
	to.res_ns = l.res_ns;
	to.clock = l.t_ns != WW_NO_TIME ? WW_PM_CLOCK_TRACE : WW_PM_CLOCK_NONE;
	return ww_pmbuild_feed(in->build, &to, err);
}

int ww_kl_line(struct ww_kl_input *in, const char *line, size_t n, const int64_t *lo,
	       int64_t end_lo, int64_t end_hi, struct ww_error *err)
{
	struct ww_pm_in to = {.line = {.t_ns = WW_NO_TIME,
				       .host_ns = WW_NO_TIME,
				       .lo_ns = end_lo,
				       .hi_ns = end_hi,
				       .first_lo_ns = lo != NULL && n > 0 ? lo[0] : end_lo,
				       .pid = -1}};

	in->lines++;
	return in->ftrace ? ftrace_line(in, line, n, to, err)
			  : kernel_line(in, line, n, lo, to, err);
}

/* Of most of its lines. A line that has the kernel's stamp is the kernel's. */
int ww_kl_looks_like_ftrace(const char *text, size_t n, size_t *tell, struct ww_error *err)
{
	struct ww_kline_state *s = malloc(sizeof(*s));
	const char *p = text, *end = text + n, *nl;
	size_t ft = 0, kernel = 0;
	struct ww_ftline f;
	struct ww_kline k;
	struct ww_pmev e;

	if (s == NULL)
		return ww_fail_nomem(err);
	ww_kline_init(s);
	for (; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			nl = end;
		if (nl - p >= 9 && memcmp(p, "# tracer:", 9) == 0) {
			ft = SIZE_MAX;
			break;
		}
		ww_kline_parse(s, p, (size_t)(nl - p), &k);
		if (k.kernel_ns != WW_NO_TIME ||
		    ww_kmsg_parse(k.text.p, k.text.n, &e) != WW_PMEV_NONE)
			kernel++;
		else if (ww_ftline_parse(p, (size_t)(nl - p), &f) == WW_FT_EVENT ||
			 f.kind == WW_FT_GRAPH || f.kind == WW_FT_MARK)
			ft++;
	}
	free(s);
	*tell = ft > kernel ? ft : kernel;
	return ft > kernel;
}
