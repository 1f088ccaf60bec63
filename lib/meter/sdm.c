/* SPDX-License-Identifier: MIT */
/*
 * Eastron SDM120, SDM220, SDM230 and SDM630: Modbus RTU, each value an IEEE float in two
 * input registers, high word first. One read of 80 registers gives all values of one
 * moment; a meter that refuses it is asked value by value. They need some silence
 * between questions, or answer with NaN. Source: the maker's register map.
 */
#include "meter/sdm.h"

#include <math.h>
#include <stdio.h>

#define GAP_NS	   (100 * WW_NS_PER_MS)
#define REFRESH_NS WW_NS_PER_S /* 0.2 to 1 s */
#define BLOCK	   80
#define TRIES	   3 /* at a known speed */
#define ROUNDS	   2 /* of all speeds */

/* In the order in which they are usual. */
static const int64_t rates[] = {2400, 9600, 4800, 1200, 19200};

static void give_up(struct ww_sdm *d, const struct ww_meter_out *out, int code, const char *text)
{
	d->phase = WW_SDM_DEAD;
	out->fail(out->ctx, code, text);
}

static bool seeking(const struct ww_sdm *d)
{
	return d->scan && !d->fixed;
}

static void ask_next(struct ww_sdm *d, int64_t now, const struct ww_meter_out *out)
{
	/* A short question, while its speed is sought. */
	if (seeking(d))
		ww_modbus_read(&d->mb, d->unit, WW_MB_INPUT, 0, 2, now, out);
	else if (d->single)
		ww_modbus_read(&d->mb, d->unit, WW_MB_INPUT, d->row->channel[d->at].reg, 2, now,
			       out);
	else
		ww_modbus_read(&d->mb, d->unit, WW_MB_INPUT, 0, BLOCK, now, out);
}

static void ask(struct ww_sdm *d, int64_t now, const struct ww_meter_out *out)
{
	ww_pace_asked(&d->pace, now);
	d->at = 0;
	d->begun = false;
	d->begun_ns = now;
	while (d->at + 1 < d->row->channels && d->refuses >> d->at & 1)
		d->at++;
	ask_next(d, now, out);
}

/* ------------------------------------------------------------------- values */

static int64_t code_of(float f, double scale)
{
	double c;

	if (isnan(f))
		return WW_MISSING;
	if (isinf(f))
		return f > 0 ? WW_OVER : WW_UNDER;
	c = (double)f / scale;
	if (fabs(c) > 9e15)
		return c > 0 ? WW_OVER : WW_UNDER;
	return (int64_t)(c < 0 ? c - 0.5 : c + 0.5);
}

/*
 * No float that an AC meter could mean: other meters' integers look like this. A register of
 * energy that has only begun to count holds very little.
 */
static bool odd(float f)
{
	return isfinite(f) && f != 0 && (fabsf(f) < 1e-12f || fabsf(f) > 1e9f);
}

static bool is_volts(float v)
{
	return v == 0 || isnan(v) || (v >= 5 && v <= 1000);
}

static bool is_hz(float f)
{
	return f == 0 || isnan(f) || (f >= 35 && f <= 75);
}

/* NULL: this may well be the meter. */
static const char *strange(const struct ww_sdm *d)
{
	const struct ww_sdm_row *row = d->row;

	for (size_t i = 0; i < row->channels; i++)
		if (!(d->refuses >> i & 1) && odd(d->value[i]))
			return "its registers hold no floating point numbers";
	if (!is_volts(d->value[row->volts]) || !is_hz(d->value[row->hz]))
		return "what should be its voltage and frequency cannot be";
	/* A meter that looks alike keeps its current at 8 and its power at 18. */
	if (!d->single && !row->three_phase && d->value[row->amps] == 0 &&
	    d->value[row->watts] == 0 && ww_mb_float(d->mb.value + 8) != 0)
		return "its current stands at register 8, as in a DDM18SD, whose map is another";
	return NULL;
}

