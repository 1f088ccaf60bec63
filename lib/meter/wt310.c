/* SPDX-License-Identifier: MIT */
/*
 * Yokogawa WT310, WT310E and their relatives, by USB test and measurement, a serial line
 * or a socket. Each update of the meter comes once: it is asked to wait for the next one
 * (:COMM:WAIT), and its event register tells whether the values are new. Source: the
 * maker's communication manual.
 */
#include "meter/pace.h"
#include "meter/scpi.h"

#include <math.h>
#include <stdio.h>

#define TRIES	  3
#define ITEMS	  10
#define ERRORS	  8
#define MARGIN_NS (20 * WW_NS_PER_MS)

extern const struct ww_meter_ops ww_meter_wt310;

enum phase { IDLE, IDN, SETUP, ASK_RATE, ASK_VOLTS, ASK_AMPS, ASK_ERRORS, CLEAR, RUN, DEAD };

struct wt {
	enum phase phase;
	struct ww_scpi q;
	struct ww_pace pace;
	size_t rate;		 /* that is asked for */
	int64_t update_ns;	 /* that the meter has */
	double range_v, range_a; /* 0: as it is */
	int64_t element;
	bool integrate, message;
	size_t step, tries, refusals;
	char range[2][24];
	bool waits_not, empty_told, cut_told;
	int64_t fresh_ns;    /* last new values */
	double digit[ITEMS]; /* coarsest that was seen */
};

static const struct {
	const char *name;
	int64_t ns;
} rates[] = {{"100MS", 100 * WW_NS_PER_MS}, {"250MS", 250 * WW_NS_PER_MS},
	     {"500MS", 500 * WW_NS_PER_MS}, {"1S", WW_NS_PER_S},
	     {"2S", 2 * WW_NS_PER_S},	    {"5S", 5 * WW_NS_PER_S}};

/* In the order of the channels. */
static const char *const items[ITEMS] = {"P", "U",	"I",  "WH",	"S",
					 "Q", "LAMBda", "FU", "UPPeak", "IPPeak"};

static void give_up(struct wt *w, const struct ww_meter_out *out, int code, const char *text)
{
	w->phase = DEAD;
	out->fail(out->ctx, code, text);
}

/* ----------------------------------------------------------------- the setup */

/* The i-th command; false after the last. "" is left out. */
static bool command(const struct wt *w, size_t i, char *text, size_t n)
{
	text[0] = '\0';
	if (i >= 5 && i < 5 + ITEMS) {
		snprintf(text, n, ":NUM:NORM:ITEM%zu %s,%d", i - 4, items[i - 5], (int)w->element);
		return true;
	}
	switch (i) {
	case 0:
		snprintf(text, n, ":COMM:REM ON");
		break;
	case 1:
		snprintf(text, n, ":COMM:HEAD OFF");
		break;
	case 2:
		snprintf(text, n, ":NUM:FORM ASC");
		break;
	case 3:
		snprintf(text, n, ":NUM:NORM:NUM %d", ITEMS);
		break;
	case 4:
		snprintf(text, n, ":RATE %s", rates[w->rate].name);
		break;
	case 5 + ITEMS:
		if (w->range_v > 0)
			snprintf(text, n, ":INP:VOLT:RANG %ldMV", lround(w->range_v * 1e3));
		break;
	case 6 + ITEMS:
		if (w->range_a > 0)
			snprintf(text, n, ":INP:CURR:RANG %ldMA", lround(w->range_a * 1e3));
		break;
	case 7 + ITEMS:
		if (w->integrate)
			snprintf(text, n, ":INTEG:MODE NORM;:INTEG:RESET;:INTEG:START");
		break;
	case 8 + ITEMS:
		snprintf(text, n, ":STAT:FILT1 FALL");
		break;
	default:
		return false;
	}
	return true;
}

/* Each command is followed by a query, so that none is lost in a small buffer. */
static void next_command(struct wt *w, int64_t now, const struct ww_meter_out *out)
{
	char text[WW_SCPI_SENT];

	while (command(w, w->step, text, sizeof(text))) {
		if (text[0]) {
			ww_scpi_say(&w->q, text, now, out);
			ww_scpi_say(&w->q, "*OPC?", now, out);
			return;
		}
		w->step++;
	}
	w->phase = ASK_RATE;
	ww_scpi_say(&w->q, ":RATE?", now, out);
}

