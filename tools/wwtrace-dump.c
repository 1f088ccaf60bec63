/* SPDX-License-Identifier: MIT */
/* wwtrace dump: all records, of all kinds, in the order of time, for people. */
#include "common.h"
#include "wwtrace.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void usage(FILE *f)
{
	fputs("Usage: wwtrace dump FILE\n"
	      "\n"
	      "All records of a trace, one a line: seconds since the first one, how long the\n"
	      "interval is in which it surely happened, source, what it is.\n"
	      "FILE may still be growing, or be - for standard input.\n"
	      "\n"
	      "  -h, --help  this text\n"
	      "\n" TOOL_IMPORT_HELP,
	      f);
}

/* One stream of records that is merged with the others. */
struct feed {
	const struct ww_source_info *source; /* NULL: marks or gaps */
	bool gaps;
	struct ww_cursor *cursor;
	struct ww_batch batch;
	size_t at;
	size_t *order; /* marks and gaps by time */
	size_t n;
};

static struct ww_interval time_of(struct ww_trace *t, const struct feed *f)
{
	if (f->source)
		return (struct ww_interval){f->batch.lo_ns[f->at], f->batch.hi_ns[f->at]};
	return f->gaps ? ww_trace_gap(t, f->order[f->at])->t : ww_trace_mark(t, f->order[f->at])->t;
}

static void put_time(struct ww_trace *t, struct ww_interval i)
{
	struct ww_interval span = ww_trace_span(t);
	int64_t at = i.hi_ns == WW_TIME_MAX ? i.lo_ns : i.hi_ns, rel = at - span.lo_ns;

	printf("%6" PRId64 ".%09" PRId64, rel / 1000000000, rel % 1000000000);
	if (i.lo_ns == WW_TIME_MIN || i.hi_ns == WW_TIME_MAX)
		printf("  %12s", "open");
	else
		printf("  %9" PRId64 " us", (i.hi_ns - i.lo_ns + 500) / 1000);
}

static const char *source_name(struct ww_trace *t, uint32_t id)
{
	for (size_t i = 0; i < ww_trace_source_count(t); i++)
		if (ww_trace_source(t, i)->id == id)
			return ww_trace_source(t, i)->name;
	return "-";
}

static int decimals(double scale)
{
	int d = 0;

	for (double s = scale < 0 ? -scale : scale; d < 9; d++, s *= 10) {
		double whole = (double)(int64_t)(s + 0.5);

		if (s > whole - 1e-9 * s && s < whole + 1e-9 * s)
			break;
	}
	return d;
}

/* Digits of the scale, without the zeros that the meter does not show. */
static void put_value(const struct ww_channel_info *c, int64_t code)
{
	int scale = decimals(c->scale), least = c->resolution > 0 ? decimals(c->resolution) : scale;
	char text[352];
	int n = snprintf(text, sizeof(text), "%.*f", scale, (double)code * c->scale + c->offset);

	for (; scale > least && n > 0 && text[n - 1] == '0'; scale--)
		text[--n] = '\0';
	if (n > 0 && text[n - 1] == '.')
		text[--n] = '\0';
	fputs(text, stdout);
}

static void put_row(struct ww_trace *t, const struct feed *f)
{
	size_t k = 0;

	if (f->batch.data) {
		uint8_t b = f->batch.data[f->at];

		printf("byte %02x %c\n", b, b > 0x20 && b < 0x7f ? b : '.');
		return;
	}
	for (size_t i = 0; i < ww_trace_channel_count(t); i++) {
		const struct ww_channel_info *c = ww_trace_channel(t, i);
		const char *unit;
		int64_t code;

		if (c->source != f->source->id || k >= f->batch.channels)
			continue;
		unit = strcmp(c->unit, "1") == 0 ? "" : c->unit;
		code = f->batch.codes[k][f->at];
		printf("%s%s ", k ? ", " : "", c->name);
		k++;
		if (code < WW_CODE_MIN)
			fputs(code == WW_OVER	 ? "over range"
			      : code == WW_UNDER ? "under range"
						 : "missing",
			      stdout);
		else
			put_value(c, code);
		if (code >= WW_CODE_MIN)
			printf("%s%s", *unit ? " " : "", unit);
	}
	putchar('\n');
}

/* Texts may hold anything: one line, no control characters. */
static void put_text(const char *s)
{
	for (; *s; s++)
		putchar((unsigned char)*s < 0x20 || *s == 0x7f ? ' ' : *s);
	putchar('\n');
}

