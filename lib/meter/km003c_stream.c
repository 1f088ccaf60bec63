/* SPDX-License-Identifier: MIT */
#include "meter/km003c_stream.h"
#include "meter/km003c.h"
#include "meter/pace.h"

#include <stdio.h>

#define REPLY_NS  WW_NS_PER_S
#define TRIES	  3
#define EMPTY_NS  (3 * WW_NS_PER_S)
#define PAUSE_NS  WW_NS_PER_S
#define POLL_NS	  (100 * WW_NS_PER_MS)
#define SOON_NS	  (25 * WW_NS_PER_MS) /* at 1000 a second: an answer holds some 48 */
#define FULL	  40
#define TICK_NS	  WW_NS_PER_MS
#define TICKS	  65536
#define LOOK_SIZE 64

int64_t ww_km_step_ns(unsigned rate)
{
	static const int64_t ms[] = {500, 100, 20, 1};

	return ms[rate & 3] * WW_NS_PER_MS;
}

static void order(struct ww_km_stream *s, int64_t now, const uint8_t *p, size_t n,
		  const struct ww_meter_out *out)
{
	s->waiting = true;
	s->raw = 0;
	s->asked_ns = now;
	s->deadline_ns = ww_add_sat(now, REPLY_NS);
	out->send(out->ctx, p, n);
}

/* Say what this step says. */
static void ask(struct ww_km_stream *s, int64_t now, const struct ww_meter_out *out)
{
	uint8_t p[WW_KM_ORDER], id = ++s->id;
	size_t n = 0;

	switch (s->step) {
	case WW_KM_CEASE:
		n = ww_km_control(p, WW_KM_STOP, id, 0);
		break;
	case WW_KM_OPEN:
		n = ww_km_control(p, WW_KM_CONNECT, id, 0);
		break;
	case WW_KM_WHO:
		n = ww_km_read(p, id, WW_KM_FIRMWARE, LOOK_SIZE);
		break;
	case WW_KM_NAME:
		n = ww_km_read(p, id, WW_KM_CALIBRATION, LOOK_SIZE);
		break;
	case WW_KM_HARD:
		n = ww_km_read(p, id, WW_KM_HARDWARE, sizeof(s->hardware));
		break;
	case WW_KM_MAY:
		n = ww_km_auth(p, id, s->hardware);
		break;
	case WW_KM_BEGIN:
		n = ww_km_control(p, WW_KM_START, id, s->rate);
		break;
	case WW_KM_RUN:
		n = ww_km_control(p, WW_KM_GET, id, WW_KM_QUEUE);
		break;
	default:
		return;
	}
	order(s, now, p, n, out);
}

/* Between two looks into its queue. */
static int64_t pace(const struct ww_km_stream *s)
{
	return s->rate == 3 ? SOON_NS : POLL_NS;
}

static void to_step(struct ww_km_stream *s, enum ww_km_step step, int64_t now,
		    const struct ww_meter_out *out)
{
	s->step = step;
	s->tries = 0;
	s->waiting = false;
	if (step == WW_KM_RUN) {
		s->fresh = true;
		s->begun_ns = s->asked_ns;
		s->seen_ns = now;
		s->clock = (struct ww_devclock){.set = false};
		s->deadline_ns = ww_add_sat(now, pace(s));
		return;
	}
	ask(s, now, out);
}

void ww_km_stream_start(struct ww_km_stream *s, int64_t now_ns, const struct ww_meter_out *out)
{
	s->sample_ns = ww_km_step_ns(s->rate);
	to_step(s, WW_KM_CEASE, now_ns, out);
}

static void dead(struct ww_km_stream *s, int code, const char *text, const struct ww_meter_out *out)
{
	s->step = WW_KM_DEAD;
	s->waiting = false;
	s->raw = 0;
	s->deadline_ns = WW_TIME_MAX;
	out->fail(out->ctx, code, text);
}

/* Samples that are missing until now, beside those that were told. */
static void silence(struct ww_km_stream *s, int64_t now, const struct ww_meter_out *out)
{
	int64_t from = s->told ? s->told_ns : s->t.hi_ns;
	int64_t n = ww_since(now, s->t.hi_ns) / s->sample_ns - s->told;

	if (!s->has_last || n <= 0 || from >= now)
		return;
	out->loss(out->ctx, (struct ww_interval){from, now}, n, "silent");
	s->told += n;
	s->told_ns = now;
}

