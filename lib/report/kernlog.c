/* SPDX-License-Identifier: MIT */
/* Kernel logs as reports: reads suspend after suspend and writes each as it comes. */
#include "report/kernlog.h"
#include "report/events.h"
#include "report/format.h"
#include "report/page.h"
#include "trace/output.h"

#include <unistd.h>

/* So many cycles are told in full; of more a table is the better view. */
#define FEW 3
#define TOP 10

struct run {
	struct ww_kernlog *k;
	struct ww_sink out;
	struct ww_ksum sum;
	size_t top;
	uint32_t only;
	int detail;
	/* WW_DETAIL_AUTO: what the first cycles would look like either way. */
	struct ww_str full, rows;
	bool table, said, found;
};

int ww_sink_flush(struct ww_sink *k, size_t least, struct ww_error *err)
{
	int rc;

	if (k->s.bad)
		return ww_fail_nomem(err);
	if (k->s.n < least || k->s.n == 0)
		return 0;
	rc = ww_write_all(k->fd, k->s.p, k->s.n,
			  k->fd == STDOUT_FILENO ? "standard output" : "output", err);
	ww_str_reset(&k->s);
	return rc;
}

/* ---- JSON ---- */

static void json_inputs(struct ww_json *j, const struct ww_kernlog *k)
{
	const char *text;

	ww_json_open(j, "inputs", '[');
	for (size_t i = 0; (text = ww_kernlog_input(k, i)); i++)
		ww_json_text(j, NULL, text);
	ww_json_close(j, ']');
}

static void json_end(struct ww_json *j, struct run *r, const struct ww_error *err)
{
	const char *note;

	ww_json_close(j, ']');
	json_inputs(j, r->k);
	ww_kernlog_json_summary(j, "summary", &r->sum, r->top);
	/* What was read is told, and that it is not all. */
	if (err && err->code)
		ww_json_text(j, "error", err->text);
	ww_json_open(j, "notes", '[');
	for (size_t i = 0; (note = ww_kernlog_note(r->k, i)); i++)
		ww_json_text(j, NULL, note);
	ww_json_close(j, ']');
	ww_json_close(j, '}');
	ww_str_add(j->s, "\n");
}

static int json_report(struct run *r, struct ww_error *err)
{
	struct ww_json j = {.s = &r->out.s};
	const struct ww_pm_cycle *c;
	struct ww_error read = {0};
	int rc, wrote = 0;

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/kernlog/1");
	ww_json_open(&j, "cycles", '[');
	while ((rc = ww_kernlog_next(r->k, &c, &read)) > 0 && wrote >= 0) {
		ww_json_open(&j, NULL, '{');
		ww_kernlog_json_cycle(&j, c);
		ww_json_close(&j, '}');
		ww_ksum_add(&r->sum, c);
		wrote = ww_sink_flush(&r->out, 0, err);
	}
	if (wrote >= 0) {
		json_end(&j, r, &read);
		wrote = ww_sink_flush(&r->out, 0, err);
	}
	if (wrote < 0)
		return wrote;
	return rc < 0 ? ww_fail(err, rc, "%s", read.text) : 0;
}

/* ---- CSV ---- */

static int csv_report(struct run *r, struct ww_error *err)
{
	const struct ww_pm_cycle *c;
	int rc, wrote = 0;

	ww_kernlog_csv_head(&r->out.s);
	while ((rc = ww_kernlog_next(r->k, &c, err)) > 0 && wrote >= 0) {
		ww_kernlog_csv_cycle(&r->out.s, c);
		r->sum.cycles++;
		wrote = ww_sink_flush(&r->out, 0, err);
	}
	if (wrote >= 0)
		wrote = ww_sink_flush(&r->out, 0, err);
	return wrote < 0 ? wrote : rc < 0 ? rc : 0;
}

/* ---- text ---- */

static void text_head(struct run *r)
{
	const char *text;

	for (size_t i = 0; !r->said && (text = ww_kernlog_input(r->k, i)); i++) {
		ww_str_plain(&r->out.s, text);
		ww_str_add(&r->out.s, "\n");
	}
	r->said = true;
}

static void move(struct ww_str *to, struct ww_str *from)
{
	to->bad = to->bad || from->bad;
	if (from->n)
		ww_str_addn(to, from->p, from->n);
	ww_str_free(from);
}

