/* SPDX-License-Identifier: MIT */
/*
 * A driver of kernel files on a bench: a folder in memory, whose files the test sets and
 * the driver asks for, in virtual time.
 */
#ifndef SYSBENCH_H
#define SYSBENCH_H

#include "meterlog.h"

#include <math.h>

#define SB_FILES 128
#define SB_ROWS	 4096

struct sysbench {
	struct meterlog log; /* first */
	struct {
		char name[80], value[1200]; /* "!EIO": reading fails so */
	} file[SB_FILES];
	size_t files;
	char prefix;		    /* 'T' of IIO, else 0 */
	int64_t takes_ns;	    /* a message */
	bool mute;		    /* nothing returns */
	void (*refresh)(void *ctx); /* before files are read; NULL none */
	void *ctx;
	size_t asked; /* messages */
	char *answer; /* of this turn */
	struct ww_error err;
	struct {
		struct ww_interval t;
		int64_t code[WW_METER_CHANNELS];
	} row[SB_ROWS];
	size_t rows;
};

static inline void sb_set(struct sysbench *b, const char *name, const char *value)
{
	size_t i = 0;

	while (i < b->files && strcmp(b->file[i].name, name) != 0)
		i++;
	if (i == SB_FILES)
		fail_msg("too many files");
	b->files += i == b->files;
	snprintf(b->file[i].name, sizeof(b->file[i].name), "%s", name);
	snprintf(b->file[i].value, sizeof(b->file[i].value), "%s", value);
}

static inline void sb_int(struct sysbench *b, const char *name, int64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)v);
	sb_set(b, name, text);
}

static inline const char *sb_get(const struct sysbench *b, const char *name)
{
	for (size_t i = 0; i < b->files; i++)
		if (strcmp(b->file[i].name, name) == 0)
			return b->file[i].value;
	return "!ENOENT";
}

/* What the port answers to a message. */
static inline void sb_answer(struct sysbench *b, const char *ask, struct ww_str *s)
{
	char copy[4096], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", ask);
	if (b->prefix)
		ww_str_addn(s, &b->prefix, 1);
	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char *set = strstr(l, ":=");
		const char *v;

		if (set)
			*set = '\0';
		if (strncmp(l, "buffer=", 7) == 0) {
			v = sb_get(b, "buffer");
			ww_str_addf(s, "%s\n", *v == '!' ? "" : l);
			if (*v == '!')
				ww_str_addf(s, "buffer%s\n", v);
			continue;
		}
		v = sb_get(b, l);
		if (set && *v != '!') {
			sb_set(b, l, set + 2);
			ww_str_addf(s, "%s:=%s\n", l, set + 2);
		} else {
			ww_str_addf(s, "%s%s%s\n", l, *v == '!' ? "" : "=", v);
		}
	}
}

static inline void sb_send(void *ctx, const void *data, size_t n)
{
	struct sysbench *b = ctx;
	struct ww_str s = {0};
	char ask[4096];

	ml_send(ctx, data, n);
	b->asked++;
	if (b->refresh)
		b->refresh(b->ctx);
	snprintf(ask, sizeof(ask), "%.*s", (int)n, (const char *)data);
	if (b->mute)
		return;
	sb_answer(b, ask, &s);
	free(b->answer);
	b->answer = s.p;
}

static inline void sb_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct sysbench *b = ctx;

	ml_reading(ctx, t, codes);
	if (b->rows == SB_ROWS)
		return;
	b->row[b->rows].t = t;
	memcpy(b->row[b->rows++].code, codes, b->log.channels * sizeof(*codes));
}

static inline struct ww_meter_out sb_out(struct sysbench *b)
{
	struct ww_meter_out out = ml_out(&b->log);

	out.send = sb_send;
	out.reading = sb_reading;
	return out;
}

/* Answers, and what is asked because of them. */
static inline void sb_deliver(struct sysbench *b)
{
	struct ww_meter_out out = sb_out(b);

	while (b->answer) {
		char *text = b->answer;
		int64_t lo = b->log.now_ns;

		b->answer = NULL;
		b->log.now_ns += b->takes_ns;
		b->log.m->feed(b->log.state, (struct ww_interval){lo, b->log.now_ns},
			       (uint8_t *)text, strlen(text), &out);
		free(text);
	}
}