static void ask(struct wt *w, int64_t now, const struct ww_meter_out *out)
{
	switch (w->phase) {
	case IDN:
		ww_scpi_say(&w->q, "*IDN?", now, out);
		break;
	case SETUP:
		next_command(w, now, out);
		break;
	case ASK_RATE:
		ww_scpi_say(&w->q, ":RATE?", now, out);
		break;
	case ASK_VOLTS:
		ww_scpi_say(&w->q, ":INP:VOLT:RANG?", now, out);
		break;
	case ASK_AMPS:
		ww_scpi_say(&w->q, ":INP:CURR:RANG?", now, out);
		break;
	case ASK_ERRORS:
		ww_scpi_say(&w->q, ":STAT:ERR?", now, out);
		break;
	case CLEAR:
		ww_scpi_say(&w->q, ":STAT:EESR?", now, out);
		break;
	case RUN:
		ww_scpi_say(&w->q, ":COMM:WAIT 1;:STAT:EESR?;:NUM:NORM:VAL?", now, out);
		break;
	default:
		break;
	}
}

static void identified(struct wt *w, int64_t now, const struct ww_meter_out *out)
{
	struct ww_scpi_idn id;
	char text[320];

	if (!ww_scpi_idn(w->q.line, &id)) {
		/* Left over by somebody: once it is quiet, asked again. */
		w->q.quiet_ns = ww_add_sat(now, 300 * WW_NS_PER_MS);
		if (++w->tries < TRIES)
			return;
		snprintf(text, sizeof(text),
			 "the answer to *IDN? begins with \"%.40s\": this is no instrument of "
			 "Yokogawa's WT300 series",
			 w->q.line);
		give_up(w, out, -ENODEV, text);
		return;
	}
	if (strcmp(id.maker, "YOKOGAWA") != 0 || strncmp(id.model, "WT", 2) != 0 ||
	    strncmp(id.model, "WT2", 3) == 0 || strncmp(id.model, "WT1", 3) == 0) {
		snprintf(text, sizeof(text),
			 "this is a %s %s, and no instrument of Yokogawa's WT300 series", id.maker,
			 id.model);
		give_up(w, out, -ENODEV, text);
		return;
	}
	out->identity(out->ctx, id.model, id.serial, id.firmware);
	w->tries = 0;
	w->phase = SETUP;
	w->step = 0;
	ask(w, now, out);
}

static void take_rate(struct wt *w, const struct ww_meter_out *out)
{
	char *part[1];
	double s = 0;

	ww_scpi_split(w->q.line, ',', part, 1);
	if (ww_scpi_number(part[0], &s) && s >= 0.01 && s <= 60)
		w->update_ns = (int64_t)(s * 1e9 + 0.5);
	if (w->update_ns != rates[w->rate].ns)
		ww_meter_tell(out, w->q.t, "asked for an update each %lld ms, the meter keeps %lld",
			      (long long)(rates[w->rate].ns / WW_NS_PER_MS),
			      (long long)(w->update_ns / WW_NS_PER_MS));
	w->pace.every_ns = w->update_ns;
	w->q.patience_ns = w->update_ns + 3 * WW_NS_PER_S;
}

static void take_range(struct wt *w, size_t i, const struct ww_meter_out *out)
{
	bool fixed = w->range_v > 0 && w->range_a > 0;
	char *part[1];

	ww_scpi_split(w->q.line, ',', part, 1);
	snprintf(w->range[i], sizeof(w->range[i]), "%.23s", part[0]);
	if (i)
		ww_meter_tell(out, w->q.t, "ranges: %s V, %s A%s", w->range[0], w->range[1],
			      fixed ? ""
				    : " (where it changes them by itself, values are lost: "
				      "?range_v= and ?range_a= fix them)");
}

/* ------------------------------------------------------------------- values */

static void values(struct wt *w, char *text, int64_t now, const struct ww_meter_out *out)
{
	int64_t codes[WW_METER_CHANNELS];
	char *part[ITEMS + 1];
	size_t n = ww_scpi_split(text, ',', part, ITEMS + 1);
	bool coarser = false;
	double v;

	for (size_t i = 0; i < WW_METER_CHANNELS; i++)
		codes[i] = WW_MISSING;
	if (n != ITEMS || !ww_scpi_number(part[0], &v)) {
		if (!w->cut_told)
			ww_meter_tell(out, w->q.t,
				      "an answer of %zu values, where %d were asked for, left out",
				      n, ITEMS);
		w->cut_told = true;
		ww_pace_miss(&w->pace, now, "damaged", out);
		return;
	}
	w->cut_told = false;
	for (size_t i = 0; i < ITEMS; i++) {
		coarser |= ww_scpi_digit(part[i], &w->digit[i]);
		codes[i] = ww_scpi_code(part[i], ww_meter_wt310.desc.channel[i].scale);
	}
	/* Digits depend on the range: what is said of the channels follows. */
	if (coarser)
		out->identity(out->ctx, NULL, NULL, NULL);
	if (codes[0] < WW_CODE_MIN && !w->empty_told)
		ww_meter_tell(out, w->q.t,
			      "no power in the meter's values: beyond its range, or it changes it");
	w->empty_told = codes[0] < WW_CODE_MIN;
	if (codes[0] >= 0) /* it counts back what flows back */
		ww_pace_register(&w->pace, w->q.t, codes, 3, 0, "uWh", out);
	ww_pace_give(&w->pace, w->q.t, codes, out);
}