static void put(struct ww_trace *t, const struct feed *f)
{
	put_time(t, time_of(t, f));
	if (f->source) {
		printf("  %-10s  ", f->source->name);
		put_row(t, f);
	} else if (f->gaps) {
		const struct ww_gap *g = ww_trace_gap(t, f->order[f->at]);

		printf("  %-10s  gap, ", source_name(t, g->source));
		if (g->lost >= 0)
			printf("%" PRId64 " lost: ", g->lost);
		put_text(g->reason);
	} else {
		const struct ww_mark *m = ww_trace_mark(t, f->order[f->at]);

		printf("  %-10s  mark %s%s", source_name(t, m->source), m->kind,
		       *m->text ? ": " : "");
		put_text(m->text);
	}
}

/* Insertion sort by time: they are nearly sorted already. */
static int sort_feed(struct ww_trace *t, struct feed *f)
{
	f->n = f->gaps ? ww_trace_gap_count(t) : ww_trace_mark_count(t);
	f->order = malloc((f->n + 1) * sizeof(*f->order));
	if (!f->order)
		return -1;
	for (size_t i = 0; i < f->n; i++) {
		size_t k = i;
		struct ww_interval now = f->gaps ? ww_trace_gap(t, i)->t : ww_trace_mark(t, i)->t;

		for (; k > 0; k--) {
			struct ww_interval before = f->gaps ? ww_trace_gap(t, f->order[k - 1])->t
							    : ww_trace_mark(t, f->order[k - 1])->t;

			if (before.hi_ns <= now.hi_ns)
				break;
			f->order[k] = f->order[k - 1];
		}
		f->order[k] = i;
	}
	return 0;
}

/* @return 1 there is a record at f->at, 0 not, negative error */
static int fill(struct feed *f, struct ww_error *err)
{
	if (!f->source)
		return f->at < f->n;
	if (f->at < f->batch.n)
		return 1;
	f->at = 0;
	return ww_cursor_next(f->cursor, &f->batch, err);
}

static int merge(struct ww_trace *t, struct feed *feed, size_t n, struct ww_error *err)
{
	for (;;) {
		struct feed *next = NULL;

		for (size_t i = 0; i < n; i++) {
			int rc = fill(&feed[i], err);

			if (rc < 0)
				return rc;
			if (rc > 0 &&
			    (!next || time_of(t, &feed[i]).hi_ns < time_of(t, next).hi_ns))
				next = &feed[i];
		}
		if (!next)
			return 0;
		put(t, next);
		next->at++;
		if (ferror(stdout))
			return 0;
	}
}

static int dump(struct ww_trace *t, struct ww_error *err)
{
	size_t all = ww_trace_source_count(t), sources = 0;
	struct feed *feed = calloc(all + 2, sizeof(*feed));
	int rc = feed ? 0 : -1;

	for (size_t i = 0; i < all && rc == 0; i++) {
		const struct ww_source_info *s = ww_trace_source(t, i);

		/* What a driver was called for: nothing that happened, and in no form for people.
		 */
		if (strcmp(s->role, "turns") == 0)
			continue;
		feed[sources].source = s;
		rc = ww_cursor_open(t, s->id, WW_TIME_MIN, WW_TIME_MAX, 0, &feed[sources++].cursor,
				    err);
	}
	if (rc == 0) {
		feed[sources + 1].gaps = true;
		rc = sort_feed(t, &feed[sources]);
	}
	if (rc == 0)
		rc = sort_feed(t, &feed[sources + 1]);
	if (rc == 0)
		rc = merge(t, feed, sources + 2, err);
	for (size_t i = 0; feed && i < sources + 2; i++) {
		ww_cursor_close(feed[i].cursor);
		free(feed[i].order);
	}
	free(feed);
	return rc;
}

int wwtrace_dump(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
						TOOL_IMPORT_OPTIONS,
						{0}};
	struct ww_error err = {0};
	struct ww_trace *t;
	const char *file;
	bool bad;
	int c, rc;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		int taken = tool_import_option(c);

		if (taken < 0)
			return TOOL_USAGE;
		if (taken > 0)
			continue;
		if (c != 'h')
			return tool_bad_option(c, argv);
		usage(stdout);
		return fflush(stdout) ? TOOL_FAILED : TOOL_OK;
	}
	file = tool_one_file(argc, argv);
	if (!file)
		return TOOL_USAGE;
	if (tool_open_trace(file, &t) != 0)
		return TOOL_FAILED;
	tool_say_import(t);
	rc = dump(t, &err);
	for (size_t i = 0; ww_trace_warning(t, i); i++)
		tool_say("%s: %s", file, ww_trace_warning(t, i));
	bad = ww_trace_warning(t, 0) != NULL;
	ww_trace_close(t);
	if (rc < 0)
		return tool_fail(&err);
	return bad ? TOOL_FAILED : TOOL_OK;
}
