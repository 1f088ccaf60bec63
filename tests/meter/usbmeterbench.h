/* SPDX-License-Identifier: MIT */
/* What the tests of USB meters share: texts, losses, frames of other meters. */
#ifndef USBMETERBENCH_H
#define USBMETERBENCH_H

#include "meterbench.h"
#include "goldenframes.h"

#define MS  WW_NS_PER_MS
#define SEC WW_NS_PER_S

static inline void must(bool ok, const char *what, const struct meterlog *l)
{
	if (!ok)
		fail_msg("%s in:\n%.300s\n...\n%s", what, ml_text(l),
			 strlen(ml_text(l)) > 700 ? ml_text(l) + strlen(ml_text(l)) - 700 : "");
}

#define HAS(l, s)    must(strstr(ml_text(l), s) != NULL, "missing '" s "'", l)
#define HAS_NO(l, s) must(strstr(ml_text(l), s) == NULL, "unexpected '" s "'", l)

static inline bool near(double a, double b, double tol)
{
	return fabs(a - b) <= tol;
}

/* Items told as lost, for any reason or the one given. */
static inline int64_t lost_items(const struct meterlog *l, const char *why)
{
	int64_t sum = 0;

	for (const char *p = ml_text(l); (p = strstr(p, "loss ")); p += 5) {
		long long from, to, n;
		char reason[32];

		if ((p == ml_text(l) || p[-1] == '\n') &&
		    sscanf(p, "loss %lld..%lld ms %lld %31s", &from, &to, &n, reason) == 4 &&
		    (!why || strcmp(why, reason) == 0))
			sum += n;
	}
	return sum;
}

/* Times of readings never fall and are intervals; all lie before now. */
static inline void times_rise(const struct meterbench *b)
{
	for (size_t i = 0; i < b->rows; i++) {
		assert_true(b->row[i].t.lo_ns <= b->row[i].t.hi_ns);
		assert_true(b->row[i].t.hi_ns <= b->log.now_ns);
		if (i) {
			assert_true(b->row[i].t.hi_ns >= b->row[i - 1].t.hi_ns);
			assert_true(b->row[i].t.lo_ns >= b->row[i - 1].t.lo_ns);
		}
	}
}

/* Frames of every other meter, again and again: none may be taken as a reading. */
static inline void takes_no_others(const char *driver, const char *const *own)
{
	const struct ww_meter_ops *m = ww_meter_find(driver);
	struct ww_error err = {0};
	struct meterlog l;
	struct golden g;

	if (ml_open(&l, m, m->desc.example, 0, &err) < 0)
		fail_msg("%s", err.text);
	l.now_ns = 1000 * SEC;
	ml_start(&l);
	for (int round = 0; round < 60; round++) {
		for (size_t i = 0; golden_at(i, &g); i++) {
			bool mine = false;

			for (size_t k = 0; own[k]; k++)
				mine |= strncmp(g.name, own[k], strlen(own[k])) == 0;
			if (!mine)
				ml_feed(&l, g.p, g.n);
		}
		ml_until(&l, l.now_ns + 200 * MS);
	}
	assert_int_equal(l.given, 0);
	must(l.fails == 1, "not given up once", &l);
	ml_close(&l);
}

/* After its stop it says, sends and waits for nothing. */
static inline void stops(struct meterbench *b)
{
	struct ww_meter_out out = mb_out(b);
	size_t given = b->log.given, sent;

	b->log.m->stop(b->log.state, &out);
	sent = b->log.sent;
	mb_deliver(b);
	assert_int_equal(b->log.m->deadline(b->log.state), WW_TIME_MAX);
	mb_for(b, 5 * SEC);
	assert_int_equal(b->log.given, given);
	assert_int_equal(b->log.sent, sent);
}

#endif