/* Nothing works any more, or never did. */
static void stuck(struct ww_km_stream *s, int64_t now, const char *why,
		  const struct ww_meter_out *out)
{
	if (!s->has_last) {
		dead(s, -ETIMEDOUT, why, out);
		return;
	}
	silence(s, now, out);
	s->step = WW_KM_PAUSE;
	s->waiting = false;
	s->deadline_ns = ww_add_sat(now, PAUSE_NS);
}

/* ---------------------------------------------------------------- the samples */

/* What the answer tells about the two clocks: it came after its samples, and what is not
 * in it was measured after it was asked for. */
static void clocks(struct ww_km_stream *s, struct ww_interval t, int64_t dev_ns, bool emptied)
{
	struct ww_interval host = {WW_TIME_MIN, t.hi_ns};

	if (emptied)
		host.lo_ns = s->asked_ns - s->sample_ns - TICK_NS;
	ww_devclock_bound(&s->clock, dev_ns, host);
}

/* Ticks from the last sample to this one: 16 bits, and how long it was for the host. */
static int64_t ticks_since(const struct ww_km_stream *s, uint16_t tick, struct ww_interval t)
{
	int64_t d = (uint16_t)(tick - s->tick);
	int64_t passed = ww_since(t.hi_ns, s->t.hi_ns) / TICK_NS;

	if (passed > d + TICKS / 2)
		d += (passed - d + TICKS / 2) / TICKS * TICKS;
	return d;
}

static void lost(struct ww_km_stream *s, struct ww_interval t, int64_t n, const char *why,
		 const struct ww_meter_out *out)
{
	int64_t from = s->told ? s->told_ns : s->t.lo_ns;

	/* Also where the two clocks contradict each other: a loss is never left unsaid. */
	t.hi_ns = t.hi_ns < s->t.hi_ns ? s->t.hi_ns : t.hi_ns;
	from = from > t.hi_ns ? t.hi_ns : from;
	if (n > 0)
		out->loss(out->ctx, (struct ww_interval){from, t.hi_ns}, n, why);
}

static void give(struct ww_km_stream *s, const struct ww_km_sample *q, struct ww_interval arrived,
		 const struct ww_meter_out *out)
{
	struct ww_interval t = ww_devclock_host(&s->clock, s->dev_ns);
	int64_t fine = s->rate ? 10 : 1;

	/* Its millisecond began then; it was taken before it arrived, and after the one before. */
	t.hi_ns = ww_add_sat(t.hi_ns, TICK_NS);
	t.hi_ns = t.hi_ns > arrived.hi_ns ? arrived.hi_ns : t.hi_ns;
	t.lo_ns = t.lo_ns < s->begun_ns ? s->begun_ns : t.lo_ns;
	if (s->has_last) {
		t.lo_ns = t.lo_ns < s->t.lo_ns ? s->t.lo_ns : t.lo_ns;
		t.hi_ns = t.hi_ns < s->t.hi_ns ? s->t.hi_ns : t.hi_ns;
	}
	t.lo_ns = t.lo_ns > t.hi_ns ? t.hi_ns : t.lo_ns;
	if (s->fresh && s->has_last)
		lost(s, t,
		     (ww_since(t.hi_ns, s->t.hi_ns) + s->sample_ns / 2) / s->sample_ns - 1 -
			     s->told,
		     "silent", out);
	s->fresh = false;
	s->told = 0;
	s->has_last = true;
	s->t = t;
	out->reading(out->ctx, t,
		     (const int64_t[WW_KM_CHANNELS]){
			     [WW_KM_POWER] = ww_km_power(q->uv, q->ua),
			     [WW_KM_VOLTAGE] = q->uv,
			     [WW_KM_CURRENT] = q->ua,
			     [WW_KM_DP] = q->dp * fine,
			     [WW_KM_DM] = q->dm * fine,
			     [WW_KM_CC1] = q->cc1 * fine,
			     [WW_KM_CC2] = q->cc2 * fine,
		     });
}

/* How many are missing between the last sample and this one; false: it came before. */
static bool advance(struct ww_km_stream *s, const struct ww_km_sample *q, struct ww_interval t,
		    int64_t *missing, const struct ww_meter_out *out)
{
	int64_t d = s->fresh ? 0 : ticks_since(s, q->tick, t);
	int64_t step = s->sample_ns / TICK_NS;

	*missing = 0;
	if (!s->fresh && (d == 0 || (d > TICKS / 2 && d < TICKS))) {
		if (!s->told_twice)
			ww_meter_tell(out, t, "samples that came twice are left out");
		s->told_twice = true;
		return false;
	}
	if (!s->fresh)
		*missing = (d + step / 2) / step - 1;
	s->dev_ns += d * TICK_NS;
	s->tick = q->tick;
	return true;
}