static void given(struct ww_sdm *d, const struct ww_meter_out *out)
{
	int64_t codes[WW_METER_CHANNELS];
	const struct ww_sdm_row *row = d->row;

	for (size_t i = 0; i < row->channels; i++) {
		codes[i] = d->refuses >> i & 1 ? WW_MISSING
					       : code_of(d->value[i], row->channel[i].step);
		/* Mains of 0 Hz are mains that were not measured. */
		if (i == row->hz && codes[i] == 0)
			codes[i] = WW_MISSING;
		if (codes[i] == WW_MISSING && !(d->refuses >> i & 1) && !d->nan_told) {
			d->nan_told = true;
			ww_meter_tell(out, d->t, "no value of %s in an answer, left out",
				      row->desc->channel[i].name);
		}
	}
	ww_pace_register(&d->pace, d->t, codes, row->wh, 0, "tenths of a Wh", out);
	ww_pace_give(&d->pace, d->t, codes, out);
}

static bool all_nan(const struct ww_sdm *d)
{
	for (size_t i = 0; i < d->row->channels; i++)
		if (!(d->refuses >> i & 1) && !isnan(d->value[i]))
			return false;
	return true;
}

static void identify(struct ww_sdm *d, const struct ww_meter_out *out)
{
	char model[64];

	snprintf(model, sizeof(model), "Eastron %s%s", d->row->model,
		 d->single ? " (read value by value)" : "");
	d->phase = WW_SDM_RUN;
	out->identity(out->ctx, model, NULL, NULL);
	if (d->scan && d->baud != d->row->baud)
		ww_meter_tell(out, d->t, "found at %lld baud", (long long)d->baud);
}

/* Value by value, a round may take longer than there is time: so far are readings apart. */
static void pace_round(struct ww_sdm *d)
{
	int64_t took = ww_since(d->t.hi_ns, d->begun_ns) + d->mb.gap_ns, step = 100 * WW_NS_PER_MS;

	if (!d->single || d->phase != WW_SDM_ASK || took <= d->pace.every_ns)
		return;
	d->pace.every_ns = (took + took / 10 + step - 1) / step * step;
	d->pace.next_ns = ww_add_sat(d->begun_ns, d->pace.every_ns);
}

static void complete(struct ww_sdm *d, const struct ww_meter_out *out)
{
	const char *bad = strange(d);
	bool nan = all_nan(d);
	bool idle = d->value[d->row->volts] == 0 && d->value[d->row->hz] == 0;

	if (bad && d->phase == WW_SDM_ASK) {
		char text[256];

		snprintf(text, sizeof(text),
			 "unit %u answers, but %s: this is no Eastron %s (a PZEM is pzem004t:)",
			 d->unit, bad, d->row->model);
		give_up(d, out, -ENODEV, text);
		return;
	}
	if (bad || nan || idle) {
		if (!d->idle_told)
			ww_meter_tell(out, d->t, "an answer left out: %s",
				      bad   ? bad
				      : nan ? "no value in it"
					    : "0 V and 0 Hz: it measures nothing yet");
		d->idle_told = true;
		ww_pace_miss(&d->pace, d->t.hi_ns, idle && !bad ? "not measuring" : "damaged", out);
		return;
	}
	d->idle_told = false;
	if (d->mb.slower && d->phase == WW_SDM_RUN)
		out->identity(out->ctx, NULL, NULL, NULL);
	d->mb.slower = false;
	pace_round(d);
	if (d->phase == WW_SDM_ASK)
		identify(d, out);
	given(d, out);
}

static void answer(struct ww_sdm *d, int64_t now, const struct ww_meter_out *out)
{
	const struct ww_sdm_row *row = d->row;

	d->refused_told = false;
	if (seeking(d)) {
		d->fixed = true;
		d->tries = 0;
		ask(d, now, out);
		return;
	}
	if (!d->single) {
		for (size_t i = 0; i < row->channels; i++)
			d->value[i] = ww_mb_float(d->mb.value + row->channel[i].reg);
		d->t = d->mb.t;
		complete(d, out);
		return;
	}
	/* One after another: they come between the first and the last. */
	d->t = (struct ww_interval){d->begun ? d->t.lo_ns : d->mb.t.lo_ns, d->mb.t.hi_ns};
	d->begun = true;
	d->value[d->at] = ww_mb_float(d->mb.value);
	while (++d->at < row->channels && d->refuses >> d->at & 1)
		;
	if (d->at < row->channels)
		ask_next(d, now, out);
	else
		complete(d, out);
}

/* ---------------------------------------------------------- what goes wrong */

