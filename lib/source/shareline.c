/* SPDX-License-Identifier: MIT */
#include "source/shareline.h"
#include "bus/portimpl.h"

#include <limits.h>
#include <stdio.h>

/* Between the answer to one meter and the question to another: 3.5 characters of 1200 baud. */
#define SILENCE_NS (40 * WW_NS_PER_MS)
/*
 * Who was asked in vain for MUTE_NS or more, MUTE times in a row, leaves the line to others
 * that do answer: nine times as long, so that a dead one takes a tenth of it.
 */
#define MUTE_NS	 (50 * WW_NS_PER_MS)
#define MUTE	 3 /* one that loses an answer now and then is not dead */
#define REST	 9
#define REST_MAX (10 * WW_NS_PER_S)
#define ALIVE_NS (5 * WW_NS_PER_S)
#define RESTERS	 32

struct ww_shared {
	struct ww_shared *next;
	struct ww_loop *loop;
	struct ww_port *port;
	struct ww_timer *timer;
	struct ww_sharer *members;
	struct ww_sharer *holder; /* who speaks, or NULL */
	struct ww_sharer *last;	  /* who spoke last */
	int64_t free_ns;
	int64_t since_ns; /* it speaks */
	int64_t heard_ns; /* an answer, anybody's */
	struct {
		const void *key; /* the same for a sharer that comes again */
		int64_t until_ns;
		unsigned missed;
	} rest[RESTERS];
	uint64_t tickets;
	bool dead;
	unsigned busy;
	int64_t baud;
	char memory[WW_PORT_MEMORY];
	char key[PATH_MAX + 64];
};

/* ---------------------------------------------------------------- who speaks */

/* Until when it leaves the line to others; WW_TIME_MIN: it does not. */
static int64_t rests_until(const struct ww_shared *l, const struct ww_sharer *who)
{
	int64_t now = ww_loop_now(l->loop);

	if (!l->members->next || now - l->heard_ns > ALIVE_NS)
		return WW_TIME_MIN;
	for (size_t i = 0; who->key && i < RESTERS; i++)
		if (l->rest[i].key == who->key && l->rest[i].until_ns > now)
			return l->rest[i].until_ns;
	return WW_TIME_MIN;
}

/* An answer, or none. */
static void note_answer(struct ww_shared *l, const struct ww_sharer *who)
{
	int64_t now = ww_loop_now(l->loop), held = now - l->since_ns, rest;
	size_t i = 0;

	while (i < RESTERS && l->rest[i].key && l->rest[i].key != who->key)
		i++;
	if (!who->key || i == RESTERS)
		return;
	l->rest[i].key = who->key;
	if (l->heard_ns >= l->since_ns) {
		l->rest[i].until_ns = WW_TIME_MIN;
		l->rest[i].missed = 0;
	} else if (held >= MUTE_NS && ++l->rest[i].missed >= MUTE) {
		rest = held < REST_MAX / REST ? held * REST : REST_MAX;
		l->rest[i].until_ns = now + rest;
	}
}

/* *wait: when the next one that rests may speak. */
static struct ww_sharer *first_waiting(const struct ww_shared *l, int64_t *wait)
{
	struct ww_sharer *first = NULL;

	*wait = WW_TIME_MAX;
	for (struct ww_sharer *m = l->members; m; m = m->next) {
		int64_t rest = m->ticket ? rests_until(l, m) : WW_TIME_MIN;

		if (rest != WW_TIME_MIN)
			*wait = rest < *wait ? rest : *wait;
		else if (m->ticket && (!first || m->ticket < first->ticket))
			first = m;
	}
	return first;
}

static void speaks(struct ww_shared *l, struct ww_sharer *who)
{
	who->ticket = 0;
	l->holder = l->last = who;
	l->since_ns = ww_loop_now(l->loop);
}

static void on_timer(void *ctx, int64_t now_ns, int64_t late_ns)
{
	struct ww_shared *l = ctx;
	struct ww_sharer *m;
	int64_t wait;

	(void)late_ns;
	if (l->holder || l->dead)
		return;
	m = first_waiting(l, &wait);
	if (!m || now_ns < l->free_ns) {
		ww_timer_set(l->timer, m ? l->free_ns : wait, 0);
		return;
	}
	speaks(l, m);
	ww_timer_set(m->timer, now_ns, 0);
}

bool ww_share_take(struct ww_sharer *who)
{
	struct ww_shared *l = who->line;
	int64_t wait;

	if (!l || l->holder == who)
		return true;
	if (!l->holder && !first_waiting(l, &wait) && ww_loop_now(l->loop) >= l->free_ns &&
	    rests_until(l, who) == WW_TIME_MIN) {
		speaks(l, who);
		return true;
	}
	if (!who->ticket)
		who->ticket = ++l->tickets;
	if (!l->holder)
		ww_timer_set(l->timer, l->free_ns, 0);
	return false;
}

void ww_share_release(struct ww_sharer *who)
{
	struct ww_shared *l = who->line;

	who->ticket = 0;
	if (!l || l->holder != who)
		return;
	note_answer(l, who);
	l->holder = NULL;
	l->free_ns = ww_loop_now(l->loop) + SILENCE_NS;
	ww_timer_set(l->timer, l->free_ns, 0);
}

int ww_share_baud(struct ww_sharer *who, struct ww_port *port, int64_t baud)
{
	struct ww_shared *l = who->line;
	int rc;

	if (l && l->members->next)
		return -EBUSY;
	rc = ww_port_baud(port, baud, NULL);
	if (rc >= 0 && l)
		l->baud = baud;
	return rc;
}

