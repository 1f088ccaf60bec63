/* SPDX-License-Identifier: MIT */
/*
 * Bytes are sent alone and in bursts, at moments that fall anywhere in the phase of an
 * adapter's timer, and looked for at RX. When a byte stood on the line is known between
 * bounds: not before it was written and its character's time was over, not after it had
 * left for the adapter and that time was over again. At the end a long stream shows the
 * rate. Only printable characters are sent, and no end of a line: if a shell listens
 * after all, it is given no command.
 */
#include "control/loopback.h"

#include <stdio.h>

#define LISTEN_NS (300 * WW_NS_PER_MS)
#define WAIT_NS	  (500 * WW_NS_PER_MS)
#define LOOK_NS	  (200 * WW_NS_PER_US)
#define PROBES	  3
#define SILENT	  5 /* rounds */
#define GAP_MIN	  (2 * WW_NS_PER_MS)
#define GAP_SPAN  (30 * WW_NS_PER_MS)

static uint32_t draw(struct ww_loopback *l, uint32_t below)
{
	l->random ^= l->random << 13;
	l->random ^= l->random >> 7;
	l->random ^= l->random << 17;
	return (uint32_t)(l->random >> 33) % below;
}

static uint8_t draw_byte(struct ww_loopback *l)
{
	/* '!' to '~' */
	return (uint8_t)('!' + draw(l, 94));
}

static void fail_with(struct ww_loopback *l, int code, const char *text)
{
	ww_fail(&l->err, code, "%s: %s", l->uri, text);
	l->phase = WW_LB_DONE;
	ww_timer_set(l->timer, WW_TIME_MAX, 0);
}

/* ----------------------------------------------------------------------- rounds */

static void send_round(struct ww_loopback *l, size_t n)
{
	l->n_sent = n;
	l->foreign_before = l->foreign_total;
	l->next = l->n_back = 0;
	l->gone_ns = 0;
	memset(l->came, 0, sizeof(l->came));
	for (size_t i = 0; i < n; i++)
		l->sent[i] = draw_byte(l);
	l->before_ns = ww_loop_now(l->loop);
	if (ww_port_write(l->port, l->sent, n, &l->err) < 0) {
		l->phase = WW_LB_DONE;
		return;
	}
	l->after_ns = ww_loop_now(l->loop);
	l->deadline_ns = l->after_ns + WAIT_NS + (int64_t)n * l->char_hi;
	ww_timer_set(l->timer, l->after_ns + LOOK_NS, LOOK_NS);
}

/* When the k-th byte of the round ended on the line. */
static struct ww_interval truth_of(const struct ww_loopback *l, size_t k, int64_t done_ns)
{
	struct ww_interval t = {l->before_ns + (int64_t)(k + 1) * l->char_lo, done_ns};
	int64_t left = l->paced ? l->gone_ns : l->after_ns;

	/* The adapter begins within a character's time where it was idle. */
	if (left && left + (int64_t)(k + 2) * l->char_hi < t.hi_ns)
		t.hi_ns = left + (int64_t)(k + 2) * l->char_hi;
	if (t.lo_ns > t.hi_ns)
		t.lo_ns = t.hi_ns;
	return t;
}

static void end_round(struct ww_loopback *l)
{
	for (size_t k = 0; k < l->n_sent; k++) {
		struct ww_lb_byte *b = &l->back[k];

		if (!l->came[k])
			continue;
		b->truth = truth_of(l, k, b->done_ns);
		if (l->phase == WW_LB_ROUNDS && l->bytes < l->want)
			l->byte[l->bytes++] = *b;
	}
	if (l->phase == WW_LB_ROUNDS) {
		l->total += l->n_sent;
		l->back_total += l->n_back;
		l->silent = l->n_back ? 0 : l->silent + 1;
	}
	l->n_sent = 0;
}

static void foreign(struct ww_loopback *l, uint8_t c)
{
	l->foreign_total++;
	if (l->n_foreign < sizeof(l->foreign))
		l->foreign[l->n_foreign++] = (char)c;
}

/* One byte came: the next one that is expected, or one of those behind it. */
static void match(struct ww_loopback *l, uint8_t c, const struct ww_lb_byte *b)
{
	for (size_t k = l->next; k < l->n_sent; k++) {
		if (l->sent[k] != c)
			continue;
		l->back[k] = *b;
		l->came[k] = true;
		l->n_back++;
		l->next = k + 1;
		return;
	}
	if (l->next < l->n_sent && !l->echo)
		l->wrong++;
	foreign(l, c);
}

static uint8_t stream_byte(size_t i)
{
	return (uint8_t)('!' + i % 94);
}

/* A byte that does not fit is wrong; two in a row that fit further on: some were lost. */
static void one_of_stream(struct ww_loopback *l, uint8_t c)
{
	uint8_t before = l->stream_last;

	l->stream_back++;
	l->stream_last = c;
	if (c == stream_byte(l->stream_at)) {
		l->stream_at++;
		l->stream_bad = false;
	} else if (l->stream_bad && c >= '!' && c <= '~' &&
		   c == (before == '~' ? '!' : before + 1)) {
		l->stream_at += (size_t)(c - '!' + 94 - (int)(l->stream_at % 94)) % 94 + 1;
		l->stream_bad = false;
		l->wrong--;
	} else {
		l->wrong++;
		l->stream_at++;
		l->stream_bad = true;
	}
}

