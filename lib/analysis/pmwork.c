/* SPDX-License-Identifier: MIT */
/* Memory of a cycle under construction: its rows, and its strings in blocks freed together. */
#include "analysis/pmwork.h"
#include "analysis/resume.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>

enum { BLOCK = 8192, SEEN = 512, STRING_MAX = 1024 };

struct ww_pm_block {
	struct ww_pm_block *next;
	size_t used, size;
	char data[];
};

struct ww_pm_work *ww_pm_work_new(void)
{
	struct ww_pm_work *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->c.t = (struct ww_interval){WW_TIME_MIN, WW_TIME_MAX};
	w->c.bench_begin = w->c.bench_end = WW_INTERVAL_NONE;
	w->c.suspend = w->c.resume = w->c.slept = WW_INTERVAL_NONE;
	w->c.suspend_corrected = w->c.resume_corrected = WW_INTERVAL_NONE;
	w->c.sleep_begin = w->c.sleep_end = WW_INTERVAL_NONE;
	w->c.firmware_suspend = w->c.firmware_resume = WW_INTERVAL_NONE;
	w->c.network = w->c.storage = WW_INTERVAL_NONE;
	w->console_off_ns = WW_NO_TIME;
	w->c.console_bound = __builtin_nan("");
	w->c.kernel = "";
	w->c.reason = (struct ww_pm_reason){"", "", "", "", "", "", "", 0, -1};
	return w;
}

void ww_pm_work_free(struct ww_pm_work *w)
{
	struct ww_pm_block *b, *next;

	if (w == NULL)
		return;
	for (b = w->blocks; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	ww_notes_free(&w->errors);
	ww_notes_free(&w->contradictions);
	free(w->error_list);
	free(w->contradiction_list);
	free(w->seen);
	free(w->span);
	free(w->device);
	free(w->other);
	free(w->line);
	free(w);
}

static char *room(struct ww_pm_work *w, size_t n)
{
	struct ww_pm_block *b = w->blocks;
	size_t size;

	if (b == NULL || b->size - b->used < n) {
		size = n > BLOCK ? n : BLOCK;
		b = malloc(sizeof(*b) + size);
		if (b == NULL) {
			w->oom = true;
			return NULL;
		}
		b->next = w->blocks;
		b->used = 0;
		b->size = size;
		w->blocks = b;
	}
	b->used += n;
	return b->data + b->used - n;
}

/* Bytes that are no UTF-8 and controls are three bytes of U+FFFD instead. */
static size_t mended(char *to, const char *p, size_t n)
{
	size_t i, k, len = 0;

	for (i = 0; i < n; i += k) {
		k = (unsigned char)p[i] >= 0x20 && (unsigned char)p[i] < 0x7f
			    ? 1
			    : ww_utf8_len((const unsigned char *)p + i, n - i);
		if (k == 0 || (k == 1 && ((unsigned char)p[i] < 0x20 || p[i] == 0x7f))) {
			to[len++] = '\xef'; /* U+FFFD */
			to[len++] = '\xbf';
			to[len++] = '\xbd';
			k = 1;
			continue;
		}
		memcpy(to + len, p + i, k);
		len += k;
	}
	return len;
}

static bool is_plain_ascii(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if ((unsigned char)p[i] < 0x20 || (unsigned char)p[i] > 0x7e)
			return false;
	}
	return true;
}

static uint32_t hash(const char *p, size_t n)
{
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * 16777619u;
	return h ^ h >> 15;
}

/* Names come again and again: the last ones of each hash are remembered. */
static const char *plain_string(struct ww_pm_work *w, struct ww_slice s)
{
	const char **slot = NULL;
	char *p;

	if (w->seen == NULL)
		w->seen = calloc(SEEN, sizeof(*w->seen));
	if (w->seen != NULL) {
		slot = &w->seen[hash(s.p, s.n) % SEEN];
		if (*slot != NULL && strncmp(*slot, s.p, s.n) == 0 && (*slot)[s.n] == '\0')
			return *slot;
	}
	p = room(w, s.n + 1);
	if (p == NULL)
		return "";
	memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	if (slot != NULL)
		*slot = p;
	return p;
}

const char *ww_pm_str(struct ww_pm_work *w, struct ww_slice s)
{
	char *p;
	size_t n;

	if (s.n == 0 || s.p == NULL)
		return "";
	if (s.n > STRING_MAX)
		s.n = STRING_MAX;
	if (is_plain_ascii(s.p, s.n))
		return plain_string(w, s);
	p = room(w, 3 * s.n + 1);
	if (p == NULL)
		return "";
	n = mended(p, s.p, s.n);
	p[n] = '\0';
	w->blocks->used -= 3 * s.n - n;
	return p;
}

