/* SPDX-License-Identifier: MIT */
/*
 * First pass over a serial line, in constant memory: what the beats are, their
 * cadence, the DUT's clock, and where something happened.
 */
#include "analysis/resume.h"
#include "base/stats.h"

#include <math.h>

#define RUN	   8			/* characters in a row that show the pace of the line */
#define SAMPLES	   65536		/* gaps kept for the cadence */
#define SILENCE_NS (200 * WW_NS_PER_MS) /* shorter is never taken for a sleep */
#define WATCH_NS   (250 * WW_NS_PER_MS)
#define STILL_NS   (500 * WW_NS_PER_MS) /* as in resume_silence.c */
#define BACK_US	   INT64_C(1000) /* MONOTONIC never goes back; this much is a bit error less */

struct scanner {
	struct ww_scan *s;
	struct ww_beat_decoder dec;
	struct ww_error *err;
	int rc;
	struct ww_plain plain;
	/* Gaps between beats (stamped) and between bytes (plain), and the stamps' own. */
	double *gap, *dut, *byte_gap, *width;
	size_t gaps, duts, byte_gaps, widths;
	struct ww_beat prev, doubt;
	bool have_prev, have_doubt;
	struct ww_interval byte; /* the last one */
	bool have_byte;
	int64_t recent[RUN]; /* when the last ones came */
	uint8_t recent_byte[RUN];
	uint64_t bytes;
	int64_t fastest_ns;  /* of a character */
	uint64_t since_beat; /* other bytes since */
	uint64_t skip;	     /* points of the clock that a stream's queue spoils */
	const struct ww_trace *trace;
	size_t mark; /* the next one to be looked at */
	bool stream, begins, fresh, part_begins[WW_SKEW_PARTS];
	uint64_t points;
	int64_t slept;
	char word[8];
	/* Silences between any two bytes, in case the beats are plain. */
	struct ww_happened *silence;
	size_t silences, silences_cap;
};

static void keep(double *v, size_t *n, int64_t x)
{
	if (*n < SAMPLES)
		v[(*n)++] = (double)x;
}

static int64_t mid_gap(struct ww_interval a, struct ww_interval b)
{
	return ww_iv_mid(b) - ww_iv_mid(a);
}

static void happened(struct scanner *k, struct ww_happened **v, size_t *n, size_t *cap,
		     const struct ww_happened *h)
{
	if (k->rc < 0)
		return;
	k->rc = ww_grow(v, cap, *n, sizeof(**v), k->err);
	if (k->rc >= 0)
		(*v)[(*n)++] = *h;
}

/*
 * Beats that were held up on their way and came in one go would show a pace that the line
 * does not have; a message has other letters.
 */
static bool is_text(const struct scanner *k)
{
	unsigned different = 0;

	for (int i = 0; i < RUN; i++) {
		bool again = false;

		for (int j = 0; j < i; j++)
			again |= k->recent_byte[i] == k->recent_byte[j];
		different += !again;
	}
	return different > RUN / 2;
}

/* Any byte: the silences and gaps of the line as such. */
static void on_byte(struct scanner *k, struct ww_interval t, struct ww_interval end, uint8_t byte)
{
	struct ww_scan *s = k->s;

	int64_t took = t.hi_ns - k->recent[k->bytes % RUN];

	/* RUN characters of a text surely took no longer than this. */
	if (k->bytes >= RUN && is_text(k) && (k->fastest_ns == 0 || took / RUN < k->fastest_ns))
		k->fastest_ns = took / RUN + 1;
	k->recent_byte[k->bytes % RUN] = byte;
	k->recent[k->bytes++ % RUN] = t.lo_ns;
	if (!k->have_byte)
		s->first = t;
	if (k->have_byte && t.lo_ns - k->byte.hi_ns > SILENCE_NS)
		happened(k, &k->silence, &k->silences, &k->silences_cap,
			 &(struct ww_happened){.before = k->byte, .after = t, .mono_us = -1});
	k->byte = end;
	k->have_byte = true;
	s->last = end;
}

static void on_other(void *ctx, struct ww_interval t, uint8_t byte)
{
	struct scanner *k = ctx;

	ww_plain_add(&k->plain, byte);
	k->s->others++;
	k->since_beat++;
	if (k->have_byte)
		keep(k->byte_gap, &k->byte_gaps, mid_gap(k->byte, t));
	keep(k->width, &k->widths, t.hi_ns - t.lo_ns);
	on_byte(k, t, t, byte);
	memmove(k->word, k->word + 1, 5);
	k->word[5] = (char)byte;
	if (memcmp(k->word, "login:", 6) == 0)
		k->s->getty = true;
}