static void take_stream(struct ww_loopback *l, const uint8_t *data, size_t n, int64_t done_ns)
{
	for (size_t i = 0; i < n && l->stream_at < l->stream_n; i++)
		one_of_stream(l, data[i]);
	/* Slower than it should be, but not silent. */
	if (done_ns + WAIT_NS > l->deadline_ns)
		l->deadline_ns = done_ns + WAIT_NS;
	if (l->chunks == WW_LB_CHUNKS)
		return;
	l->chunk[l->chunks].t_ns = done_ns;
	l->chunk[l->chunks++].n = l->stream_at;
}

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct ww_loopback *l = ctx;
	const struct ww_transport *tr = ww_port_transport(l->port);
	struct ww_lb_byte b = {.said = t,
			       .empty_ns = t.lo_ns == WW_TIME_MIN ? WW_TIME_MIN
								  : t.lo_ns + tr->delay_max_ns,
			       .done_ns = t.hi_ns + tr->delay_min_ns};

	if (l->phase == WW_LB_STREAM) {
		take_stream(l, data, n, b.done_ns);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (l->phase == WW_LB_LISTEN || !l->n_sent)
			foreign(l, data[i]);
		else
			match(l, data[i], &b);
	}
}

static void on_lost(void *ctx, const struct ww_error *err)
{
	struct ww_loopback *l = ctx;

	ww_fail(&l->err, err->code, "%s", err->text);
	l->phase = WW_LB_DONE;
	ww_timer_set(l->timer, WW_TIME_MAX, 0);
}

static void on_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	struct ww_loopback *l = ctx;

	(void)t;
	(void)lost;
	ww_note(&l->notes, "%s", text);
}

/* ------------------------------------------------------------------------ phases */

static void begin_stream(struct ww_loopback *l)
{
	uint8_t buf[512];
	int64_t n = l->char_hi ? WW_NS_PER_S / l->char_hi : 0;

	if (l->echo || !l->paced) {
		l->phase = WW_LB_DONE;
		ww_timer_set(l->timer, WW_TIME_MAX, 0);
		return;
	}
	l->phase = WW_LB_STREAM;
	l->stream_n = (size_t)(n < 200 ? 200 : n > 32768 ? 32768 : n);
	for (size_t at = 0; at < l->stream_n;) {
		size_t k = 0;

		while (k < sizeof(buf) && at < l->stream_n)
			buf[k++] = stream_byte(at++);
		if (ww_port_write(l->port, buf, k, &l->err) < 0) {
			l->phase = WW_LB_DONE;
			return;
		}
	}
	l->deadline_ns = ww_loop_now(l->loop) + (int64_t)l->stream_n * l->char_hi + 2 * WAIT_NS;
	ww_timer_set(l->timer, ww_loop_now(l->loop) + 10 * WW_NS_PER_MS, 10 * WW_NS_PER_MS);
}

static void nothing(struct ww_loopback *l)
{
	fail_with(l, -ETIMEDOUT,
		  l->foreign_total ? "what was sent did not come back, but other bytes came: is a "
				     "getty or a console on this line, or is its rate another one?"
		  : l->echo ? "the machine at the other end did not echo: run `cat` there on "
			      "that port, with echo switched off in the port (stty raw -echo)"
			    : "nothing came back: connect TX with RX of this port (pins 2 and "
			      "3 of a DB9), and nothing else; or --echo where a machine "
			      "sends back");
}

static void next_round(struct ww_loopback *l)
{
	size_t n = draw(l, 4) ? 1 : 4 + draw(l, WW_LB_ROUND - 3);

	if (l->silent >= SILENT && l->foreign_total) {
		/* One of the bytes that somebody else sent looked like ours. */
		nothing(l);
		return;
	}
	if (l->silent >= SILENT) {
		fail_with(l, -ETIMEDOUT, "bytes came back and do so no longer");
		return;
	}
	if (l->total >= l->want) {
		begin_stream(l);
		return;
	}
	send_round(l, n < l->want - l->total ? n : (size_t)(l->want - l->total));
}

/* The round is over: all is back, or it is too late for that. */
static void after_round(struct ww_loopback *l, int64_t now)
{
	bool probe = l->phase == WW_LB_PROBE, back = l->n_back > 0;

	/* Among the words of a console is the byte that was sent, sooner or later. */
	if (probe && !l->echo && l->foreign_total != l->foreign_before)
		back = false;
	end_round(l);
	if (probe && !back && ++l->silent >= PROBES) {
		nothing(l);
		return;
	}
	if (probe && back) {
		l->phase = WW_LB_ROUNDS;
		l->silent = 0;
	}
	ww_timer_set(l->timer, now + GAP_MIN + draw(l, (uint32_t)GAP_SPAN), 0);
}

