/* SPDX-License-Identifier: MIT */
/* What the bytes that came back say of the path, and what is kept of it. */
#include "control/loopback.h"
#include "bus/portcal.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/* Fewer bytes, or more of them wrong, are not worth keeping. */
#define STORE_LEAST 200
#define STORE_WRONG 0.01
/* The bench's own clock, where it is not disciplined. */
#define CLOCK_REL 50e-6

static double mid_delay(const struct ww_lb_byte *b)
{
	return ((double)b->done_ns - (double)ww_iv_mid(b->truth)) / 1e9;
}

/* v sorted; the value that a part q of them does not exceed. */
static double at(const double *v, size_t n, double q)
{
	size_t k = (size_t)ceil(q * (double)n);

	return v[k ? k - 1 : 0];
}

static bool inside(const struct ww_lb_byte *b)
{
	return b->said.lo_ns <= b->truth.hi_ns && b->said.hi_ns >= b->truth.lo_ns;
}

static void delays(struct ww_loopback *l, double *v, double *w)
{
	struct ww_loopback_result *r = &l->result;
	size_t n = l->bytes, in = 0;

	l->need_min_ns = WW_TIME_MAX;
	l->need_max_ns = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ww_lb_byte *b = &l->byte[i];
		int64_t least = b->done_ns - b->truth.hi_ns;

		v[i] = mid_delay(b);
		in += inside(b);
		if (least < l->need_min_ns)
			l->need_min_ns = least;
		if (b->empty_ns != WW_TIME_MIN && b->empty_ns - b->truth.lo_ns > l->need_max_ns)
			l->need_max_ns = b->empty_ns - b->truth.lo_ns;
	}
	qsort(v, n, sizeof(*v), ww_cmp_double);
	r->min_s = v[0];
	r->median_s = at(v, n, 0.5);
	r->p99_s = at(v, n, 0.99);
	r->max_s = v[n - 1];
	r->inside = l->paced ? (double)in / (double)n : NAN;
	for (size_t i = 0; i < n; i++)
		w[i] = ((double)l->byte[i].said.hi_ns - (double)l->byte[i].said.lo_ns) / 1e9;
	r->width_s = ww_median(w, n);
	for (size_t i = 0; i < n; i++)
		w[i] = ((double)l->byte[i].truth.hi_ns - (double)l->byte[i].truth.lo_ns) / 2e9;
	r->resolution_s = ww_median(w, n);
}

/* The straight line through what had come when: its slope is the rate. */
static void rate(struct ww_loopback *l)
{
	double n = 0, mx = 0, my = 0, sxx = 0, sxy = 0, lo = INFINITY, hi = -INFINITY, slope, u;
	int bits = 1 + l->line.bits + (l->line.parity != 'n') + l->line.stop;
	size_t from = l->chunks > 4 ? 1 : 0;

	l->result.baud = (struct ww_quantity){NAN, NAN};
	if (l->chunks < 4 || l->stream_at < l->stream_n / 2)
		return;
	for (size_t i = from; i < l->chunks; i++, n++) {
		mx += (double)l->chunk[i].n;
		my += (double)(l->chunk[i].t_ns - l->chunk[0].t_ns);
	}
	mx /= n;
	my /= n;
	for (size_t i = from; i < l->chunks; i++) {
		double x = (double)l->chunk[i].n - mx;

		sxx += x * x;
		sxy += x * ((double)(l->chunk[i].t_ns - l->chunk[0].t_ns) - my);
	}
	slope = sxy / sxx;
	if (!(slope > 0))
		return;
	for (size_t i = from; i < l->chunks; i++) {
		double e = (double)(l->chunk[i].t_ns - l->chunk[0].t_ns) - my -
			   slope * ((double)l->chunk[i].n - mx);

		lo = fmin(lo, e);
		hi = fmax(hi, e);
	}
	/* Stamps are late by up to a timer's period, in step with each other: no mean of many. */
	u = (hi - lo) / sqrt(12) / (slope * (double)l->stream_at) * sqrt(2);
	l->result.baud.value = bits * 1e9 / slope;
	l->result.baud.u = l->result.baud.value * hypot(u, CLOCK_REL);
}

/* ----------------------------------------------------------------------- notes */

static bool looks_like_console(const char *text)
{
	static const char *const signs[] = {"login", "assword", "$ ", "# ", "> ", "[ ", "getty"};

	for (size_t i = 0; i < WW_COUNTOF(signs); i++)
		if (strstr(text, signs[i]))
			return true;
	return false;
}

static void say_foreign(struct ww_loopback *l)
{
	char text[WW_LB_FOREIGN + 1];
	size_t n = 0;

	if (!l->foreign_total)
		return;
	for (size_t i = 0; i < l->n_foreign; i++) {
		char c = l->foreign[i];

		text[n++] = c >= ' ' && c <= '~' ? c : ' ';
	}
	text[n] = '\0';
	ww_note(&l->notes, "%llu byte%s came that nobody sent here: \"%s\"%s",
		(unsigned long long)l->foreign_total, l->foreign_total == 1 ? "" : "s", text,
		looks_like_console(text)
			? ": a getty or a console is on this line; stop it (systemctl stop "
			  "serial-getty@NAME, no console= on the kernel's command line)"
			: "");
}