/* A few cycles wait until it is known that there are not many. */
static void text_auto(struct run *r, const struct ww_pm_cycle *c)
{
	if (!r->table && r->detail == WW_DETAIL_AUTO) {
		ww_str_add(&r->full, "\n");
		ww_kernlog_text_cycle(&r->full, c, r->top);
	}
	ww_kernlog_text_row(r->table ? &r->out.s : &r->rows, c);
	if (!r->table && (r->sum.cycles > FEW || r->detail == WW_DETAIL_TABLE)) {
		r->table = true;
		ww_str_free(&r->full);
		ww_str_add(&r->out.s, "\n");
		ww_kernlog_text_head(&r->out.s);
		move(&r->out.s, &r->rows);
	}
}

static void text_cycle(struct run *r, const struct ww_pm_cycle *c)
{
	if (r->only && c->n != r->only)
		return;
	text_head(r);
	if (r->only || r->detail == WW_DETAIL_ALL) {
		ww_str_add(&r->out.s, "\n");
		ww_kernlog_text_cycle(&r->out.s, c, r->top);
	} else {
		text_auto(r, c);
	}
}

static void text_end(struct run *r)
{
	struct ww_str *s = &r->out.s;
	const char *note;

	text_head(r);
	move(s, &r->full);
	ww_str_free(&r->rows);
	if (r->sum.cycles == 0)
		ww_str_add(s, "no suspend was found\n");
	else if (!r->only && r->sum.cycles > 1)
		ww_kernlog_text_summary(s, "", &r->sum, r->top);
	for (size_t i = 0; (note = ww_kernlog_note(r->k, i)); i++) {
		struct ww_str plain = {0};

		ww_str_add(s, i ? "" : "\n");
		ww_str_plain(&plain, note);
		s->bad = s->bad || plain.bad;
		if (!plain.bad)
			ww_put_note(s, plain.p);
		ww_str_free(&plain);
	}
}

static int text_report(struct run *r, struct ww_error *err)
{
	const struct ww_pm_cycle *c;
	struct ww_error read = {0};
	int rc, wrote = 0;

	r->found = !r->only;
	while ((rc = ww_kernlog_next(r->k, &c, &read)) > 0 && wrote >= 0) {
		ww_ksum_add(&r->sum, c);
		r->found |= c->n == r->only;
		text_cycle(r, c);
		wrote = ww_sink_flush(&r->out, 0, err);
	}
	/* Of a cycle that is not there nothing is said but that. */
	if (wrote >= 0 && r->found) {
		text_end(r);
		wrote = ww_sink_flush(&r->out, 0, err);
	}
	if (wrote < 0)
		return wrote;
	if (rc < 0)
		return ww_fail(err, rc, "%s", read.text);
	return r->found ? 0
			: ww_fail(err, -ENOENT, "no cycle %u: there are %llu", (unsigned)r->only,
				  (unsigned long long)r->sum.cycles);
}

/* ---- all forms ---- */

int64_t ww_kernlog_report(struct ww_kernlog *k, int form, const struct ww_page_options *opt, int fd,
			  struct ww_error *err)
{
	struct run r = {.k = k, .out.fd = fd};
	int64_t cycles;
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	if (form == WW_REPORT_HTML)
		return ww_page_kernlog(k, opt, fd, err);
	if (form == WW_REPORT_TRACE_EVENTS)
		return ww_events_kernlog(k, fd, err);
	r.top = WW_OPT(opt, devices, 0);
	r.top = r.top ? r.top : TOP;
	r.only = WW_OPT(opt, cycle, 0);
	r.detail = WW_OPT(opt, detail, WW_DETAIL_AUTO);
	if (form == WW_REPORT_TEXT)
		rc = text_report(&r, err);
	else if (form == WW_REPORT_JSON)
		rc = json_report(&r, err);
	else if (form == WW_REPORT_CSV)
		rc = csv_report(&r, err);
	else
		rc = ww_fail(err, -EINVAL, "report form %d is not known", form);
	if (rc == 0 && r.sum.bad)
		rc = ww_fail_nomem(err);
	cycles = (int64_t)r.sum.cycles;
	ww_ksum_free(&r.sum);
	ww_str_free(&r.out.s);
	ww_str_free(&r.full);
	ww_str_free(&r.rows);
	return rc < 0 ? rc : cycles;
}