static void on_info(void *ctx, struct ww_interval t, const char *key, const char *value)
{
	struct scanner *k = ctx;

	on_byte(k, t, k->dec.t[k->dec.len - 1], '#');
	if (strcmp(key, "mode") == 0)
		k->stream = strcmp(value, "stream") == 0;
	if (k->rc >= 0)
		k->rc = ww_scan_told(k->s, t, key, value, k->err);
}

/*
 * A point of the DUT's clock. A stream writes ahead: until its buffer is full the
 * delay grows from beat to beat, and such beats teach nothing.
 */
static void clock_point(struct scanner *k, const struct ww_beat *b, bool begins, bool fresh,
			int64_t slept)
{
	size_t part;

	if (begins) {
		k->begins = true;
		k->fresh |= fresh;
		k->slept += slept;
		k->skip = k->stream ? WW_TTY_BUFFER / WW_BEAT_LEN + 1 : 0;
	}
	if (k->skip > 0) {
		k->skip--;
		return;
	}
	if (k->rc >= 0)
		k->rc = ww_skew_point(&k->s->skew, k->begins, k->fresh, b->mono_us, k->slept,
				      b->t.hi_ns, k->err);
	part = k->points++ % WW_SKEW_PARTS;
	if (k->begins)
		memset(k->part_begins, 1, sizeof(k->part_begins));
	if (k->rc >= 0)
		k->rc = ww_skew_point(&k->s->part[part], k->part_begins[part], k->fresh, b->mono_us,
				      k->slept, b->t.hi_ns, k->err);
	k->part_begins[part] = false;
	k->begins = k->fresh = false;
	k->slept = 0;
}

/* Beat b follows a: what its stamps say of the time between. */
static void follow(struct scanner *k, const struct ww_beat *a, const struct ww_beat *b)
{
	struct ww_scan *s = k->s;
	int64_t slept = b->sleep_us - a->sleep_us, mono = b->mono_us - a->mono_us;
	uint32_t step = (b->seq - a->seq) & 0xffffff;
	bool reset = mono < -BACK_US || slept < -WW_SLEPT_US;
	/* The clocks stood still though BOOTTIME says they did not: an RTC of whole seconds. */
	bool still = b->t.lo_ns - a->t.hi_ns - (mono + slept) * 1000 > STILL_NS;
	bool stretch = reset || still || slept > WW_SLEPT_US;

	if (stretch)
		happened(k, &s->happened, &s->happenings, &s->happened_cap,
			 &(struct ww_happened){.before = a->t,
					       .after = b->t,
					       .mono_us = reset || slept > WW_SLEPT_US ? b->mono_us
										       : -1,
					       .slept_us = slept,
					       .reset = reset});
	if (!stretch && (mono + slept) * 1000 > WATCH_NS) {
		s->pauses++;
		if ((mono + slept) * 1000 > s->longest_pause_ns)
			s->longest_pause_ns = (mono + slept) * 1000;
	}
	if (!reset && step > 1 && step < 0x800000)
		s->lost += step - 1;
	if (!stretch && step == 1) {
		keep(k->gap, &k->gaps, mid_gap(a->t, b->t));
		keep(k->dut, &k->duts, mono * 1000);
	}
	clock_point(k, b, stretch, reset, slept);
}

static bool odd(const struct ww_beat *a, const struct ww_beat *b)
{
	int64_t slept = b->sleep_us - a->sleep_us;

	return slept > WW_SLEPT_US || slept < -WW_SLEPT_US || b->mono_us < a->mono_us - BACK_US;
}

/*
 * The check lets one broken beat in 4096 pass. A beat that says that the machine
 * slept or booted is believed when the next one agrees with it.
 */
/* Across a break of the recording the axis is only as good as the bench's wall clock. */
static bool after_break(struct scanner *k, int64_t now)
{
	const struct ww_mark *m;
	bool found = false;

	for (; (m = ww_trace_mark(k->trace, k->mark)) != NULL; k->mark++) {
		if (strcmp(m->kind, WW_MARK_CONTINUED) != 0)
			continue;
		if (m->t.hi_ns > now)
			break;
		found = true;
	}
	return found;
}

static void on_beat(void *ctx, const struct ww_beat *b)
{
	struct scanner *k = ctx;
	struct ww_scan *s = k->s;

	on_byte(k, b->t, b->t_end, '!');
	if (after_break(k, b->t.hi_ns))
		k->begins = k->fresh = true;
	keep(k->width, &k->widths, b->t.hi_ns - b->t.lo_ns);
	s->beats++;
	s->between += k->since_beat;
	k->since_beat = 0;
	if (k->have_doubt) {
		k->have_doubt = false;
		if (!odd(&k->doubt, b)) {
			follow(k, &k->prev, &k->doubt);
			k->prev = k->doubt;
		}
	}
	if (k->have_prev && odd(&k->prev, b)) {
		k->doubt = *b;
		k->have_doubt = true;
		return;
	}
	if (k->have_prev)
		follow(k, &k->prev, b);
	else
		clock_point(k, b, true, true, 0);
	k->prev = *b;
	k->have_prev = true;
}