/* -------------------------------------------------------- what the port says */

static void leave_call(struct ww_shared *l);

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct ww_shared *l = ctx;

	l->busy++;
	l->heard_ns = ww_loop_now(l->loop);
	if (l->last)
		l->last->ev.bytes(l->last->ev.ctx, t, data, n);
	leave_call(l);
}

/* Each is told once; each may close itself, or others, meanwhile. */
static void on_lost(void *ctx, const struct ww_error *err)
{
	struct ww_shared *l = ctx;
	struct ww_sharer *m;

	l->busy++;
	l->dead = true;
	for (m = l->members; m;) {
		if (m->told) {
			m = m->next;
			continue;
		}
		m->told = true;
		m->ev.lost(m->ev.ctx, err);
		m = l->members;
	}
	leave_call(l);
}

static void on_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	struct ww_shared *l = ctx;
	struct ww_sharer *m = l->last ? l->last : l->members;

	l->busy++;
	if (m)
		m->ev.trouble(m->ev.ctx, t, lost, text);
	leave_call(l);
}

/* ---------------------------------------------------------- joining, leaving */

static void drop(struct ww_shared *l)
{
	struct ww_shared **p = (struct ww_shared **)ww_loop_shared(l->loop);

	while (*p && *p != l)
		p = &(*p)->next;
	if (*p)
		*p = l->next;
	ww_timer_free(l->timer);
	ww_port_close(l->port);
	free(l);
}

static void leave_call(struct ww_shared *l)
{
	if (--l->busy == 0 && !l->members)
		drop(l);
}

void ww_share_close(struct ww_sharer *who, struct ww_port *port)
{
	struct ww_shared *l = who->line;
	struct ww_sharer **p;

	if (!l) {
		ww_port_close(port);
		return;
	}
	ww_share_release(who);
	for (p = &l->members; *p && *p != who;)
		p = &(*p)->next;
	if (*p)
		*p = who->next;
	if (l->last == who)
		l->last = NULL;
	who->line = NULL;
	if (!l->members && !l->busy)
		drop(l);
}

/* The same device under two names is one line. */
static void key_of(const struct ww_port_setup *s, char *key, size_t n)
{
	const char *path = strncmp(s->place, "tty:", 4) == 0 ? s->place + 4 : s->place;
	char real[PATH_MAX];

	if (*path == '/' && realpath(path, real))
		path = real;
	snprintf(key, n, "%s?%.60s", path, ww_uri_get(s->options, "serial", ""));
}

static struct ww_shared *find(struct ww_loop *loop, const char *key)
{
	struct ww_shared *l = *ww_loop_shared(loop);

	while (l && (l->dead || strcmp(l->key, key) != 0))
		l = l->next;
	return l;
}

/* What the first one's URI said of the line holds for all. */
static int agree(const struct ww_shared *l, const struct ww_port_setup *s, struct ww_error *err)
{
	static const char *const others[] = {"exclusive", "vid", "pid", "interface"};
	struct ww_line line;

	for (size_t i = 0; i < WW_COUNTOF(others); i++)
		ww_uri_get(s->options, others[i], NULL);
	if (ww_line_options(s->options, l->baud, &line, err) < 0)
		return -EINVAL;
	if (line.baud != l->baud)
		return ww_fail(err, -EINVAL,
			       "%s: another meter has it open at %lld baud: all on one line have "
			       "the same speed",
			       s->place, (long long)l->baud);
	return 0;
}

static int open_line(struct ww_shared *l, const struct ww_port_setup *s, struct ww_error *err)
{
	struct ww_port_setup own = *s;
	struct ww_line line = {0};
	int rc;

	own.ev = (struct ww_port_events){.ctx = l,
					 .bytes = on_bytes,
					 .lost = on_lost,
					 .trouble = on_trouble};
	if (s->memory)
		memcpy(l->memory, s->memory, sizeof(l->memory));
	own.memory = l->memory;
	l->loop = s->loop;
	l->free_ns = WW_TIME_MIN;
	l->heard_ns = ww_loop_now(s->loop) - 2 * ALIVE_NS;
	rc = ww_loop_timer(s->loop, on_timer, l, &l->timer, err);
	if (rc == 0)
		rc = ww_port_open_setup(&own, &l->port, err);
	if (rc == 0)
		rc = ww_line_options(s->options, s->baud, &line, err);
	if (rc < 0)
		return rc;
	l->baud = line.baud;
	l->next = *ww_loop_shared(s->loop);
	*ww_loop_shared(s->loop) = l;
	return 0;
}

int ww_share_open(struct ww_sharer *who, const struct ww_port_setup *s, struct ww_port **out,
		  struct ww_error *err)
{
	char key[sizeof(((struct ww_shared *)NULL)->key)];
	struct ww_shared *l;
	int rc;

	key_of(s, key, sizeof(key));
	l = find(s->loop, key);
	if (l) {
		rc = agree(l, s, err);
		if (rc < 0)
			return rc;
	} else {
		l = calloc(1, sizeof(*l));
		if (!l)
			return ww_fail_nomem(err);
		memcpy(l->key, key, sizeof(key));
		rc = open_line(l, s, err);
		if (rc < 0) {
			ww_timer_free(l->timer);
			ww_port_close(l->port);
			free(l);
			return rc;
		}
	}
	if (s->memory)
		memcpy(s->memory, l->memory, WW_PORT_MEMORY);
	who->line = l;
	who->ev = s->ev;
	who->key = s->memory;
	who->told = false;
	who->ticket = 0;
	who->next = l->members;
	l->members = who;
	*out = l->port;
	return 0;
}
