// SPDX-License-Identifier: MIT
/* A trace of trace-cmd as text: the records of all CPUs in the order of their times. */
#include "import/dat.h"

#include <unistd.h>

#define PIECE (64u * 1024u)

struct dattext {
	struct ww_text base;
	struct ww_dat *d;
	struct ww_str s;
	bool begun;
	int failed; /* told after all that could be read */
	struct ww_error why;
};

bool ww_dat_looks(const uint8_t *p, size_t n)
{
	return n >= 10 && memcmp(p, "\x17\x08\x44tracing", 10) == 0;
}

/* A CPU's data that end too early are no reason to leave out those of the others. */
static void advance(struct dattext *t, struct ww_dat_cpu *c)
{
	int rc = ww_dat_next(t->d, c, &t->why);

	if (rc < 0) {
		t->failed = rc;
		c->data = NULL;
		c->at = c->end;
		c->chunks_left = 0;
		c->pos = c->commit = 0;
		c->chunk_at = c->chunk_n = 0;
	}
}

static void begin(struct dattext *t)
{
	t->begun = true;
	ww_str_addf(&t->s, "# tracer: nop\n# trace-cmd, version %d of its form, clock %s\n",
		    t->d->version, t->d->clock[0] ? t->d->clock : "local");
	for (size_t i = 0; i < t->d->cpus; i++)
		advance(t, &t->d->cpu[i]);
}

/* Of the latency tracers, which leave text. */
static int next_text(struct dattext *t, struct ww_error *err)
{
	struct ww_dat *d = t->d;
	struct ww_dat_cursor c = ww_dat_at(d, d->text_at);
	char buf[4096];

	while (c.at < c.end && t->s.n < PIECE) {
		size_t n = c.end - c.at < sizeof(buf) ? (size_t)(c.end - c.at) : sizeof(buf);

		if (!ww_dat_get(&c, buf, n))
			return ww_dat_broken(d, "its text cannot be read", err);
		ww_str_addn(&t->s, buf, n);
	}
	d->text_at = c.at;
	return 0;
}

static int dattext_next(struct ww_text *base, const uint8_t **data, size_t *n, const int64_t **lo,
			const int64_t **hi, struct ww_error *err)
{
	struct dattext *t = (struct dattext *)base;
	int rc = 0;

	ww_str_reset(&t->s);
	*lo = *hi = NULL;
	if (t->d->text_at)
		rc = next_text(t, err);
	else if (!t->begun)
		begin(t);
	while (rc == 0 && t->s.n < PIECE) {
		struct ww_dat_cpu *first = NULL;

		for (size_t i = 0; i < t->d->cpus; i++) {
			struct ww_dat_cpu *c = &t->d->cpu[i];

			if (c->data && (!first || c->data_ts < first->data_ts))
				first = c;
		}
		if (!first)
			break;
		rc = ww_dat_line(t->d, first, &t->s, err);
		advance(t, first);
	}
	*data = (const uint8_t *)t->s.p;
	*n = t->s.n;
	if (rc == 0 && t->s.bad)
		rc = ww_fail_nomem(err);
	if (rc < 0 || *n > 0)
		return rc < 0 ? rc : 1;
	return t->failed < 0 ? ww_fail(err, t->failed, "%s", t->why.text) : 0;
}

static void dattext_close(struct ww_text *base)
{
	struct dattext *t = (struct dattext *)base;

	ww_dat_free(t->d);
	ww_str_free(&t->s);
	free(base->name);
	free(t);
}

int ww_dat_text(const char *name, int fd, bool owned, struct ww_text **out, struct ww_error *err)
{
	struct ww_dat *d;
	struct dattext *t;
	int rc = ww_dat_open(name, fd, owned, &d, err);

	if (rc < 0)
		return rc;
	t = calloc(1, sizeof(*t));
	if (t)
		t->base.name = strdup(name);
	if (!t || !t->base.name) {
		free(t);
		ww_dat_free(d);
		return ww_fail_nomem(err);
	}
	t->base.next = dattext_next;
	t->base.close = dattext_close;
	t->base.ftrace = true;
	t->d = d;
	*out = &t->base;
	return 0;
}