/* A register that is not in its list. */
static void no_register(struct ww_sdm *d, int64_t now, const struct ww_meter_out *out)
{
	char text[256];

	if (!d->single) {
		d->single = true;
		ask(d, now, out);
		return;
	}
	d->refuses |= 1u << d->at;
	if (d->at == d->row->volts || d->at == d->row->watts || d->at == d->row->hz) {
		snprintf(text, sizeof(text),
			 "unit %u refuses to give its %s (exception %u, %s): this is no Eastron %s "
			 "(a PZEM is pzem004t:)",
			 d->unit, d->row->desc->channel[d->at].name, d->mb.exception,
			 ww_mb_exception(d->mb.exception), d->row->model);
		give_up(d, out, -ENODEV, text);
		return;
	}
	while (++d->at < d->row->channels && d->refuses >> d->at & 1)
		;
	if (d->at < d->row->channels)
		ask_next(d, now, out);
	else
		complete(d, out);
}

static void refused(struct ww_sdm *d, int64_t now, const struct ww_meter_out *out)
{
	if (d->phase == WW_SDM_ASK && d->mb.exception <= 3) {
		if (seeking(d))
			d->fixed = d->single = true;
		no_register(d, now, out);
		return;
	}
	snprintf(d->why, sizeof(d->why), "exception %u: %s", d->mb.exception,
		 ww_mb_exception(d->mb.exception));
	if (!d->refused_told)
		ww_meter_tell(out, d->mb.t, "%s", d->why);
	d->refused_told = true;
	if (d->phase == WW_SDM_RUN)
		ww_pace_miss(&d->pace, d->mb.t.hi_ns, "refused", out);
	else if (++d->tries >= TRIES)
		give_up(d, out, -EIO, d->why);
}

static void no_answer(struct ww_sdm *d, const struct ww_meter_out *out)
{
	char text[512], speed[64] = "";

	if (seeking(d))
		snprintf(speed, sizeof(speed), " at 2400, 9600, 4800, 1200 or 19200 baud");
	else if (!d->mb.tcp && d->mb.char_ns)
		snprintf(speed, sizeof(speed), " at %lld baud", (long long)d->baud);
	snprintf(text, sizeof(text),
		 "no answer from unit %u%s: %s. Are A and B the right way round and the line ended "
		 "by 120 ohm, is the meter's address right (?addr=), its parity (?parity=even)%s?",
		 d->unit, speed, d->why,
		 d->mb.tcp		     ? ", does the gateway speak Modbus TCP (?framing=rtu)"
		 : d->mb.char_ns || d->fixed ? ""
					     : ", does the gateway pass RTU on (?framing=tcp)");
	give_up(d, out, -ETIMEDOUT, text);
}

/* The usual one of this meter first, then those of the list, round and round. */
static void other_speed(struct ww_sdm *d, const struct ww_meter_out *out)
{
	size_t i = d->tries % WW_COUNTOF(rates);
	size_t usual = 0;

	while (rates[usual] != d->row->baud)
		usual++;
	d->baud = i == 0 ? d->row->baud : rates[i <= usual ? i - 1 : i];
	if (out->baud && out->baud(out->ctx, d->baud) < 0)
		d->scan = false;
	ww_modbus_baud(&d->mb, d->baud);
}

static void silent(struct ww_sdm *d, int64_t now, const struct ww_meter_out *out)
{
	size_t most = seeking(d) ? ROUNDS * WW_COUNTOF(rates) : TRIES;

	if (d->mb.heard || !d->heard)
		ww_modbus_why(&d->mb, d->why, sizeof(d->why));
	d->heard += d->mb.heard;
	d->tries++;
	if (d->phase == WW_SDM_RUN)
		ww_pace_miss(&d->pace, now, d->mb.heard ? "damaged" : "silent", out);
	else if (d->tries >= most)
		no_answer(d, out);
	else if (seeking(d))
		other_speed(d, out);
}

static void event(struct ww_sdm *d, enum ww_mb_event ev, int64_t now,
		  const struct ww_meter_out *out)
{
	if (ev == WW_MB_ANSWER)
		answer(d, now, out);
	else if (ev == WW_MB_REFUSED)
		refused(d, now, out);
	else if (ev == WW_MB_SILENT)
		silent(d, now, out);
}

/* ---------------------------------------------------------------- interface */

