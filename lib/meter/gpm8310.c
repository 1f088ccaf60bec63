/* SPDX-License-Identifier: MIT */
/*
 * GW Instek GPM-8213 and GPM-8310: SCPI lines on the serial port of its USB side or on
 * a socket. It does not tell whether its values are new: what repeats within the update
 * interval is left out. Answers begin with a header where those are on, and go on in
 * engineering notation. Source: transcripts of a GPM-8213.
 */
#include "meter/pace.h"
#include "meter/scpi.h"

#include <math.h>
#include <stdio.h>

#define TRIES	  3
#define ITEMS	  7
#define UPDATE_NS WW_NS_PER_S

extern const struct ww_meter_ops ww_meter_gpm8310;

enum phase { IDLE, IDN, SETUP, HEADER, RUN, DEAD };

struct gpm {
	enum phase phase;
	struct ww_scpi q;
	struct ww_pace pace;
	int64_t update_ns;
	size_t step, tries;
	size_t columns;
	uint8_t channel[ITEMS]; /* that a column is; ITEMS: none of ours */
	bool empty_told, cut_told;
	double digit[ITEMS]; /* coarsest that was seen of a channel */
};

/* In the order of the channels; and what the meter calls them in its header. */
static const struct {
	const char *item, *column;
} items[ITEMS] = {{"P", "P"}, {"U", "Urms"},	{"I", "Irms"}, {"S", "S"},
		  {"Q", "Q"}, {"LAMBDA", "PF"}, {"FU", "fU"}};

static void give_up(struct gpm *g, const struct ww_meter_out *out, int code, const char *text)
{
	g->phase = DEAD;
	out->fail(out->ctx, code, text);
}

static void ask(struct gpm *g, int64_t now, const struct ww_meter_out *out)
{
	char text[WW_SCPI_SENT];

	switch (g->phase) {
	case IDN:
		ww_scpi_say(&g->q, "*IDN?", now, out);
		break;
	case SETUP:
		if (g->step)
			snprintf(text, sizeof(text), ":NUMERIC:NORMAL:ITEM%zu %s", g->step,
				 items[g->step - 1].item);
		else
			snprintf(text, sizeof(text), ":NUMERIC:NORMAL:NUMBER %d", ITEMS);
		ww_scpi_say(&g->q, text, now, out);
		/* A command has no answer of its own: with this none is lost in a small buffer. */
		ww_scpi_say(&g->q, ":NUMERIC:NORMAL:NUMBER?", now, out);
		break;
	case HEADER:
		ww_scpi_say(&g->q, ":NUMERIC:NORMAL:HEADER?", now, out);
		break;
	case RUN:
		ww_pace_asked(&g->pace, now);
		ww_scpi_say(&g->q, ":NUMERIC:NORMAL:VALUE?", now, out);
		break;
	default:
		break;
	}
}

static void identified(struct gpm *g, int64_t now, const struct ww_meter_out *out)
{
	struct ww_scpi_idn id;
	char text[320];

	if (!ww_scpi_idn(g->q.line, &id)) {
		/* Left over by somebody: once it is quiet, asked again. */
		g->q.quiet_ns = ww_add_sat(now, 300 * WW_NS_PER_MS);
		if (++g->tries < TRIES)
			return;
		snprintf(text, sizeof(text),
			 "the answer to *IDN? begins with \"%.40s\": this is no GPM-8213 or "
			 "GPM-8310",
			 g->q.line);
		give_up(g, out, -ENODEV, text);
		return;
	}
	if (strncmp(id.model, "GPM-", 4) != 0) {
		snprintf(text, sizeof(text), "this is a %s %s, and no GPM-8213 or GPM-8310",
			 id.maker, id.model);
		give_up(g, out, -ENODEV, text);
		return;
	}
	out->identity(out->ctx, id.model, id.serial, id.firmware);
	g->tries = 0;
	g->phase = SETUP;
	ask(g, now, out);
}