static void say(struct ww_loopback *l)
{
	const struct ww_loopback_result *r = &l->result;
	const struct ww_transport *t = &r->transport;

	if (l->echo)
		ww_note(&l->notes, "the time that the machine at the other end takes to echo is in "
				   "every delay: nothing is kept for recordings");
	say_foreign(l);
	if (!l->paced)
		ww_note(&l->notes,
			"%s: no line with a pace: its rate is not measured, and the "
			"delay is that of this machine alone",
			t->name);
	else if (l->char_lo == 0)
		ww_note(&l->notes, "this line keeps no pace that is known (a virtual machine, or a "
				   "device without a UART): when a byte ended on it is known to a "
				   "character's time only");
	if (r->inside < 1 && !l->echo)
		ww_note(&l->notes,
			"%llu of %zu stated intervals do not hold their byte: the delay "
			"is greater than the transport's model allows%s",
			(unsigned long long)llround((1 - r->inside) * (double)l->bytes), l->bytes,
			*ww_port_adapter(l->port) ? "; once stored, it is used instead" : "");
	if (isfinite(r->baud.value) &&
	    fabs(r->baud.value / (double)l->line.baud - 1) > 0.02 + 2 * r->baud.u / r->baud.value)
		ww_note(&l->notes,
			r->baud.value < (double)l->line.baud
				? "the stream was slower than the line could be: pauses "
				  "between its packets, or another rate than asked for"
				: "the stream was faster than the line's rate: nothing paces "
				  "it, or the rate is another one than asked for");
	if (r->back < r->sent)
		ww_note(&l->notes, "%llu of %llu bytes did not come back",
			(unsigned long long)(r->sent - r->back), (unsigned long long)r->sent);
}

int ww_loopback_figures(struct ww_loopback *l, struct ww_error *err)
{
	double *v = calloc(2 * l->bytes + 1, sizeof(*v));

	if (!v)
		return ww_fail_nomem(err);
	if (!l->bytes) {
		free(v);
		return ww_fail(err, -ENODATA, "%s: nothing came back", l->uri);
	}
	l->result.sent = l->total + l->stream_n;
	l->result.back = l->back_total + l->stream_back;
	l->result.wrong = l->wrong;
	l->result.latency_ns =
		ww_port_latency_ms(l->port) < 0 ? -1 : ww_port_latency_ms(l->port) * WW_NS_PER_MS;
	l->result.transport = *ww_port_transport(l->port);
	delays(l, v, v + l->bytes);
	rate(l);
	say(l);
	free(v);
	if (l->notes.bad)
		return ww_fail_nomem(err);
	return 0;
}

/* ------------------------------------------------------------ to the outside */

int ww_loopback_result(const struct ww_loopback *l, struct ww_loopback_result *out,
		       struct ww_error *err)
{
	if (!l->result.sent)
		return ww_fail(err, -EAGAIN, "%s: the loopback is not through yet", l->uri);
	*out = l->result;
	return 0;
}

const char *ww_loopback_note(const struct ww_loopback *l, size_t i)
{
	return ww_note_at(&l->notes, i);
}

static void today(char *out, size_t n)
{
	struct tm tm = {0};
	time_t now = time(NULL);

	gmtime_r(&now, &tm);
	strftime(out, n, "%Y-%m-%d", &tm);
}

/*
 * What was seen in so many bytes is not all that there is: to the greatest delay half of
 * the spread is added and half a millisecond, from the least one the resolution and a tenth
 * are taken.
 */
int ww_loopback_store(const struct ww_loopback *l, char *path, size_t n, struct ww_error *err)
{
	const struct ww_loopback_result *r = &l->result;
	struct ww_portcal c = {.baud = l->line.baud,
			       .latency_ms = ww_port_latency_ms(l->port),
			       .bytes = (int64_t)l->bytes};
	int64_t least = l->need_min_ns - (int64_t)(r->resolution_s * 1e9);

	if (!r->sent)
		return ww_fail(err, -EAGAIN, "%s: the loopback is not through yet", l->uri);
	if (l->echo)
		return ww_fail(err, -EINVAL,
			       "not stored: the other machine's own time is in the delays");
	if (l->bytes < STORE_LEAST ||
	    (double)(r->wrong + r->sent - r->back) > STORE_WRONG * (double)r->sent)
		return ww_fail(
			err, -EINVAL,
			"not stored: that takes %d bytes and less than 1 %% of them wrong or "
			"missing",
			STORE_LEAST);
	snprintf(c.adapter, sizeof(c.adapter), "%s", ww_port_adapter(l->port));
	snprintf(c.driver, sizeof(c.driver), "%s", r->transport.name);
	today(c.date, sizeof(c.date));
	c.delay_min_ns = least > 0 ? least - least / 10 : 0;
	c.delay_max_ns = l->need_max_ns + WW_NS_PER_MS / 2;
	if (l->need_max_ns > l->need_min_ns)
		c.delay_max_ns += (l->need_max_ns - l->need_min_ns) / 2;
	if (c.delay_max_ns < c.delay_min_ns)
		c.delay_max_ns = c.delay_min_ns;
	return ww_portcal_store(&c, path, n, err);
}
