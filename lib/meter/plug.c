/* SPDX-License-Identifier: MIT */
#include "meter/plug.h"
#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define TRIES_NS (4 * WW_NS_PER_S) /* within it a plug that is one has answered */
#define AGAIN_NS (300 * WW_NS_PER_MS)
#define LONG_NS	 (3600 * WW_NS_PER_S)

int ww_plug_init(struct ww_plug *p, const char *name, size_t channels, int64_t every_ns,
		 int64_t reply_ns, struct ww_error *err)
{
	if (every_ns > LONG_NS)
		return ww_fail(err, -EINVAL, "%s: the longest interval is an hour", name);
	/* More often than its chip renews them there is nothing new. */
	if (every_ns < WW_PLUG_WINDOW_NS)
		every_ns = WW_PLUG_WINDOW_NS;
	*p = (struct ww_plug){.reply_ns = reply_ns, .deadline_ns = WW_TIME_MAX};
	ww_pace_init(&p->pace, channels, every_ns, WW_PLUG_DELAY_NS);
	memset(p->decimals, -1, sizeof(p->decimals));
	return 0;
}

void ww_plug_start(struct ww_plug *p, int64_t now_ns)
{
	p->phase = WW_PLUG_REST;
	p->begun_ns = p->pace.next_ns = now_ns;
	p->deadline_ns = now_ns;
}

void ww_plug_asked(struct ww_plug *p, int64_t now_ns, bool values)
{
	if (values)
		ww_pace_asked(&p->pace, now_ns);
	p->phase = WW_PLUG_WAIT;
	p->deadline_ns = ww_add_sat(now_ns, p->reply_ns);
}

/* The next question, on the grid of its period, but never at once. */
void ww_plug_rest(struct ww_plug *p, int64_t now_ns)
{
	p->phase = WW_PLUG_REST;
	p->deadline_ns = p->pace.next_ns;
	if (p->deadline_ns < ww_add_sat(now_ns, AGAIN_NS))
		p->deadline_ns = ww_add_sat(now_ns, AGAIN_NS);
}

void ww_plug_fail(struct ww_plug *p, const struct ww_meter_out *out, int code, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->phase = WW_PLUG_DEAD;
	p->deadline_ns = WW_TIME_MAX;
	out->fail(out->ctx, code, text);
}

static void silent(struct ww_plug *p, int64_t now_ns, const char *why,
		   const struct ww_meter_out *out)
{
	ww_pace_miss(&p->pace, now_ns, why, out);
	ww_plug_rest(p, now_ns);
}

void ww_plug_silent(struct ww_plug *p, struct ww_interval t, const char *why, size_t n,
		    const struct ww_meter_out *out)
{
	ww_plain(p->why, sizeof(p->why), why, n);
	silent(p, t.hi_ns, "silent", out);
}

bool ww_plug_tick(struct ww_plug *p, int64_t now_ns, const char *hint,
		  const struct ww_meter_out *out)
{
	if (now_ns < p->deadline_ns || p->phase == WW_PLUG_IDLE || p->phase == WW_PLUG_DEAD)
		return false;
	if (p->phase == WW_PLUG_WAIT) {
		if (!p->why[0])
			snprintf(p->why, sizeof(p->why), "nothing came back");
		silent(p, now_ns, "silent", out);
		if (p->known || ww_since(now_ns, p->begun_ns) < TRIES_NS)
			return false;
	}
	if (!p->known && ww_since(now_ns, p->begun_ns) >= TRIES_NS) {
		ww_plug_fail(p, out, -ETIMEDOUT, "no answer that is one: %s. %s", p->why, hint);
		return false;
	}
	return true;
}

void ww_plug_good(struct ww_plug *p, struct ww_interval t, const int64_t *codes,
		  const struct ww_meter_out *out)
{
	p->known = true;
	p->why[0] = '\0';
	ww_pace_give(&p->pace, t, codes, out);
	ww_plug_rest(p, t.hi_ns);
}

void ww_plug_bad(struct ww_plug *p, struct ww_interval t, const char *why,
		 const struct ww_meter_out *out)
{
	if (p->known && strncmp(why, p->why, sizeof(p->why) - 1) != 0)
		ww_meter_tell(out, t, "an answer left out: %s", why);
	ww_plain(p->why, sizeof(p->why), why, strlen(why));
	silent(p, t.hi_ns, "damaged", out);
}

static int status_of(const uint8_t *msg, size_t n, const uint8_t **body, size_t *len)
{
	int status = 0;
	size_t i = 0;

	for (; i < n && i < 3 && msg[i] >= '0' && msg[i] <= '9'; i++)
		status = status * 10 + (msg[i] - '0');
	if (!i || i >= n || msg[i] != '\n')
		return -1;
	*body = msg + i + 1;
	*len = n - i - 1;
	return status;
}

int ww_plug_http(struct ww_plug *p, struct ww_interval t, const uint8_t *msg, size_t n,
		 const char *who, const uint8_t **body, size_t *len, const struct ww_meter_out *out)
{
	int status = status_of(msg, n, body, len);
	char text[WW_PLUG_WHY], begin[64];

	if (status == 200)
		return 1;
	if (status == 0) {
		/* Nobody answered. */
		ww_plug_silent(p, t, (const char *)*body, *len, out);
		return 0;
	}
	if ((status == 401 || status == 403) && !p->known) {
		ww_plug_fail(p, out, -EACCES,
			     "it wants a login, or another one (HTTP %d): add "
			     "?user=NAME&password=WORD (a %s plug's user is admin)",
			     status, who);
		return 0;
	}
	if (status < 0) {
		ww_plug_bad(p, t, "what came is no answer of a web server", out);
		return 0;
	}
	ww_plain(begin, sizeof(begin), (const char *)*body, *len < 40 ? *len : 40);
	snprintf(text, sizeof(text), "HTTP %d \"%s\"", status, begin);
	ww_plug_bad(p, t, text, out);
	return 0;
}

void ww_plug_check(struct ww_plug *p, struct ww_interval t, double watts, double volts, double amps,
		   int64_t *amps_code, const struct ww_meter_out *out)
{
	char w[32], va[32];
	bool odd = watts > 1.2 * volts * amps + 10 && amps > 0;

	if (amps == 0 && watts != 0 && isfinite(watts))
		*amps_code = WW_MISSING;
	if (odd && !p->odd) {
		ww_fixed_text(w, sizeof(w), watts, 1);
		ww_fixed_text(va, sizeof(va), volts * amps, 1);
		ww_meter_tell(out, t, "implausible: %s W are more than its %s VA", w, va);
	}
	p->odd = odd;
}

bool ww_plug_seen(struct ww_plug *p, size_t c, int decimals)
{
	if (c >= sizeof(p->decimals) || decimals <= p->decimals[c])
		return false;
	p->decimals[c] = (int8_t)decimals;
	return true;
}

double ww_plug_resolution(const struct ww_plug *p, size_t c, double unit, double usual)
{
	double seen;

	if (c >= sizeof(p->decimals) || p->decimals[c] < 0)
		return usual;
	seen = unit * pow(10, -p->decimals[c]);
	return seen < usual ? seen : usual;
}