static void queue(struct ww_km_stream *s, struct ww_interval t, const struct ww_km_msg *m,
		  const struct ww_meter_out *out)
{
	struct ww_km_sample q;
	int64_t dev = s->dev_ns, missing;

	if (!m->samples)
		return;
	s->seen_ns = t.hi_ns;
	/* What had piled up before the first look: nothing tells when that was measured. */
	if (s->fresh && m->samples >= FULL)
		return;
	/* The newest first: it is what both clocks have in common. */
	ww_km_sample(m->queue + (size_t)(m->samples - 1) * WW_KM_SAMPLE_SIZE, &q);
	if (s->fresh) {
		struct ww_km_sample first;

		ww_km_sample(m->queue, &first);
		dev += (uint16_t)(q.tick - first.tick) * TICK_NS;
	} else {
		dev += ticks_since(s, q.tick, t) * TICK_NS;
	}
	clocks(s, t, dev, m->samples < FULL);
	for (unsigned i = 0; i < m->samples; i++) {
		ww_km_sample(m->queue + (size_t)i * WW_KM_SAMPLE_SIZE, &q);
		if (!advance(s, &q, t, &missing, out))
			continue;
		if (missing > 0) {
			struct ww_interval at = ww_devclock_host(&s->clock, s->dev_ns);

			at.hi_ns = at.hi_ns > t.hi_ns ? t.hi_ns : at.hi_ns;
			lost(s, at, missing, s->damaged ? "damaged" : "missing", out);
		}
		give(s, &q, t, out);
	}
	s->damaged = false;
	s->samples += m->samples;
}

/* ------------------------------------------------------------------ its answers */

static const char no_samples[] =
	"the meter has begun to stream, but gives no samples: use it without stream=";

/* Long since the last sample, though it is asked. */
static bool barren(const struct ww_km_stream *s, int64_t now)
{
	int64_t patience = EMPTY_NS > 6 * s->sample_ns ? EMPTY_NS : 6 * s->sample_ns;

	return ww_since(now, s->seen_ns) >= patience;
}

static void running(struct ww_km_stream *s, struct ww_interval t, const struct ww_km_msg *m,
		    const struct ww_meter_out *out)
{

	s->waiting = false;
	s->tries = 0;
	s->deadline_ns = ww_add_sat(s->asked_ns, pace(s));
	if (m->type == WW_KM_REJECT) {
		stuck(s, t.hi_ns,
		      "the meter refuses to give its samples: use it without stream=", out);
		return;
	}
	queue(s, t, m, out);
	if (m->samples >= FULL)
		s->deadline_ns = t.hi_ns;
	if (barren(s, t.hi_ns))
		stuck(s, t.hi_ns, no_samples, out);
}

static void refused(struct ww_km_stream *s, const struct ww_meter_out *out)
{
	dead(s, -EACCES,
	     "the meter does not accept this program for streaming: use it without stream= "
	     "(polling, 100 readings a second)",
	     out);
}

static void next(struct ww_km_stream *s, int64_t now, const struct ww_meter_out *out)
{
	to_step(s, s->step + 1, now, out);
}

static bool memory_step(const struct ww_km_stream *s)
{
	return s->step == WW_KM_WHO || s->step == WW_KM_NAME || s->step == WW_KM_HARD;
}

void ww_km_stream_message(struct ww_km_stream *s, struct ww_interval t, const struct ww_km_msg *m,
			  const struct ww_meter_out *out)
{
	bool control = m->type == WW_KM_ACCEPT || m->type == WW_KM_REJECT;

	/* What answers nothing that was asked is of an earlier program; this one has no number. */
	if (!s->waiting || (m->id != s->id && m->type != WW_KM_AUTH))
		return;
	if (s->step == WW_KM_RUN) {
		if (m->type == WW_KM_DATA || m->type == WW_KM_REJECT)
			running(s, t, m, out);
	} else if (memory_step(s)) {
		if (m->type == WW_KM_MEMORY)
			s->raw = s->step == WW_KM_HARD ? 16 : LOOK_SIZE;
		else if (m->type == WW_KM_REJECT && s->step == WW_KM_HARD)
			refused(s, out);
		else if (m->type == WW_KM_REJECT)
			next(s, t.hi_ns, out);
	} else if (s->step == WW_KM_MAY) {
		if (m->type == WW_KM_REJECT || (m->type == WW_KM_AUTH && !(m->word & 2)))
			refused(s, out);
		else if (m->type == WW_KM_AUTH)
			next(s, t.hi_ns, out);
	} else if (control) {
		if (m->type == WW_KM_REJECT && s->step == WW_KM_BEGIN)
			refused(s, out);
		else
			next(s, t.hi_ns, out);
	}
}