static int64_t quantile(double *v, size_t n, double p)
{
	if (n == 0)
		return 0;
	qsort(v, n, sizeof(*v), ww_cmp_double);
	return (int64_t)v[(size_t)(p * (double)(n - 1))];
}

/*
 * A gap is longer than median + max(5 MAD, 2 J), J the jitter of the transport: the
 * typical width of a stamp. Where the beat itself is uneven (a busy DUT), it is also at
 * least twice what the undisturbed line exceeds once in five seconds; but more than 50 ms
 * above the median always is a gap.
 */
static int64_t limit(double *v, size_t n, int64_t jitter, int64_t *median)
{
	int64_t med = quantile(v, n, .5), mad, lim, tail;
	double rare = (double)med / (5.0 * WW_NS_PER_S);

	rare = rare < 1e-4 ? 1e-4 : rare > .01 ? .01 : rare;
	tail = 2 * quantile(v, n, 1 - rare);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(v[i] - (double)med);
	mad = quantile(v, n, .5);
	lim = med + (5 * mad > 2 * jitter ? 5 * mad : 2 * jitter);
	if (tail > med + 50 * WW_NS_PER_MS)
		tail = med + 50 * WW_NS_PER_MS;
	*median = med;
	return lim > tail ? lim : tail;
}

static void find_cadence(struct scanner *k, const struct ww_resume_options *opt)
{
	struct ww_cadence *c = &k->s->cadence;
	int64_t asked = WW_OPT(opt, period_ns, 0), dut;

	c->width_ns = quantile(k->width, k->widths, .5);
	if (k->s->stamped) {
		c->limit_ns = limit(k->gap, k->gaps, c->width_ns, &c->median_ns);
		c->dut_limit_ns = limit(k->dut, k->duts, c->width_ns, &dut);
	} else {
		c->limit_ns = limit(k->byte_gap, k->byte_gaps, c->width_ns, &c->median_ns);
		if (asked > c->median_ns) {
			c->limit_ns += asked - c->median_ns;
			c->median_ns = asked;
		}
		c->dut_limit_ns = c->limit_ns;
	}
}

/* Time of a character on the wire as the bench or the DUT states it, 0 unknown. */
static int64_t told_pace(const struct ww_scan *s)
{
	const char *baud = ww_scan_info(s, "baud", WW_TIME_MAX);
	int64_t rate = baud ? strtoll(baud, NULL, 10) : 0;

	return s->char_ns > 0 ? s->char_ns : rate > 0 ? 10 * WW_NS_PER_S / rate : 0;
}

/* Most bytes, or all of them but for silences, follow each other as fast as the line can. */
static bool fills_the_line(const struct scanner *k)
{
	const struct ww_scan *s = k->s;
	double busy = (double)(s->last.hi_ns - s->first.lo_ns);

	for (size_t i = 0; i < k->silences; i++)
		busy -= (double)(k->silence[i].after.lo_ns - k->silence[i].before.hi_ns);
	if (s->cadence.median_ns > 0 && 10 * s->cadence.median_ns < 11 * told_pace(s))
		return true;
	return s->bytes > 0 && busy < 1.2 * (double)told_pace(s) * (double)s->bytes;
}

/* Who asks for a report knows best, then the DUT, then who recorded. */
static void find_mode(struct scanner *k, struct ww_trace *t, const struct ww_resume_options *opt)
{
	static const char *const names[] = {"", "stream", "reopen", "drain"};
	struct ww_scan *s = k->s;
	const char *told = ww_scan_info(s, "mode", WW_TIME_MAX);
	int64_t pace;

	if (!told)
		told = ww_trace_meta(t, "beat.mode");
	s->mode = WW_OPT(opt, mode, WW_BEAT_UNKNOWN);
	for (int i = 1; told && s->mode == WW_BEAT_UNKNOWN && i < 4; i++)
		if (strcmp(told, names[i]) == 0)
			s->mode = i;
	s->ahead =
		told && s->stamped && strcmp(told, "stream") == 0 ? WW_BEAT_AHEAD : WW_TTY_BUFFER;
	/* Nothing waits in a buffer only if the line falls idle between two beats. */
	s->saturated = !s->stamped && s->mode > WW_BEAT_STREAM && fills_the_line(k);
	if (s->saturated)
		s->mode = WW_BEAT_STREAM;
	/*
	 * A line that falls idle between two beats has nothing left in its buffer. How fast
	 * it can be is known, or some text on it has shown it.
	 */
	pace = s->char_ns > 0 ? s->char_ns : k->fastest_ns;
	s->line_idles = !s->stamped && s->mode == WW_BEAT_UNKNOWN && pace > 0 &&
			s->cadence.median_ns > 3 * pace + 2 * s->cadence.width_ns;
}

