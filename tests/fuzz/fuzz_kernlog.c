/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as kernel text or ftrace, in pieces of any size, alone or as a pair (a NUL parts
 * the two): cycles are whole, in order, and their figures make sense; pieces change nothing.
 */
#include "text/textin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	struct ww_text base;
	const uint8_t *p;
	size_t n, at, step;
	int64_t lo[256];
	bool timed;
};

static int bytes_next(struct ww_text *t, const uint8_t **data, size_t *n, const int64_t **lo,
		      const int64_t **hi, struct ww_error *err)
{
	struct bytes *b = (struct bytes *)t;
	size_t some = b->n - b->at;

	(void)err;
	if (some == 0)
		return 0;
	if (b->step > 0 && some > b->step)
		some = b->step;
	*data = b->p + b->at;
	*n = some;
	*lo = *hi = NULL;
	if (b->timed) {
		for (size_t i = 0; i < some; i++)
			b->lo[i] = (int64_t)(b->at + i) * 86806;
		*lo = *hi = b->lo;
	}
	b->at += some;
	return 1;
}

static void set(struct bytes *b, const uint8_t *p, size_t n, size_t step)
{
	b->base = (struct ww_text){.name = (char *)(uintptr_t) "fuzz", .next = bytes_next};
	b->p = p;
	b->n = n;
	b->at = 0;
	b->step = step;
	b->timed = false;
}

static void good(struct ww_interval v)
{
	if (v.lo_ns <= v.hi_ns && v.lo_ns < 0)
		abort();
}

static void check(const struct ww_pm_cycle *c, uint32_t n)
{
	struct ww_pm_cycle *copy;

	if (c->n != n || !ww_pm_mode_name(c->mode) || !ww_pm_result_name(c->result))
		abort();
	good(c->suspend);
	good(c->resume);
	good(c->slept);
	for (size_t i = 0; i < c->spans; i++) {
		if (!ww_pm_phase_name(c->span[i].phase) || !ww_pm_verb_name(c->span[i].verb))
			abort();
		good(c->span[i].length);
	}
	for (size_t i = 0; i < c->devices; i++) {
		if (!c->device[i].name || !c->device[i].driver || !c->device[i].parent ||
		    !c->device[i].func || !ww_pm_phase_name(c->device[i].phase))
			abort();
		good(c->device[i].length);
	}
	for (size_t i = 0; i < c->others; i++) {
		if (!c->other[i].what || !c->other[i].before || !c->other[i].after)
			abort();
		good(c->other[i].length);
	}
	copy = ww_pm_cycle_copy(c, 3);
	if (!copy || copy->devices > 3 || copy->spans != c->spans)
		abort();
	ww_pm_cycle_free(copy);
}

static uint64_t mixed(uint64_t sum, const struct ww_pm_cycle *c)
{
	uint64_t v[] = {(uint64_t)c->result,
			(uint64_t)c->mode,
			c->spans,
			c->devices,
			c->others,
			c->errors,
			(uint64_t)c->suspend.lo_ns,
			(uint64_t)c->resume.hi_ns};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		sum = (sum ^ v[i]) * UINT64_C(1099511628211);
	return sum;
}

/* What a text is taken for: its first lines decide, and how many come at once. */
static uint64_t taken_for(const struct ww_kernlog *k)
{
	uint64_t sum = 1;
	const char *note;

	for (const char *p = ww_kernlog_input(k, 0); *p; p++)
		sum = (sum ^ (uint64_t)(unsigned char)*p) * UINT64_C(1099511628211);
	for (size_t i = 0; (note = ww_kernlog_note(k, i)) != NULL; i++)
		sum += strstr(note, "turned around") != NULL;
	return sum;
}

/* @return a sum over all of it */
static uint64_t run(struct bytes *b, size_t n, uint64_t *what)
{
	struct ww_text *text[2] = {&b[0].base, &b[1].base};
	const struct ww_pm_cycle *c;
	struct ww_error err = {0};
	struct ww_kernlog *k = NULL;
	uint64_t sum = 0;
	uint32_t cycles = 0;
	int rc;

	if (ww_kernlog_new(text, n, NULL, &k, &err) < 0)
		abort();
	while ((rc = ww_kernlog_next(k, &c, &err)) == 1) {
		check(c, ++cycles);
		sum = mixed(sum, c);
	}
	if (rc < 0 || !ww_kernlog_input(k, 0))
		abort();
	*what = taken_for(k);
	ww_kernlog_free(k);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bytes b[2];
	const uint8_t *nul;
	uint64_t whole, pieces, what, again;

	if (size == 0)
		return 0;
	set(&b[0], data + 1, size - 1, 0);
	whole = run(b, 1, &what);
	set(&b[0], data + 1, size - 1, data[0]);
	pieces = run(b, 1, &again);
	if (what == again && pieces != whole)
		abort();
	set(&b[0], data + 1, size - 1, data[0] ? data[0] : 255);
	b[0].timed = true;
	run(b, 1, &again);
	nul = memchr(data + 1, 0, size - 1);
	if (!nul)
		return 0;
	set(&b[0], data + 1, (size_t)(nul - data) - 1, data[0]);
	set(&b[1], nul + 1, (size_t)(data + size - nul) - 1, 0);
	run(b, 2, &again);
	return 0;
}