/* A negative errno of init or look, whose sentence is in b->err. Files are set before. */
static inline int sb_open(struct sysbench *b, const char *uri, int64_t every_ns)
{
	const struct ww_meter_ops *m;
	struct ww_str s = {0};
	char name[32];
	int rc;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(uri, ":"), uri);
	m = ww_meter_find(name);
	if (!m)
		fail_msg("no driver '%s'", name);
	rc = ml_open(&b->log, m, uri, every_ns, &b->err);
	for (size_t i = 0; i < b->files; i++) {
		const char *v = b->file[i].value, *f = b->file[i].name;

		ww_str_addf(&s, "%s%s%s\n", f, *v == '!' || f[strlen(f) - 1] == '/' ? "" : "=", v);
	}
	if (rc == 0 && m->look)
		rc = m->look(b->log.state, s.p ? s.p : "", s.n, &b->err);
	ww_str_free(&s);
	if (rc == 0) {
		struct ww_meter_shape shape = ww_meter_shape(m, b->log.state);

		b->log.channels = shape.channels;
		b->log.period_ns = shape.period_ns;
	}
	b->log.now_ns = 1000 * WW_NS_PER_S;
	b->takes_ns = WW_NS_PER_MS;
	b->prefix = m->desc.buses == WW_BUS_IIO ? 'T' : '\0';
	return rc;
}

static inline void sb_until(struct sysbench *b, int64_t t_ns)
{
	struct ww_meter_out out = sb_out(b);

	for (int64_t d; (d = b->log.m->deadline(b->log.state)) <= t_ns;) {
		b->log.now_ns = d > b->log.now_ns ? d : b->log.now_ns;
		b->log.m->tick(b->log.state, b->log.now_ns, &out);
		sb_deliver(b);
	}
	b->log.now_ns = t_ns > b->log.now_ns ? t_ns : b->log.now_ns;
}

static inline void sb_start(struct sysbench *b)
{
	struct ww_meter_out out = sb_out(b);

	b->log.m->start(b->log.state, b->log.now_ns, &out);
	sb_deliver(b);
	sb_until(b, b->log.now_ns);
}

static inline void sb_for(struct sysbench *b, int64_t ns)
{
	sb_until(b, b->log.now_ns + ns);
}

/* Of a driver that waits for no answer: more bytes of the port. */
static inline void sb_feed(struct sysbench *b, struct ww_interval t, const void *p, size_t n)
{
	struct ww_meter_out out = sb_out(b);

	b->log.m->feed(b->log.state, t, p, n, &out);
	sb_deliver(b);
}

static inline struct ww_channel_info sb_channel(const struct sysbench *b, const char *name)
{
	for (size_t c = 0; c < b->log.channels; c++) {
		struct ww_channel_info ch;

		ww_meter_channel(b->log.m, b->log.state, c, &ch);
		if (strcmp(ch.name, name) == 0)
			return ch;
	}
	fail_msg("no channel '%s'", name);
	return (struct ww_channel_info){.name = ""};
}

/* Value of a channel in the i-th reading, from the end where i < 0; NaN where missing. */
static inline double sb_value(const struct sysbench *b, long i, const char *channel)
{
	size_t row = i < 0 ? b->rows - (size_t)-i : (size_t)i;

	for (size_t c = 0; row < b->rows && c < b->log.channels; c++) {
		struct ww_channel_info ch;

		ww_meter_channel(b->log.m, b->log.state, c, &ch);
		if (strcmp(ch.name, channel) != 0)
			continue;
		return b->row[row].code[c] < WW_CODE_MIN
			       ? (double)NAN
			       : (double)b->row[row].code[c] * ch.scale + ch.offset;
	}
	return (double)NAN;
}

static inline void sb_close(struct sysbench *b)
{
	free(b->answer);
	ml_close(&b->log);
	free(b);
}

static inline struct sysbench *sb_new(void)
{
	struct sysbench *b = calloc(1, sizeof(*b));

	if (!b)
		fail_msg("no memory");
	return b;
}

#define SB_HAS(b, text)                                                                            \
	do {                                                                                       \
		if (!strstr(ml_text(&(b)->log), text))                                             \
			fail_msg("no \"%s\" in:\n%s", text, ml_text(&(b)->log));                   \
	} while (0)
#define SB_HAS_NO(b, text)                                                                         \
	do {                                                                                       \
		if (strstr(ml_text(&(b)->log), text))                                              \
			fail_msg("\"%s\" in:\n%s", text, ml_text(&(b)->log));                      \
	} while (0)
#define SB_NEAR(a, want)                                                                           \
	do {                                                                                       \
		double sb_a = (a), sb_w = (want);                                                  \
		if (!(fabs(sb_a - sb_w) <= 1e-9 * (1 + fabs(sb_w))))                               \
			fail_msg("%.12g instead of %.12g", sb_a, sb_w);                            \
	} while (0)

#endif