/* Which value stands where is asked, and not assumed. */
static void take_header(struct gpm *g, int64_t now, const struct ww_meter_out *out)
{
	char *part[ITEMS + 1], text[256];
	size_t n = ww_scpi_split(g->q.line, ',', part, ITEMS + 1);
	bool power = false;

	for (size_t i = 0; i < n && i < ITEMS; i++) {
		g->channel[i] = ITEMS;
		for (size_t k = 0; k < ITEMS; k++)
			if (strcmp(part[i], items[k].column) == 0)
				g->channel[i] = (uint8_t)k;
		power |= g->channel[i] == 0;
	}
	g->columns = n;
	if (n > ITEMS || !power) {
		snprintf(text, sizeof(text),
			 "the meter does not give the values that were asked for (%zu columns, the "
			 "first is \"%.20s\"): take it out of its integration or harmonics view",
			 n, part[0]);
		give_up(g, out, -EPROTO, text);
		return;
	}
	g->phase = RUN;
	g->q.steady = true;
	/* How long its answers take is known now. */
	out->identity(out->ctx, NULL, NULL, NULL);
	g->pace.next_ns = now;
	ask(g, now, out);
}

static void run(struct gpm *g, int64_t now, const struct ww_meter_out *out)
{
	int64_t codes[WW_METER_CHANNELS];
	char *part[ITEMS + 1];
	size_t n = ww_scpi_split(g->q.line, ',', part, ITEMS + 1);
	bool coarser = false;
	double v;

	for (size_t i = 0; i < WW_METER_CHANNELS; i++)
		codes[i] = WW_MISSING;
	if (n != g->columns || !ww_scpi_number(part[0], &v)) {
		if (!g->cut_told)
			ww_meter_tell(out, g->q.t,
				      "an answer of %zu values, where %zu were asked for, left out",
				      n, g->columns);
		g->cut_told = true;
		ww_pace_miss(&g->pace, now, "damaged", out);
		return;
	}
	g->cut_told = false;
	for (size_t i = 0; i < n; i++) {
		size_t c = g->channel[i];

		if (c >= ITEMS)
			continue;
		codes[c] = ww_scpi_code(part[i], ww_meter_gpm8310.desc.channel[c].scale);
		coarser |= ww_scpi_digit(part[i], &g->digit[c]);
	}
	/* What is said of the channels follows. */
	if (coarser)
		out->identity(out->ctx, NULL, NULL, NULL);
	if (codes[0] < WW_CODE_MIN && !g->empty_told)
		ww_meter_tell(out, g->q.t,
			      "no power in the meter's values: beyond its range, or it changes it");
	g->empty_told = codes[0] < WW_CODE_MIN;
	ww_pace_give(&g->pace, g->q.t, codes, out);
}

static void answer(struct gpm *g, int64_t now, const struct ww_meter_out *out)
{
	switch (g->phase) {
	case IDN:
		identified(g, now, out);
		break;
	case SETUP:
		g->tries = 0;
		if (++g->step > ITEMS)
			g->phase = HEADER;
		ask(g, now, out);
		break;
	case HEADER:
		take_header(g, now, out);
		break;
	case RUN:
		run(g, now, out);
		break;
	default:
		break;
	}
}

static void no_answer(struct gpm *g, const struct ww_meter_out *out, int code)
{
	char why[96], text[512];

	ww_scpi_why(&g->q, why, sizeof(why));
	snprintf(text, sizeof(text),
		 "no answer to %s that can be understood: %s. Is this a GPM-8310, is its interface "
		 "(USB device, or LAN with port 23) chosen in its menu, and is nobody else talking "
		 "to it?",
		 g->q.sent, why);
	give_up(g, out, code, text);
}

static void event(struct gpm *g, enum ww_scpi_event ev, int64_t now, const struct ww_meter_out *out)
{
	if (ev == WW_SCPI_ANSWER)
		answer(g, now, out);
	else if (ev == WW_SCPI_NONE)
		return;
	else if (g->phase == RUN)
		ww_pace_miss(&g->pace, now, ev == WW_SCPI_BAD ? "damaged" : "silent", out);
	else if (++g->tries >= TRIES)
		no_answer(g, out, ev == WW_SCPI_BAD ? -EPROTO : -ETIMEDOUT);
}