static void printable(char *to, size_t size, const uint8_t *from, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n && k + 1 < size && from[i] > ' ' && from[i] < 127; i++)
		to[k++] = (char)from[i];
	to[k] = '\0';
}

void ww_km_stream_memory(struct ww_km_stream *s, struct ww_interval t, const uint8_t *p,
			 const struct ww_meter_out *out)
{
	s->raw = 0;
	if (s->step == WW_KM_WHO) {
		printable(s->model, sizeof(s->model), p + 0x10, 12);
		printable(s->firmware, sizeof(s->firmware), p + 0x1c, 12);
	} else if (s->step == WW_KM_NAME) {
		printable(s->serial, sizeof(s->serial), p, 7);
		out->identity(out->ctx, *s->model ? s->model : NULL, *s->serial ? s->serial : NULL,
			      *s->firmware ? s->firmware : NULL);
	} else if (s->step == WW_KM_HARD) {
		memcpy(s->hardware, p, sizeof(s->hardware));
	} else {
		return;
	}
	next(s, t.hi_ns, out);
}

void ww_km_stream_bad(struct ww_km_stream *s, struct ww_interval t, const struct ww_meter_out *out)
{
	s->damaged = true;
	if (s->step != WW_KM_RUN || !s->waiting)
		return;
	if (s->has_last)
		ww_meter_tell(out, t, "damaged answer left out");
	/* Its samples are gone; the next ones need not wait. */
	s->waiting = false;
	if (++s->tries < TRIES)
		s->deadline_ns = ww_add_sat(t.hi_ns, SOON_NS);
}

/* ------------------------------------------------------------------- its turns */

static void unanswered(struct ww_km_stream *s, int64_t now, const struct ww_meter_out *out)
{
	char text[320];

	s->waiting = false;
	s->raw = 0;
	if (ww_since(now, s->told ? s->told_ns : s->t.hi_ns) >= 2 * WW_NS_PER_S)
		silence(s, now, out);
	if (s->step == WW_KM_CEASE || s->step == WW_KM_WHO || s->step == WW_KM_NAME) {
		next(s, now, out);
		return;
	}
	if (++s->tries < TRIES) {
		ask(s, now, out);
		return;
	}
	if (s->step == WW_KM_OPEN)
		snprintf(text, sizeof(text),
			 "no answer of a POWER-Z on this interface (%s%s). Is it a KM002C or "
			 "KM003C, "
			 "and does no other program hold it? Unplug it and plug it in again",
			 *s->heard ? "what came began with" : "nothing came", s->heard);
	else
		snprintf(
			text, sizeof(text),
			"the meter answers no more while streaming is prepared: unplug it and plug "
			"it in again, or use it without stream=");
	stuck(s, now, text, out);
}

void ww_km_stream_tick(struct ww_km_stream *s, int64_t now_ns, const struct ww_meter_out *out)
{
	if (now_ns < s->deadline_ns)
		return;
	if (s->step == WW_KM_PAUSE)
		to_step(s, WW_KM_CEASE, now_ns, out);
	else if (s->step == WW_KM_RUN && barren(s, now_ns))
		stuck(s, now_ns, no_samples, out);
	else if (s->waiting)
		unanswered(s, now_ns, out);
	else
		ask(s, now_ns, out);
}

void ww_km_stream_stop(struct ww_km_stream *s, const struct ww_meter_out *out)
{
	uint8_t p[WW_KM_ORDER];

	if (s->step != WW_KM_DEAD && s->step != WW_KM_OFF) {
		out->send(out->ctx, p, ww_km_control(p, WW_KM_STOP, ++s->id, 0));
		out->send(out->ctx, p, ww_km_control(p, WW_KM_DISCONNECT, ++s->id, 0));
	}
	s->step = WW_KM_OFF;
	s->waiting = false;
	s->raw = 0;
	s->deadline_ns = WW_TIME_MAX;
}
