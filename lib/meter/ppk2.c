/* SPDX-License-Identifier: MIT */
/*
 * Nordic Power Profiler Kit II: amperes 100 000 times a second. It measures no voltage:
 * watts are its amperes times `volts=`. What feeds the DUT is left as it is found
 * unless mode= and power= say otherwise. Source: the maker's application.
 */
#include "meter/ppk2.h"

#include <math.h>
#include <stdio.h>

#define QUIET_NS  (150 * WW_NS_PER_MS)
#define REPLY_NS  (2 * WW_NS_PER_S)
#define LULL_NS	  (400 * WW_NS_PER_MS) /* after which metadata has no more lines */
#define SILENT_NS WW_NS_PER_S
#define LOST_NS	  (3 * WW_NS_PER_S) /* of a stream without any sense */
#define LEAST	  20		    /* lines of metadata that are enough without END */
#define TRIES	  3

enum phase { IDLE, DRAIN, META, RUN, DEAD };

struct ppk2 {
	enum phase phase;
	int64_t deadline_ns, limit_ns;
	unsigned tries;
	double volts; /* 0: not said */
	enum { AS_FOUND, AMPERE, SOURCE } mode;
	enum { UNTOUCHED, ON, OFF, WHILE } power;
	bool logic, filter, worked;
	int64_t mean; /* samples a reading; 1 each one */

	uint64_t heard;
	char first[48]; /* of what came, for a sentence */
	struct ww_ppk2_cal cal;

	const struct ww_meter_out *out; /* during a feed */
	struct ww_interval t;
	struct ww_ppk2_amps amps;
	struct ww_ppk2_words words;
	struct ww_ppk2_clock clock;
	int64_t sense_ns;  /* last sample */
	int64_t silent_ns; /* told up to; 0 none */
	double nano;	   /* of a code */
	/* A mean under way. */
	double sum;
	int64_t summed, in_mean;
	int64_t begun_lo;
	bool over;
};

/* ---------------------------------------------------------------- what is asked */

static int option(struct ww_uri *u, const char *key, const char *const *words, int n, int *out,
		  struct ww_error *err)
{
	const char *v = ww_uri_get(u, key, NULL);

	for (int i = 0; v && i < n; i++) {
		if (strcmp(v, words[i]) == 0) {
			*out = i + 1;
			return 0;
		}
	}
	return v ? ww_fail(err, -EINVAL, "ppk2: %s=%s: %s, %s%s%s", key, v, words[0], words[1],
			   n > 2 ? ", " : "", n > 2 ? words[2] : "")
		 : 0;
}

static int ppk2_init(void *state, struct ww_uri *u, int64_t every_ns, struct ww_error *err)
{
	static const char *const modes[] = {"ampere", "source"};
	static const char *const powers[] = {"on", "off", "while"};
	struct ppk2 *p = state;
	int64_t logic = 0, filter = 1;
	int mode = 0, power = 0;

	*p = (struct ppk2){.deadline_ns = WW_TIME_MAX, .nano = 1e9};
	if (ww_uri_num(u, "volts", 0.1, 30, &p->volts, err) < 0 ||
	    ww_uri_int(u, "logic", 0, 1, &logic, err) < 0 ||
	    ww_uri_int(u, "filter", 0, 1, &filter, err) < 0 ||
	    option(u, "mode", modes, 2, &mode, err) < 0 ||
	    option(u, "power", powers, 3, &power, err) < 0)
		return -EINVAL;
	if (mode == SOURCE && !(p->volts >= 0.8 && p->volts <= 5))
		return ww_fail(err, -EINVAL,
			       "ppk2: mode=source feeds the DUT: say volts= (0.8 to 5)");
	if (every_ns > 3600 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "ppk2: the longest interval is an hour");
	p->mode = (__typeof__(p->mode))mode;
	p->power = (__typeof__(p->power))power;
	p->logic = logic != 0;
	p->filter = filter != 0;
	p->mean = every_ns > WW_PPK2_T_NS ? (every_ns + WW_PPK2_T_NS / 2) / WW_PPK2_T_NS : 1;
	ww_ppk2_defaults(&p->cal);
	return 0;
}

static void ppk2_shape(const void *state, struct ww_meter_shape *s)
{
	const struct ppk2 *p = state;

	s->channels = 1u + (p->volts > 0) + p->logic;
	s->period_ns = p->mean * WW_PPK2_T_NS;
	s->window_ns = s->period_ns;
}

/* clang-format off */
#define CH(n, q, u, s, r)                                                                          \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = WW_AVERAGE, .scale = s,          \
		.resolution = r, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */
/* The step of its smallest range. */
#define STEP 4.26e-8
static const struct ww_channel_info current = CH("current", "current", "A", 1e-9, STEP);