static void run(struct wt *w, int64_t now, const struct ww_meter_out *out)
{
	char *part[3];
	size_t n = ww_scpi_split(w->q.line, ';', part, 3);
	bool fresh = n < 2 || (part[0][0] != '0' || part[0][1]);

	if (!fresh) {
		/* It does not wait, or its updates are held: asked again soon. */
		w->waits_not = true;
		w->pace.next_ns = ww_add_sat(now, w->update_ns / 4);
		if (ww_since(now, w->fresh_ns) > 3 * w->update_ns) {
			ww_pace_miss(&w->pace, now, "held", out);
			w->pace.next_ns = ww_add_sat(now, w->update_ns);
		}
		return;
	}
	w->fresh_ns = now;
	w->pace.next_ns = ww_add_sat(now, w->update_ns / (w->waits_not ? 4 : 16));
	values(w, part[n - 1], now, out);
}

static void answer(struct wt *w, int64_t now, const struct ww_meter_out *out)
{
	switch (w->phase) {
	case IDN:
		identified(w, now, out);
		return;
	case SETUP:
		w->step++;
		break;
	case ASK_RATE:
		take_rate(w, out);
		w->phase = ASK_VOLTS;
		break;
	case ASK_VOLTS:
		take_range(w, 0, out);
		w->phase = ASK_AMPS;
		break;
	case ASK_AMPS:
		take_range(w, 1, out);
		w->phase = ASK_ERRORS;
		break;
	case ASK_ERRORS:
		/* One line of the error queue; "0,..." ends it. */
		if (w->q.line[0] != '0' && w->refusals++ < ERRORS)
			ww_meter_tell(out, w->q.t, "the meter refuses a setting: %.80s", w->q.line);
		else
			w->phase = CLEAR;
		break;
	case CLEAR:
		w->phase = RUN;
		w->q.steady = true;
		w->q.hold_ns = w->update_ns;
		w->fresh_ns = now;
		w->tries = 0;
		/* How long its answers take is known now. */
		out->identity(out->ctx, NULL, NULL, NULL);
		break;
	case RUN:
		run(w, now, out);
		return;
	default:
		return;
	}
	ask(w, now, out);
}

/* ---------------------------------------------------------- what goes wrong */

static void no_answer(struct wt *w, const struct ww_meter_out *out, int code)
{
	char why[96], text[512];

	ww_scpi_why(&w->q, why, sizeof(why));
	snprintf(text, sizeof(text),
		 "no answer to %s that can be understood: %s. Is this a WT310, is its interface "
		 "(USB, RS-232 with its speed, Ethernet) chosen in its menu UTIL, and is nobody "
		 "else talking to it?",
		 w->q.sent, why);
	give_up(w, out, code, text);
}

static void went_wrong(struct wt *w, enum ww_scpi_event ev, int64_t now,
		       const struct ww_meter_out *out)
{
	if (w->phase == RUN) {
		w->pace.next_ns = now;
		ww_pace_miss(&w->pace, now, ev == WW_SCPI_BAD ? "damaged" : "silent", out);
		return;
	}
	if (++w->tries >= TRIES)
		no_answer(w, out, ev == WW_SCPI_BAD ? -EPROTO : -ETIMEDOUT);
	else if (w->phase == SETUP)
		w->pace.next_ns = now;
}

static void event(struct wt *w, enum ww_scpi_event ev, int64_t now, const struct ww_meter_out *out)
{
	if (ev == WW_SCPI_ANSWER)
		answer(w, now, out);
	else if (ev != WW_SCPI_NONE)
		went_wrong(w, ev, now, out);
}

/* ---------------------------------------------------------------- interface */

static bool by_message(const char *place)
{
	return !*place || strncmp(place, "usbtmc", 6) == 0 ||
	       strncmp(place, "/dev/usbtmc", 11) == 0;
}

static int wt_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct wt *w = state;
	int64_t energy = 0;

	*w = (struct wt){.element = 1, .message = by_message(options->place)};
	if (ww_uri_num(options, "range_v", 1, 2000, &w->range_v, err) < 0 ||
	    ww_uri_num(options, "range_a", 0.001, 100, &w->range_a, err) < 0 ||
	    ww_uri_int(options, "element", 1, 6, &w->element, err) < 0 ||
	    ww_uri_int(options, "integrate", 0, 1, &energy, err) < 0)
		return -EINVAL;
	w->integrate = energy != 0;
	/* At 9600 baud an answer takes 125 ms. */
	if (!w->message && strncmp(options->place, "tcp:", 4) != 0 && every_ns < 250 * WW_NS_PER_MS)
		every_ns = 250 * WW_NS_PER_MS;
	while (w->rate + 1 < WW_COUNTOF(rates) && rates[w->rate].ns < every_ns)
		w->rate++;
	w->update_ns = rates[w->rate].ns;
	ww_pace_init(&w->pace, ITEMS, w->update_ns, 0);
	return 0;
}

