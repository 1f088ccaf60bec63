/* SPDX-License-Identifier: MIT */
/* What both tests of wattsup use. */
#ifndef WATTSUPLOG_H
#define WATTSUPLOG_H

#include "meterlog.h"

#define MS  WW_NS_PER_MS
#define SEC WW_NS_PER_S

#define VERSION "#v,-,8,1,65206,5,2,3,14,200612211910,0;\r\n"
#define REC(w)                                                                                     \
	"#d,-,18," w ",1204,792,1,0,69384,5550,965,1205,833,965,1203,779,100,0,0,500,965;\r\n"

static inline void must(bool ok, const char *what, const struct meterlog *l)
{
	if (!ok)
		fail_msg("%s in:\n%s", what, ml_text(l));
}

#define HAS(l, s)    must(strstr(ml_text(l), s) != NULL, "missing '" s "'", l)
#define HAS_NO(l, s) must(strstr(ml_text(l), s) == NULL, "unexpected '" s "'", l)

static inline void open_with(struct meterlog *l, const char *uri, int64_t every)
{
	struct ww_error err = {0};

	if (ml_open(l, ww_meter_find("wattsup"), uri, every, &err) < 0)
		fail_msg("%s", err.text);
}

/* As far as the first record, 2 s after the start command. */
static inline void run_up(struct meterlog *l, const char *uri)
{
	open_with(l, uri, 0);
	ml_start(l);
	ml_until(l, 400 * MS);
	ml_say(l, VERSION);
	ml_until(l, 1400 * MS);
	ml_clear(l);
}

/* A record each second, from `from` on. */
static inline void next_record(struct meterlog *l, const char *rec)
{
	ml_until(l, l->now_ns + SEC);
	ml_say(l, rec);
}

#endif