static void ppk2_channel(const void *state, size_t i, struct ww_channel_info *out)
{
	const struct ppk2 *p = state;

	*out = current;
	if (p->volts > 0 && i == 0) {
		out->name = out->quantity = "power";
		out->unit = "W";
		out->scale = 1e-9 * p->volts;
		out->resolution = STEP * p->volts;
	} else if (p->logic && i == (p->volts > 0) + 1u) {
		out->name = "logic";
		out->quantity = "level";
		out->unit = "1";
		out->semantics = WW_INSTANT;
		out->scale = out->resolution = 1;
	}
}

/* -------------------------------------------------------------------- dialogue */

static void send(const struct ww_meter_out *out, const void *p, size_t n)
{
	out->send(out->ctx, p, n);
}

static void fail(struct ppk2 *p, const struct ww_meter_out *out, const char *text)
{
	p->phase = DEAD;
	p->deadline_ns = WW_TIME_MAX;
	out->fail(out->ctx, -ETIMEDOUT, text);
}

/* What a killed program left streaming is stopped, and let run dry. */
static void drain(struct ppk2 *p, int64_t now, const struct ww_meter_out *out)
{
	p->phase = DRAIN;
	p->deadline_ns = now + QUIET_NS;
	p->limit_ns = now + REPLY_NS;
	send(out, "\x07", 1);
}

static void ask(struct ppk2 *p, int64_t now, const struct ww_meter_out *out)
{
	p->phase = META;
	p->tries++;
	p->deadline_ns = p->limit_ns = now + REPLY_NS;
	ww_ppk2_defaults(&p->cal);
	send(out, "\x19", 1);
}

static void set_volts(const struct ppk2 *p, const struct ww_meter_out *out)
{
	unsigned mv = (unsigned)(p->volts * 1000 + 0.5) - 800 + 32;
	const uint8_t order[] = {0x0d, (uint8_t)(3 + mv / 256), (uint8_t)(mv % 256)};

	send(out, order, sizeof(order));
}

static void begin_stream(struct ppk2 *p, int64_t now, const struct ww_meter_out *out)
{
	/* Its law has the voltage of its own supply in it, also where that feeds nothing. */
	double mv = p->mode == SOURCE ? p->volts * 1000 : p->cal.vdd_mv;

	ww_ppk2_amps_init(&p->amps, &p->cal, mv >= 0 ? mv : 0, p->filter);
	ww_ppk2_words_init(&p->words);
	ww_ppk2_clock_init(&p->clock);
	p->summed = p->in_mean = 0;
	p->sum = 0;
	p->phase = RUN;
	p->sense_ns = now;
	p->deadline_ns = now + SILENT_NS;
	send(out, "\x06", 1);
}

static void run(struct ppk2 *p, int64_t now, const struct ww_meter_out *out)
{
	struct ww_interval t = {now, now};
	char hw[32] = "";

	if (p->cal.hw > 0 && p->cal.hw < 1e9)
		snprintf(hw, sizeof(hw), "hardware %.0f", p->cal.hw);
	out->identity(out->ctx, "Power Profiler Kit II", NULL, *hw ? hw : NULL);
	if (p->cal.replaced)
		ww_meter_tell(out, t, "%u values of its calibration are none (%s): defaults",
			      p->cal.replaced, p->cal.first_replaced);
	if (!p->cal.end)
		ww_meter_tell(out, t, "its calibration came without an end: %u values",
			      p->cal.lines);
	if (p->mode == SOURCE) {
		set_volts(p, out);
		send(out, "\x11\x02", 2);
	} else if (p->mode == AMPERE) {
		send(out, "\x11\x01", 2);
	} else if (p->volts > 0 && fabs(p->cal.vdd_mv - p->volts * 1000) > 20) {
		ww_meter_tell(out, t,
			      "volts=%.3f, but its own supply is set to %.3f V: if that feeds the "
			      "DUT, watts are wrong",
			      p->volts, p->cal.vdd_mv / 1000);
	}
	if (p->power == ON || p->power == WHILE)
		send(out, "\x0c\x01", 2);
	else if (p->power == OFF)
		send(out, "\x0c\x00", 2);
	begin_stream(p, now, out);
}

static void ppk2_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct ppk2 *p = state;

	p->tries = 0;
	p->heard = 0;
	drain(p, now_ns, out);
}

static void meta(struct ppk2 *p, struct ww_interval t, const uint8_t *b, size_t n,
		 const struct ww_meter_out *out)
{
	for (size_t i = 0; i < n && !p->cal.end; i++)
		ww_ppk2_meta_byte(&p->cal, (char)b[i]);
	if (p->cal.end && p->cal.lines)
		run(p, t.hi_ns, out);
	else if (p->cal.lines >= LEAST)
		p->deadline_ns = t.hi_ns + LULL_NS;
}