static void on_timer(void *ctx, int64_t now, int64_t late)
{
	struct ww_loopback *l = ctx;
	bool all;

	(void)late;
	if (l->phase == WW_LB_LISTEN) {
		l->phase = WW_LB_PROBE;
		send_round(l, 1);
	} else if (l->phase == WW_LB_STREAM) {
		if (l->stream_at >= l->stream_n || now > l->deadline_ns) {
			l->phase = WW_LB_DONE;
			ww_timer_set(l->timer, WW_TIME_MAX, 0);
		}
	} else if (!l->n_sent) {
		if (l->phase == WW_LB_PROBE)
			send_round(l, 1);
		else
			next_round(l);
	} else {
		if (!l->gone_ns && ww_port_outq(l->port) == 0)
			l->gone_ns = ww_loop_now(l->loop);
		/* Where nobody tells when they have left, it is waited for a little. */
		all = l->n_back == l->n_sent && (l->gone_ns || now > l->after_ns + WAIT_NS / 5);
		if (all || now > l->deadline_ns)
			after_round(l, now);
	}
}

/* ----------------------------------------------------------------------- opening */

static int open_port(struct ww_loopback *l, struct ww_error *err)
{
	struct ww_port_events ev = {.ctx = l,
				    .bytes = on_bytes,
				    .lost = on_lost,
				    .trouble = on_trouble};
	struct ww_str place = {0};
	struct ww_uri u;
	int64_t nominal;
	const char *name;
	int rc = ww_uri_parse(l->uri, &u, err);

	if (rc < 0)
		return rc;
	ww_uri_get(&u, "role", "");
	ww_str_addf(&place, "%s:%s", *u.driver ? u.driver : "tty", u.place);
	rc = place.bad ? ww_fail_nomem(err) : ww_line_options(&u, 115200, &l->line, err);
	if (rc == 0)
		rc = ww_port_open(l->loop, place.p, &u, 115200, &ev, &l->port, err);
	if (rc == 0)
		rc = ww_uri_check_used(&u, "those of a serial port", err);
	ww_str_free(&place);
	ww_uri_free(&u);
	if (rc < 0)
		return rc;
	name = ww_port_transport(l->port)->name;
	l->paced =
		strcmp(name, "pty") != 0 && strcmp(name, "unix") != 0 && strcmp(name, "tcp") != 0;
	nominal = ww_line_char_ns(&l->line) * 100 / 95;
	l->char_lo = ww_port_transport(l->port)->char_ns;
	l->char_hi = l->paced ? nominal + nominal / 20 : 0;
	return 0;
}

int ww_loopback_new(const char *port, const struct ww_loopback_options *opt,
		    struct ww_loopback **out, struct ww_error *err)
{
	struct ww_loopback *l;
	int rc = WW_OPT_CHECK(opt, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	l = calloc(1, sizeof(*l));
	if (!l)
		return ww_fail_nomem(err);
	l->want = WW_OPT(opt, bytes, 0) ? WW_OPT(opt, bytes, 0) : 1000;
	l->echo = WW_OPT(opt, echo, 0);
	if (l->want > WW_LB_MOST) {
		rc = ww_fail(err, -EINVAL, "loopback: at most %d bytes", WW_LB_MOST);
		goto fail;
	}
	l->uri = strdup(port);
	l->byte = calloc(l->want, sizeof(*l->byte));
	if (!l->uri || !l->byte) {
		rc = ww_fail_nomem(err);
		goto fail;
	}
	rc = ww_loop_new(NULL, &l->loop, err);
	if (rc == 0)
		rc = ww_loop_timer(l->loop, on_timer, l, &l->timer, err);
	if (rc == 0)
		rc = open_port(l, err);
	if (rc < 0)
		goto fail;
	l->random = (uint64_t)ww_loop_now(l->loop) | 1;
	ww_timer_set(l->timer, ww_loop_now(l->loop) + LISTEN_NS, 0);
	*out = l;
	return 0;
fail:
	ww_loopback_free(l);
	return rc;
}

int ww_loopback_fd(const struct ww_loopback *l)
{
	return ww_loop_fd(l->loop);
}

int ww_loopback_dispatch(struct ww_loopback *l, struct ww_error *err)
{
	int rc = 0;

	if (l->phase != WW_LB_DONE)
		rc = ww_loop_dispatch(l->loop, err);
	if (rc < 0)
		return rc;
	if (l->err.code)
		return ww_fail(err, l->err.code, "%s", l->err.text);
	if (l->phase != WW_LB_DONE)
		return 1;
	return l->result.sent ? 0 : ww_loopback_figures(l, err);
}

void ww_loopback_free(struct ww_loopback *l)
{
	if (!l)
		return;
	ww_timer_free(l->timer);
	ww_port_close(l->port);
	ww_loop_free(l->loop);
	ww_notes_free(&l->notes);
	free(l->byte);
	free(l->uri);
	free(l);
}