static void wt_shape(const void *state, struct ww_meter_shape *s)
{
	const struct wt *w = state;

	s->period_ns = s->window_ns = w->update_ns;
	/* Where it does not wait, the values are up to a question old. */
	s->delay_max_ns = w->q.rtt_ns + MARGIN_NS + w->update_ns / 4;
}

static void wt_channel(const void *state, size_t i, struct ww_channel_info *c)
{
	const struct wt *w = state;

	*c = ww_meter_wt310.desc.channel[i];
	if (w->digit[i] > 0)
		c->resolution = w->digit[i] > c->scale ? w->digit[i] : c->scale;
}

static void wt_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct wt *w = state;

	ww_scpi_init(&w->q, w->message || out->bus == WW_BUS_TMC);
	w->phase = IDN;
	w->pace.next_ns = now_ns;
}

static void wt_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		    const struct ww_meter_out *out)
{
	struct wt *w = state;

	if (w->phase != IDLE && w->phase != DEAD)
		event(w, ww_scpi_feed(&w->q, t, p, n), t.hi_ns, out);
}

static int64_t wt_deadline(const void *state)
{
	const struct wt *w = state;
	int64_t d = ww_scpi_deadline(&w->q);

	if (w->phase == IDLE || w->phase == DEAD)
		return WW_TIME_MAX;
	return w->q.waiting || d > w->pace.next_ns ? d : w->pace.next_ns;
}

static void wt_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct wt *w = state;

	if (now_ns < wt_deadline(w))
		return;
	if (w->q.waiting)
		event(w, ww_scpi_tick(&w->q, now_ns), now_ns, out);
	else
		ask(w, now_ns, out);
}

static void wt_stop(void *state, const struct ww_meter_out *out)
{
	struct wt *w = state;

	if (w->phase != IDLE && w->phase != IDN && w->phase != DEAD) {
		if (w->integrate)
			ww_scpi_say(&w->q, ":INTEG:STOP", 0, out);
		ww_scpi_say(&w->q, ":COMM:REM OFF", 0, out); /* its keys are free again */
	}
	w->phase = IDLE;
}

static const struct ww_usb_id ids[] = {
	{0x0b21, 0x0025, "Yokogawa WT310", WW_BUS_TMC, -1, 0, 0, false},
	{0},
};

/* clang-format off */
#define CH(n, q, u, sem, s, r)                                                                        \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = r, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */

const struct ww_meter_ops ww_meter_wt310 = {
	.desc = {.name = "wt310",
		 .summary = "Yokogawa WT310/WT310E/WT330 (SCPI; USB, serial, network; 0.1 s)",
		 .example = "wt310:usbtmc0",
		 .buses = WW_BUS_STREAM | WW_BUS_TMC,
		 .usb = ids,
		 .baud = 9600,
		 .period_ns = 100 * WW_NS_PER_MS,
		 .window_ns = 100 * WW_NS_PER_MS,
		 .delay_min_ns = 0,
		 .delay_max_ns = 100 * WW_NS_PER_MS,
		 .channels = ITEMS,
		 .channel = {CH("power", "power", "W", WW_AVERAGE, 1e-6, 0.01),
			     CH("voltage", "voltage", "V", WW_AVERAGE, 1e-5, 0.01),
			     CH("current", "current", "A", WW_AVERAGE, 1e-7, 1e-4),
			     CH("energy", "energy", "Wh", WW_COUNTER, 1e-6, 1e-3),
			     CH("apparent_power", "apparent_power", "VA", WW_AVERAGE, 1e-6, 0.01),
			     CH("reactive_power", "other", "var", WW_AVERAGE, 1e-6, 0.01),
			     CH("power_factor", "power_factor", "1", WW_AVERAGE, 1e-5, 1e-4),
			     CH("frequency", "frequency", "Hz", WW_AVERAGE, 1e-3, 0.01),
			     CH("voltage_peak", "voltage", "V", WW_INSTANT, 1e-5, 0.1),
			     CH("current_peak", "current", "A", WW_INSTANT, 1e-7, 1e-3)},
		 .state_size = sizeof(struct wt)},
	.init = wt_init,
	.shape = wt_shape,
	.channel = wt_channel,
	.start = wt_start,
	.feed = wt_feed,
	.deadline = wt_deadline,
	.tick = wt_tick,
	.stop = wt_stop,
};