static void no_meta(struct ppk2 *p, int64_t now, const struct ww_meter_out *out)
{
	char text[300], what[100] = "nothing at all came";

	if (p->cal.lines >= LEAST) {
		run(p, now, out);
		return;
	}
	if (p->tries < TRIES) {
		drain(p, now, out);
		return;
	}
	if (p->heard)
		snprintf(what, sizeof(what), "%llu bytes came: '%s'", (unsigned long long)p->heard,
			 p->first);
	snprintf(text, sizeof(text),
		 "no calibration in answer to its request (%s): is this a PPK2, and the first of "
		 "its two ports",
		 what);
	fail(p, out, text);
}

/* -------------------------------------------------------------------- samples */

static void give(struct ppk2 *p, struct ww_interval t, int64_t code, uint32_t word)
{
	int64_t codes[3];
	size_t k = 0;

	codes[k++] = code;
	if (p->volts > 0)
		codes[k++] = code;
	if (p->logic)
		codes[k] = word >> 24;
	p->out->reading(p->out->ctx, t, codes);
}

static int64_t code_of(double nano)
{
	/* Of a calibration without sense. */
	if (!(fabs(nano) < 9e15))
		return WW_MISSING;
	return (int64_t)(nano < 0 ? nano - 0.5 : nano + 0.5);
}

static void into_mean(struct ppk2 *p, struct ww_interval t, double nano, uint32_t word)
{
	p->sum += nano;
	p->summed++;
	if (++p->in_mean < p->mean)
		return;
	give(p, t, code_of(p->sum / (double)p->summed), word);
	p->sum = 0;
	p->summed = p->in_mean = 0;
}

/* The end of its largest range: more may have flowed. */
static void watch_range(struct ppk2 *p, struct ww_interval t, uint32_t word)
{
	bool over = (word & 0x3fff) == 0x3fff && (word >> 14 & 7) == WW_PPK2_RANGES - 1;

	if (over && !p->over)
		ww_meter_tell(p->out, t, "over-range: more than its largest range shows");
	p->over = over;
}

static void on_sample(void *ctx, uint32_t word)
{
	struct ppk2 *p = ctx;
	double nano = ww_ppk2_amps(&p->amps, word) * p->nano;
	struct ww_interval t = ww_ppk2_clock_next(&p->clock);

	if (((word & 0x3fff) == 0x3fff) != p->over)
		watch_range(p, t, word);
	if (p->mean > 1)
		into_mean(p, t, nano, word);
	else
		give(p, t, p->over ? WW_OVER : code_of(nano), word);
}

static void lose(struct ppk2 *p, uint64_t n, const char *why)
{
	int64_t from = p->clock.last_hi, to = ww_ppk2_clock_due(&p->clock);

	if (from == WW_TIME_MIN || !n)
		return;
	p->out->loss(p->out->ctx, (struct ww_interval){from < to ? from : to, to},
		     p->mean > 1 ? -1 : (int64_t)n, why);
	/* A mean goes on over what is left of its window. */
	p->in_mean += n < (uint64_t)p->mean ? (int64_t)n : p->mean - 1;
	if (p->in_mean >= p->mean)
		p->in_mean = p->mean - 1;
}

static void on_lost(void *ctx, uint64_t n, const char *why)
{
	struct ppk2 *p = ctx;

	if (!n)
		ww_meter_tell(p->out, p->t, "bytes slipped: none of the samples is missing");
	ww_ppk2_clock_skip(&p->clock, n);
	lose(p, n, why);
}

static void on_odd(void *ctx, size_t n)
{
	struct ppk2 *p = ctx;

	ww_meter_tell(p->out, p->t, "%zu words with a wrong counter, none lost", n);
}

static void stream(struct ppk2 *p, struct ww_interval t, const uint8_t *b, size_t n,
		   const struct ww_meter_out *out)
{
	const struct ww_ppk2_sink sink = {p, on_sample, on_lost, on_odd};
	uint64_t before = p->clock.next, lost;
	const char *why = NULL;

	p->out = out;
	p->t = t;
	if (p->words.synced) {
		lost = ww_ppk2_clock_read(&p->clock, t, (n + p->words.bytes) / 4, &why);
		if (lost)
			lose(p, lost, why);
	} else if (!p->words.was_synced) {
		ww_ppk2_clock_read(&p->clock, t, n / 4 + 1, &why);
	}
	ww_ppk2_words_feed(&p->words, b, n, &sink);
	if (p->clock.next > before) {
		p->sense_ns = t.hi_ns;
		p->worked = true;
	}
	if (p->clock.wait_ns > 20 * WW_NS_PER_MS && !p->clock.wait_told) {
		p->clock.wait_told = true;
		ww_meter_tell(out, t, "samples wait up to %lld ms before they come",
			      (long long)(p->clock.wait_ns / WW_NS_PER_MS));
	}
	p->deadline_ns = ww_add_sat(t.hi_ns, SILENT_NS);
	p->silent_ns = 0;
	if (ww_since(t.hi_ns, p->sense_ns) > LOST_NS)
		fail(p, out,
		     "what comes is no stream of a PPK2: its counter does not count in any "
		     "alignment. Unplug it and plug it in again");
}