/* Plain beats: silences far above the cadence are what happened. */
static void take_silences(struct scanner *k)
{
	struct ww_scan *s = k->s;
	int64_t least = 10 * s->cadence.median_ns;
	size_t n = 0;

	if (s->stamped)
		return;
	for (size_t i = 0; s->beats && i < k->silences; i++) {
		int64_t len = k->silence[i].after.lo_ns - k->silence[i].before.hi_ns;

		if (len > least && len > WATCH_NS)
			k->silence[n++] = k->silence[i];
	}
	free(s->happened);
	s->happened = k->silence;
	s->happenings = n;
	s->happened_cap = k->silences_cap;
	k->silence = NULL;
}

static int read_all(struct scanner *k, struct ww_trace *t, uint32_t source)
{
	struct ww_beat_sink sink = {k, on_beat, on_info, on_other};
	struct ww_cursor *c;
	struct ww_batch b;
	int rc = ww_cursor_open(t, source, WW_TIME_MIN, WW_TIME_MAX, 0, &c, k->err);

	if (rc < 0)
		return rc;
	while (k->rc >= 0 && (rc = ww_cursor_next(c, &b, k->err)) > 0) {
		for (size_t i = 0; i < b.n; i++) {
			struct ww_interval iv = {b.lo_ns[i], b.hi_ns[i]};

			ww_beat_feed(&k->dec, &sink, &iv, &b.data[i], 1);
		}
		k->s->bytes += b.n;
	}
	ww_beat_end(&k->dec, &sink);
	ww_cursor_close(c);
	return k->rc < 0 ? k->rc : rc;
}

int ww_scan_line(struct ww_trace *t, const struct ww_source_info *port,
		 const struct ww_resume_options *opt, struct ww_scan *out, struct ww_error *err)
{
	struct scanner *k = calloc(1, sizeof(*k));
	double *mem = calloc(4 * SAMPLES, sizeof(*mem));
	struct ww_plain_gaps gaps;
	int rc = -ENOMEM;

	*out = (struct ww_scan){.char_ns = port->transport.char_ns};
	if (!k || !mem) {
		ww_fail_nomem(err);
		goto out;
	}
	k->s = out;
	k->trace = t;
	k->err = err;
	k->stream = WW_OPT(opt, mode, 0) == WW_BEAT_STREAM;
	k->gap = mem;
	k->dut = mem + SAMPLES;
	k->byte_gap = mem + 2 * SAMPLES;
	k->width = mem + 3 * SAMPLES;
	rc = read_all(k, t, port->id);
	if (rc < 0)
		goto out;
	out->stamped = out->beats >= 3 && out->beats * WW_BEAT_LEN * 20 > out->bytes;
	if (!out->stamped)
		out->beats = 0;
	gaps = (struct ww_plain_gaps){.gap = k->byte_gap,
				      .n = k->byte_gaps,
				      .scratch = k->dut,
				      .told = WW_OPT(opt, period_ns, 0) > 0};
	if (!out->stamped) {
		gaps.width_ns = quantile(k->width, k->widths, .5);
		ww_plain_find(&k->plain, &gaps, out);
	}
	find_cadence(k, opt);
	find_mode(k, t, opt);
	take_silences(k);
out:
	if (k)
		free(k->silence);
	free(mem);
	free(k);
	if (rc < 0)
		ww_scan_free(out);
	return rc < 0 ? rc : 0;
}

void ww_scan_free(struct ww_scan *s)
{
	for (size_t i = 0; i < s->infos; i++) {
		free(s->info[i].key);
		free(s->info[i].value);
	}
	free(s->info);
	free(s->happened);
	ww_skew_free(&s->skew);
	for (size_t i = 0; i < WW_SKEW_PARTS; i++)
		ww_skew_free(&s->part[i]);
	*s = (struct ww_scan){0};
}

const char *ww_scan_info(const struct ww_scan *s, const char *key, int64_t at_ns)
{
	size_t lo = 0, hi = s->infos;

	while (lo < hi) {
		size_t m = lo + (hi - lo) / 2;

		if (s->info[m].t.lo_ns <= at_ns)
			lo = m + 1;
		else
			hi = m;
	}
	while (lo-- > 0)
		if (strcmp(s->info[lo].key, key) == 0)
			return s->info[lo].value;
	return NULL;
}