static int gpm_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct gpm *g = state;

	*g = (struct gpm){.update_ns = UPDATE_NS};
	if (ww_uri_dur(options, "update", &g->update_ns, err) < 0)
		return -EINVAL;
	if (g->update_ns < 50 * WW_NS_PER_MS || g->update_ns > 60 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL,
			       "%s: option update: the meter's own interval, 50ms to 1m",
			       options->driver);
	if (every_ns > 86400 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "%s: the longest interval is a day", options->driver);
	/* Twice as often as it is renewed: each renewal is seen, and soon. */
	if (!every_ns)
		every_ns = g->update_ns / 2;
	if (every_ns < 50 * WW_NS_PER_MS)
		every_ns = 50 * WW_NS_PER_MS;
	ww_pace_init(&g->pace, ITEMS, every_ns, g->update_ns);
	return 0;
}

static void gpm_shape(const void *state, struct ww_meter_shape *s)
{
	const struct gpm *g = state;

	s->period_ns = ww_pace_period(&g->pace);
	s->window_ns = g->update_ns;
	/* Renewed at any time before it was asked. */
	s->delay_max_ns = g->update_ns + g->q.rtt_ns + 20 * WW_NS_PER_MS;
}

static void gpm_channel(const void *state, size_t i, struct ww_channel_info *c)
{
	const struct gpm *g = state;

	*c = ww_meter_gpm8310.desc.channel[i];
	if (g->digit[i] > 0)
		c->resolution = g->digit[i] > c->scale ? g->digit[i] : c->scale;
}

static void gpm_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct gpm *g = state;

	(void)out;
	ww_scpi_init(&g->q, false);
	g->phase = IDN;
	g->pace.next_ns = now_ns;
}

static void gpm_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		     const struct ww_meter_out *out)
{
	struct gpm *g = state;

	if (g->phase != IDLE && g->phase != DEAD)
		event(g, ww_scpi_feed(&g->q, t, p, n), t.hi_ns, out);
}

static int64_t gpm_deadline(const void *state)
{
	const struct gpm *g = state;
	int64_t d = ww_scpi_deadline(&g->q);

	if (g->phase == IDLE || g->phase == DEAD)
		return WW_TIME_MAX;
	return g->q.waiting || d > g->pace.next_ns ? d : g->pace.next_ns;
}

static void gpm_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct gpm *g = state;

	if (now_ns < gpm_deadline(g))
		return;
	if (g->q.waiting)
		event(g, ww_scpi_tick(&g->q, now_ns), now_ns, out);
	else
		ask(g, now_ns, out);
}

/* It is never put into remote control: there is nothing to leave. */
static void gpm_stop(void *state, const struct ww_meter_out *out)
{
	(void)out;
	((struct gpm *)state)->phase = IDLE;
}

static const struct ww_usb_id ids[] = {
	{0x2184, 0x0052, "GW Instek GPM-8213", WW_BUS_STREAM, -1, 0, 0, false},
	{0},
};

/* clang-format off */
#define CH(n, q, u, s, r)                                                                             \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = WW_AVERAGE, .scale = s,          \
		.resolution = r, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */

const struct ww_meter_ops ww_meter_gpm8310 = {
	.desc = {.name = "gpm8310",
		 .summary = "GW Instek GPM-8310, GPM-8213 (SCPI; USB serial, network; 1 s)",
		 .example = "gpm8310:tcp://192.0.2.5:23",
		 .usb = ids,
		 .baud = 115200,
		 .period_ns = UPDATE_NS,
		 .window_ns = UPDATE_NS,
		 .delay_min_ns = 0,
		 .delay_max_ns = UPDATE_NS + 100 * WW_NS_PER_MS,
		 .channels = ITEMS,
		 .channel = {CH("power", "power", "W", 1e-6, 0.01),
			     CH("voltage", "voltage", "V", 1e-4, 0.01),
			     CH("current", "current", "A", 1e-7, 1e-4),
			     CH("apparent_power", "apparent_power", "VA", 1e-6, 0.01),
			     CH("reactive_power", "other", "var", 1e-6, 0.01),
			     CH("power_factor", "power_factor", "1", 1e-4, 1e-4),
			     CH("frequency", "frequency", "Hz", 1e-3, 0.01)},
		 .state_size = sizeof(struct gpm)},
	.init = gpm_init,
	.shape = gpm_shape,
	.channel = gpm_channel,
	.start = gpm_start,
	.feed = gpm_feed,
	.deadline = gpm_deadline,
	.tick = gpm_tick,
	.stop = gpm_stop,
};