/* The beginning of what came, as far as it can be shown. */
static void note(struct ppk2 *p, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n && p->heard + i < sizeof(p->first) - 1; i++) {
		p->first[p->heard + i] = (char)(b[i] >= ' ' && b[i] <= '~' ? b[i] : '.');
		p->first[p->heard + i + 1] = '\0';
	}
	p->heard += n;
}

static void ppk2_feed(void *state, struct ww_interval t, const uint8_t *b, size_t n,
		      const struct ww_meter_out *out)
{
	struct ppk2 *p = state;

	if (p->phase == RUN) {
		stream(p, t, b, n, out);
	} else if (p->phase == META) {
		note(p, b, n);
		meta(p, t, b, n, out);
	} else if (p->phase == DRAIN) {
		p->deadline_ns = ww_add_sat(t.hi_ns, QUIET_NS);
		if (p->deadline_ns > p->limit_ns)
			p->deadline_ns = p->limit_ns;
	}
}

static int64_t ppk2_deadline(const void *state)
{
	return ((const struct ppk2 *)state)->deadline_ns;
}

static void silence(struct ppk2 *p, int64_t now, const struct ww_meter_out *out)
{
	int64_t from = p->silent_ns ? p->silent_ns : p->clock.last_hi;

	if (p->worked && from < now)
		out->loss(out->ctx, (struct ww_interval){from, now}, -1, "silent");
	if (!p->worked && ++p->tries > 2 * TRIES) {
		fail(p, out,
		     "it told its calibration, but sends no samples: unplug it and plug it in "
		     "again");
		return;
	}
	send(out, "\x07", 1);
	begin_stream(p, now, out);
	/* What comes now was made now. */
	p->clock.last_lo = p->clock.last_hi = now;
	p->silent_ns = now;
}

static void ppk2_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct ppk2 *p = state;

	if (now_ns < p->deadline_ns)
		return;
	if (p->phase == DRAIN)
		ask(p, now_ns, out);
	else if (p->phase == META)
		no_meta(p, now_ns, out);
	else if (p->phase == RUN)
		silence(p, now_ns, out);
}

/* It stops streaming. What feeds the DUT stays, but for power=while. */
static void ppk2_stop(void *state, const struct ww_meter_out *out)
{
	struct ppk2 *p = state;

	send(out, "\x07", 1);
	if (p->power == WHILE && p->phase == RUN)
		send(out, "\x0c\x00", 2);
	p->phase = IDLE;
	p->deadline_ns = WW_TIME_MAX;
}

static const struct ww_usb_id ids[] = {
	{0x1915, 0xc00a, "Nordic Power Profiler Kit II", WW_BUS_STREAM, -1, 0, 0, false},
	{0},
};

const struct ww_meter_ops ww_meter_ppk2 = {
	.desc = {.name = "ppk2",
		 .summary = "Nordic Power Profiler Kit II (100 kS/s; volts= gives watts)",
		 .example = "ppk2:/dev/ttyACM0?volts=3.3",
		 .proven = false,
		 .usb = ids,
		 .baud = 9600,
		 /*
		  * 1500 bytes: half of what a tty keeps before it throttles. In no ratio to
		  * the frames of USB, so that some reads come right after one.
		  */
		 .read_every_ns = 3817 * WW_NS_PER_US,
		 .period_ns = WW_PPK2_T_NS,
		 .window_ns = WW_PPK2_T_NS,
		 /* Times are those of the samples: see ppk2clock.c. */
		 .delay_min_ns = 0,
		 .delay_max_ns = 0,
		 .channels = 1,
		 .channel = {CH("current", "current", "A", 1e-9, STEP)},
		 .state_size = sizeof(struct ppk2)},
	.init = ppk2_init,
	.shape = ppk2_shape,
	.channel = ppk2_channel,
	.start = ppk2_start,
	.feed = ppk2_feed,
	.deadline = ppk2_deadline,
	.tick = ppk2_tick,
	.stop = ppk2_stop,
};