const char *ww_pm_strf(struct ww_pm_work *w, const char *format, ...)
{
	char buf[STRING_MAX];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(buf, sizeof(buf), format, ap);
	va_end(ap);
	if (n < 0)
		return "";
	return ww_pm_str(w, (struct ww_slice){buf, strlen(buf)});
}

static void *row(struct ww_pm_work *w, void *list, size_t *cap, size_t n, size_t size)
{
	if (ww_grow(list, cap, n, size, NULL) < 0) {
		w->oom = true;
		return NULL;
	}
	return *(char **)list + n * size;
}

struct ww_pm_span *ww_pm_add_span(struct ww_pm_work *w)
{
	struct ww_pm_span *s = row(w, &w->span, &w->spans_cap, w->spans, sizeof(*s));

	if (s == NULL)
		return NULL;
	w->spans++;
	memset(s, 0, sizeof(*s));
	s->start_ns = WW_TIME_MIN;
	s->end_ns = WW_TIME_MAX;
	s->length = s->printed = s->traced = s->corrected = WW_INTERVAL_NONE;
	return s;
}

struct ww_pm_device *ww_pm_add_device(struct ww_pm_work *w)
{
	struct ww_pm_device *d = row(w, &w->device, &w->devices_cap, w->devices, sizeof(*d));

	if (d == NULL)
		return NULL;
	w->devices++;
	memset(d, 0, sizeof(*d));
	d->name = d->driver = d->parent = d->func = "";
	d->start_ns = WW_TIME_MIN;
	d->end_ns = WW_TIME_MAX;
	d->length = d->corrected = d->printed = WW_INTERVAL_NONE;
	d->pid = d->async = -1;
	return d;
}

struct ww_pm_other *ww_pm_add_other(struct ww_pm_work *w)
{
	struct ww_pm_other *o = row(w, &w->other, &w->others_cap, w->others, sizeof(*o));

	if (o == NULL)
		return NULL;
	w->others++;
	o->what = o->before = o->after = "";
	o->start_ns = WW_TIME_MIN;
	o->length = WW_INTERVAL_NONE;
	return o;
}

struct ww_pm_line *ww_pm_add_line(struct ww_pm_work *w)
{
	struct ww_pm_line *l = row(w, &w->line, &w->lines_cap, w->lines, sizeof(*l));

	if (l != NULL)
		w->lines++;
	return l;
}

/* When it began, as far as it is known: those of printed times alone began that much earlier. */
static int64_t began(const struct ww_pm_device *d)
{
	if (d->start_ns != WW_TIME_MIN)
		return d->start_ns;
	if (d->end_ns == WW_TIME_MAX)
		return WW_TIME_MIN;
	return d->end_ns - (ww_iv_ok(d->length) ? d->length.lo_ns : 0);
}

static int by_start(const void *a, const void *b)
{
	const struct ww_pm_device *x = a, *y = b;
	int64_t s = began(x), t = began(y);

	if (s != t)
		return s < t ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return 0;
}

static int list_of(const struct ww_notes *notes, const char ***list, size_t *n,
		   struct ww_error *err)
{
	size_t i;

	if (notes->bad)
		return ww_fail_nomem(err);
	free(*list);
	*list = NULL;
	*n = notes->n;
	if (notes->n == 0)
		return 0;
	*list = calloc(notes->n, sizeof(**list));
	if (*list == NULL)
		return ww_fail_nomem(err);
	for (i = 0; i < notes->n; i++)
		(*list)[i] = notes->note[i];
	return 0;
}

/* Without times the order in which they came is the best there is. */
static bool to_be_sorted(const struct ww_pm_work *w)
{
	bool ordered = true;
	size_t i;

	for (i = 0; i < w->devices; i++) {
		if (began(&w->device[i]) == WW_TIME_MIN)
			return false;
		if (i > 0 && by_start(&w->device[i - 1], &w->device[i]) > 0)
			ordered = false;
	}
	return !ordered;
}

int ww_pm_close(struct ww_pm_work *w, struct ww_error *err)
{
	int rc = list_of(&w->errors, &w->error_list, &w->c.errors, err);

	if (rc == 0)
		rc = list_of(&w->contradictions, &w->contradiction_list, &w->c.contradictions, err);
	if (rc < 0)
		return rc;
	if (w->oom)
		return ww_fail_nomem(err);
	if (to_be_sorted(w))
		qsort(w->device, w->devices, sizeof(*w->device), by_start);
	w->c.error = w->error_list;
	w->c.contradiction = w->contradiction_list;
	w->c.span = w->span;
	w->c.spans = w->spans;
	w->c.device = w->device;
	w->c.devices = w->devices;
	w->c.other = w->other;
	w->c.others = w->others;
	return 0;
}
