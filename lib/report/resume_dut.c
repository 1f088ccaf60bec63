/* SPDX-License-Identifier: MIT */
/* What the machine itself told of each cycle: attempts, what woke it, how deep it slept. */
#include "report/format.h"
#include "report/resume.h"

#define VALUES 8

void ww_resume_json_dut(struct ww_json *j, const struct ww_resume *r, size_t i)
{
	const char *key, *value;

	for (size_t k = 0; ww_resume_cycle_info_at(r, i, k, &key, &value) > 0; k++) {
		if (k == 0)
			ww_json_open(j, "dut", '{');
		ww_json_text(j, key, value);
	}
	if (ww_resume_cycle_info_at(r, i, 0, &key, &value) > 0)
		ww_json_close(j, '}');
}

static void wrapped(struct ww_str *s, struct ww_str *line)
{
	s->bad = s->bad || line->bad;
	if (!line->bad && line->n)
		ww_put_wrapped(s, line->p, 4, WW_RESUME_WIDTH);
	ww_str_free(line);
}

static const char *told(const struct ww_resume *r, size_t i, const char *want)
{
	const char *key, *value;

	for (size_t k = 0; ww_resume_cycle_info_at(r, i, k, &key, &value) > 0; k++)
		if (strcmp(key, want) == 0)
			return value;
	return NULL;
}

static bool plain(const struct ww_resume *r, size_t i)
{
	int result = r->cycle[i].c.result;
	const char *failed = told(r, i, "attempts_failed");

	return (result == WW_RES_OK || result == WW_RES_PM_TEST) &&
	       (!failed || strcmp(failed, "0") == 0);
}

/* A cycle that did not go well, or not at once: all that it told. */
static void text_cycle(struct ww_str *s, const struct ww_resume *r, size_t i)
{
	const struct ww_cycle *c = &r->cycle[i].c;
	const char *key, *value;
	struct ww_str line = {0};

	if (plain(r, i))
		return;
	for (size_t k = 0; ww_resume_cycle_info_at(r, i, k, &key, &value) > 0; k++) {
		if (k == 0)
			ww_str_addf(&line, "  cycle %u, told by the DUT: ", (unsigned)c->n);
		else
			ww_str_add(&line, ", ");
		ww_str_plain(&line, key);
		ww_str_add(&line, " ");
		ww_str_plain(&line, value);
	}
	wrapped(s, &line);
}

/* "LNXPWRBN:00:4": how often it was counted is another number in each cycle. */
static char *uncounted(const char *value)
{
	char *copy = strdup(value);
	size_t n = copy ? strlen(copy) : 0, at = n;

	while (at > 0 && ww_is_digit(copy[at - 1]))
		at--;
	if (at > 1 && at < n && copy[at - 1] == ':')
		copy[at - 1] = '\0';
	return copy;
}

struct counts {
	char *value[VALUES];
	uint64_t count[VALUES], others;
	size_t n;
};

static void count(struct counts *c, char *value)
{
	size_t k;

	for (k = 0; k < c->n && strcmp(c->value[k], value) != 0; k++)
		;
	if (k == c->n && k < VALUES) {
		c->value[k] = value;
		c->count[k] = 1;
		c->n++;
		return;
	}
	if (k == c->n)
		c->others++;
	else
		c->count[k]++;
	free(value);
}

/* Which values a key had, and how often each. */
static void text_key(struct ww_str *s, const struct ww_resume *r, const char *key,
		     const char *words)
{
	struct ww_str line = {0};
	struct counts c = {0};

	for (size_t i = 0; i < r->cycles; i++) {
		const char *v = told(r, i, key);
		char *value = v ? uncounted(v) : NULL;

		s->bad = s->bad || (v && !value);
		if (value)
			count(&c, value);
	}
	for (size_t k = 0; k < c.n; k++) {
		ww_str_addf(&line, k ? ", " : "  %s: ", words);
		ww_str_plain(&line, c.value[k]);
		ww_str_addf(&line, " (%llu cycle%s)", (unsigned long long)c.count[k],
			    c.count[k] == 1 ? "" : "s");
		free(c.value[k]);
	}
	if (c.others)
		ww_str_addf(&line, ", others (%llu cycles)", (unsigned long long)c.others);
	wrapped(s, &line);
}

void ww_resume_text_dut(struct ww_str *s, const struct ww_resume *r)
{
	static const char *const keys[][2] = {{"sleep_mode", "mode"},
					      {"wakeup_irq", "woken by interrupt"},
					      {"wakeup_sources", "wake-up sources"},
					      {"wake_lock", "kept awake by"}};
	struct ww_str body = {0};

	for (size_t i = 0; i < WW_COUNTOF(keys); i++)
		text_key(&body, r, keys[i][0], keys[i][1]);
	for (size_t i = 0; i < r->cycles; i++)
		text_cycle(&body, r, i);
	s->bad = s->bad || body.bad;
	if (!body.bad && body.n) {
		ww_str_add(s, "\nthe DUT's own account\n");
		ww_str_addn(s, body.p, body.n);
	}
	ww_str_free(&body);
}