/* "baud=auto" is the meter's usual speed to the port. */
static int speed(struct ww_sdm *d, struct ww_uri *options, struct ww_error *err)
{
	const char *v = ww_uri_get(options, "baud", NULL);

	d->baud = d->row->baud;
	d->scan =
		strncmp(options->place, "tcp:", 4) != 0 && strncmp(options->place, "unix:", 5) != 0;
	if (!v)
		return 0;
	for (size_t i = 0; strcmp(v, "auto") == 0 && i < options->options; i++)
		if (strcmp(options->option[i].key, "baud") == 0) {
			options->option[i].value = d->row->baud_text;
			return 0;
		}
	d->scan = false;
	return ww_uri_int(options, "baud", 1, 4000000, &d->baud, err);
}

int ww_sdm_init(void *state, const struct ww_sdm_row *row, struct ww_uri *options, int64_t every_ns,
		struct ww_error *err)
{
	struct ww_sdm *d = state;
	int64_t addr = 1, every = every_ns ? every_ns : REFRESH_NS;

	*d = (struct ww_sdm){.row = row};
	if (ww_uri_int(options, "addr", 1, 247, &addr, err) < 0 || speed(d, options, err) < 0 ||
	    ww_modbus_init(&d->mb, options, d->baud, GAP_NS, err) < 0)
		return -EINVAL;
	if (every > 86400 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "%s: the longest interval is a day", options->driver);
	if (every < WW_SDM_FASTEST_NS)
		every = WW_SDM_FASTEST_NS;
	d->unit = (uint8_t)addr;
	ww_pace_init(&d->pace, row->channels, every, every < REFRESH_NS ? REFRESH_NS : 0);
	d->pace.live = true;
	return 0;
}

void ww_sdm_shape(const void *state, struct ww_meter_shape *s)
{
	const struct ww_sdm *d = state;

	s->channels = d->row->channels;
	/* Faster than it is renewed: a reading each time that something changed. */
	s->period_ns = d->pace.refresh_ns ? 0 : d->pace.every_ns;
	s->delay_max_ns += d->mb.held_ns;
	/* The first value of a round is older than its last by all questions between. */
	if (d->single)
		s->delay_max_ns += (int64_t)d->row->channels *
				   (17 * d->mb.char_ns + GAP_NS + 100 * WW_NS_PER_MS);
}

/* A float of 12345 kWh cannot tell a tenth of a watt-hour: its own step is what it shows. */
void ww_sdm_channel(const void *state, size_t i, struct ww_channel_info *c)
{
	const struct ww_sdm *d = state;
	float v = fabsf(d->value[i]);
	double step;

	*c = d->row->desc->channel[i];
	if (c->semantics != WW_COUNTER || !isfinite(v))
		return;
	step = (double)(nextafterf(v, HUGE_VALF) - v) / d->row->channel[i].step * c->scale;
	if (step > c->resolution)
		c->resolution = step;
}

void ww_sdm_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct ww_sdm *d = state;

	(void)out;
	d->phase = WW_SDM_ASK;
	d->pace.next_ns = now_ns;
}

void ww_sdm_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		 const struct ww_meter_out *out)
{
	struct ww_sdm *d = state;

	if (d->phase == WW_SDM_ASK || d->phase == WW_SDM_RUN)
		event(d, ww_modbus_feed(&d->mb, t, p, n), t.hi_ns, out);
}

int64_t ww_sdm_deadline(const void *state)
{
	const struct ww_sdm *d = state;

	if (d->phase != WW_SDM_ASK && d->phase != WW_SDM_RUN)
		return WW_TIME_MAX;
	return ww_modbus_busy(&d->mb) ? ww_modbus_deadline(&d->mb) : d->pace.next_ns;
}

void ww_sdm_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct ww_sdm *d = state;

	if (now_ns < ww_sdm_deadline(d))
		return;
	if (ww_modbus_busy(&d->mb))
		event(d, ww_modbus_tick(&d->mb, now_ns, out), now_ns, out);
	else
		ask(d, now_ns, out);
}

void ww_sdm_stop(void *state, const struct ww_meter_out *out)
{
	(void)out;
	((struct ww_sdm *)state)->phase = WW_SDM_IDLE;
}

bool ww_sdm_busy(const void *state)
{
	return ww_modbus_busy(&((const struct ww_sdm *)state)->mb);
}
