/* SPDX-License-Identifier: MIT */
/*
 * Where the line fell silent and where it came back.
 *
 * What the bytes prove. A beat whose stamp shows that the DUT slept (BOOTTIME -
 * MONOTONIC grew) was written by user space after the thaw. Bytes before it, even those
 * after the silence, may have waited in the tty's buffer: they prove that the UART's
 * driver runs, no more. Without stamps no byte of a stream proves more than that.
 */
#include "analysis/resume.h"

#define PAUSE_NS    (50 * WW_NS_PER_MS) /* a shorter pause is load, not an attempt to suspend */
#define FOREVER_NS  WW_NS_PER_S
#define RETURNED_NS (5 * WW_NS_PER_S)
/* An offset that comes from an RTC has steps of a second. */
#define RTC_STEP_NS (1100 * WW_NS_PER_MS)
/* More than a full buffer at 115200 baud can delay a beat. */
#define STILL_NS (500 * WW_NS_PER_MS)
#define CATCH_UP 200 /* beats */

static bool alive(const struct ww_window *w, size_t i)
{
	return w->cls[i] != WW_CL_TEXT;
}

static int64_t boot_us(const struct ww_rbeat *b)
{
	return b->mono_us + b->sleep_us;
}

/* A beat that says the DUT slept is believed when its neighbour agrees. */
static bool agrees(const struct ww_window *w, size_t k)
{
	const struct ww_rbeat *b = &w->beat[k];

	if (k + 1 >= w->beats)
		return true;
	return b[1].mono_us >= b->mono_us && b[1].sleep_us >= b->sleep_us - WW_SLEPT_US;
}

/* How much more time passed on the bench than on the DUT's clocks from beat a to b. */
static int64_t stood_still(const struct ww_window *w, size_t a, size_t b)
{
	return ww_iv_mid(ww_window_t(w, w->beat[b].at)) - ww_iv_mid(ww_window_t(w, w->beat[a].at)) -
	       (boot_us(&w->beat[b]) - boot_us(&w->beat[a])) * 1000;
}

/* So many beats a tty can hold. */
static size_t buffered(void)
{
	return (WW_TTY_BUFFER + WW_TTY_FIFO) / WW_BEAT_LEN + 2;
}

/*
 * A kernel that measures its sleep with an RTC of whole seconds may see none. Its clocks
 * stood still all the same, and from the beats before those that can have been buffered
 * to those well after k they stay behind the bench's: bytes that were only held up on
 * their way would catch up. Of a stream the pause may be an old one, written before.
 */
static bool slept_unseen(const struct ww_scan *s, const struct ww_window *w, size_t k)
{
	size_t before = k > buffered() ? k - buffered() : 0;
	size_t after = k + CATCH_UP < w->beats ? k + CATCH_UP : w->beats - 1;

	return s->mode != WW_BEAT_STREAM && stood_still(w, before, after) > STILL_NS &&
	       stood_still(w, before, k) > STILL_NS;
}

/* The jump belongs to a silence before the request: its beats come only now. */
static void pay(struct ww_silence *out, const struct ww_rbeat *a, const struct ww_rbeat *b)
{
	if (out->paid++ == 0) {
		out->paid_us[0] = b->sleep_us - a->sleep_us;
		out->paid_us[1] = b->mono_us - a->mono_us;
	}
}

/*
 * First beat after the thaw; kind says what its stamp shows. SIZE_MAX: none. Jumps that
 * earlier cycles are owed come first, in beats that begin before byte `old`.
 */
static size_t thawed(const struct ww_scan *s, const struct ww_window *w,
		     const struct ww_cycle_in *in, size_t old, struct ww_silence *out)
{
	int64_t longest = 0, least = s->cadence.dut_limit_ns / 1000;
	size_t pause = SIZE_MAX, prev = 0;

	if (least < PAUSE_NS / 1000)
		least = PAUSE_NS / 1000;
	for (size_t k = 1; k < w->beats; k++) {
		const struct ww_rbeat *a = &w->beat[prev], *b = &w->beat[k];
		int64_t slept = b->sleep_us - a->sleep_us, gap = boot_us(b) - boot_us(a);
		bool early = ww_iv_ok(in->request) && w->hi[b->at] < in->request.lo_ns;
		bool slid = slept > WW_SLEPT_US,
		     back = b->mono_us < a->mono_us || slept < -WW_SLEPT_US;

		if ((slid || back) && !agrees(w, k))
			continue;
		prev = k;
		if (early || (in->hint_mono_us >= 0 && b->mono_us != in->hint_mono_us))
			continue;
		if (slid && out->paid < in->owed && b->at < old) {
			pay(out, a, b);
			continue;
		}
		if (slid || back) {
			out->awake_us = b->mono_us - a->mono_us;
			out->kind = back ? WW_SIL_RESET : WW_SIL_SLEEP;
			out->slept_us = back ? -1 : slept;
			return k;
		}
		if (gap > longest) {
			longest = gap;
			pause = k;
		}
	}
	if (longest <= least)
		return SIZE_MAX;
	out->kind = slept_unseen(s, w, pause) ? WW_SIL_SLEEP : WW_SIL_PAUSE;
	return pause;
}

/*
 * The silence on the wire in [from, to]: the first that can hold the sleep, else the
 * longest. Only the living line counts: firmware's text does not end a silence.
 */
static int64_t widest(const struct ww_window *w, size_t from, size_t to, int64_t slept_ns,
		      struct ww_silence *out)
{
	size_t prev = SIZE_MAX;
	int64_t longest = -1;

	if (slept_ns >= 2 * RTC_STEP_NS)
		slept_ns -= RTC_STEP_NS;
	for (size_t i = from; i < w->n && i <= to; i++) {
		int64_t len;

		if (!alive(w, i))
			continue;
		if (prev != SIZE_MAX) {
			len = ww_iv_mid(ww_window_t(w, i)) - ww_iv_mid(ww_window_t(w, prev));
			if (len > longest) {
				longest = len;
				out->last = prev;
				out->uart = i;
			}
			if (slept_ns > 0 && w->hi[i] - w->lo[prev] >= slept_ns)
				break;
		}
		prev = i;
	}
	return longest;
}

static size_t first_from(const struct ww_window *w, int64_t ns)
{
	size_t lo = 0, hi = w->n;

	while (lo < hi) {
		size_t m = lo + (hi - lo) / 2;

		if (w->hi[m] < ns)
			lo = m + 1;
		else
			hi = m;
	}
	return lo;
}

static size_t last_alive(const struct ww_window *w)
{
	for (size_t i = w->n; i-- > 0;)
		if (alive(w, i))
			return i;
	return SIZE_MAX;
}

/* From which byte on the silence may begin: the last one that was sent before the request. */
static size_t begin(const struct ww_window *w, const struct ww_cycle_in *in)
{
	size_t i = ww_iv_ok(in->request) ? first_from(w, in->request.lo_ns) : 0;

	while (i > 0 && (i == w->n || !alive(w, i) || w->lo[i] > in->request.lo_ns)) {
		i--;
		if (alive(w, i))
			break;
	}
	return i;
}

static int64_t long_pause(const struct ww_scan *s, int64_t least)
{
	int64_t p = 20 * s->cadence.median_ns;

	return p > least ? p : least;
}

/*
 * The line fell silent and never lived again, but that its driver may have sent what
 * was still in its buffer. A pause shortly before (k: the beat after it) was the way
 * into that silence; beats that went on for long after it were a return.
 */
static void forever(const struct ww_scan *s, const struct ww_window *w,
		    const struct ww_cycle_in *in, size_t k, struct ww_silence *out)
{
	size_t last = last_alive(w);
	int64_t tail = last == SIZE_MAX ? 0 : in->to_ns - w->hi[last], inner = -1;

	if (last == SIZE_MAX || tail <= long_pause(s, FOREVER_NS))
		return;
	if (k != SIZE_MAX && w->hi[last] - w->lo[w->beat[k].at] > RETURNED_NS)
		return;
	if (s->stamped && k == SIZE_MAX)
		inner = widest(w, begin(w, in), w->n - 1, 0, out);
	out->kind = WW_SIL_FOREVER;
	if (inner < FOREVER_NS) {
		out->last = last;
		out->uart = SIZE_MAX;
	}
}

/* The silence in which the wake was given, -1 none. */
static int64_t around_wake(const struct ww_window *w, const struct ww_cycle_in *in,
			   struct ww_silence *out)
{
	size_t next, prev;

	if (!ww_iv_ok(in->wake))
		return -1;
	next = prev = first_from(w, in->wake.lo_ns);
	while (next < w->n && !alive(w, next))
		next++;
	while (prev > 0 && !alive(w, --prev))
		;
	if (next >= w->n || prev >= next || !alive(w, prev))
		return -1;
	out->last = prev;
	out->uart = next;
	return ww_iv_mid(ww_window_t(w, next)) - ww_iv_mid(ww_window_t(w, prev));
}

/* Can all that came from byte i on have waited in a buffer? Then user space did not run. */
static bool all_waited(const struct ww_scan *s, const struct ww_window *w, size_t i)
{
	size_t most = s->unit ? s->unit : 1, n = 0;

	if (s->mode != WW_BEAT_DRAIN && s->mode != WW_BEAT_REOPEN && !s->line_idles)
		most = WW_TTY_BUFFER + WW_TTY_FIFO;
	for (; i < w->n && n <= most; i++)
		n += alive(w, i);
	return n <= most;
}

static void find_plain(const struct ww_scan *s, const struct ww_window *w,
		       const struct ww_cycle_in *in, struct ww_silence *out)
{
	size_t last = last_alive(w);
	int64_t len, tail;
	bool woken;

	if (last == SIZE_MAX)
		return;
	len = around_wake(w, in, out);
	woken = len > long_pause(s, 2 * PAUSE_NS);
	if (!woken)
		len = widest(w, begin(w, in), w->n - 1, 0, out);
	tail = in->to_ns - w->hi[last];
	if ((woken || len > long_pause(s, FOREVER_NS)) && tail > long_pause(s, FOREVER_NS) &&
	    all_waited(s, w, out->uart)) {
		out->kind = WW_SIL_FOREVER;
		return;
	}
	if (!woken && tail > (len > FOREVER_NS ? len : FOREVER_NS)) {
		forever(s, w, in, SIZE_MAX, out);
		if (out->kind == WW_SIL_FOREVER)
			return;
	}
	if (len > long_pause(s, 2 * PAUSE_NS))
		out->kind = WW_SIL_PLAIN;
}

/*
 * Does MONOTONIC lag behind the bench by the better part of a silence at whose start byte
 * `last` came? Beats that were only held up on their way catch up.
 */
static bool lags(const struct ww_window *w, size_t last, int64_t len)
{
	size_t a = 0, b = w->beats - 1;
	int64_t bench;

	while (a + 1 < w->beats && w->beat[a + 1].at <= last)
		a++;
	bench = ww_iv_mid(ww_window_t(w, w->beat[b].at)) - ww_iv_mid(ww_window_t(w, w->beat[a].at));
	return bench - (w->beat[b].mono_us - w->beat[a].mono_us) * 1000 > len / 2;
}

/*
 * The line stood still for long, and its stamps tell of nothing like it: every beat that
 * came afterwards was written before. The silence is evidence by itself.
 */
static bool silent_wire(const struct ww_scan *s, const struct ww_window *w,
			const struct ww_cycle_in *in, struct ww_silence *out)
{
	struct ww_silence si = *out;
	int64_t len;

	if (!ww_iv_ok(in->request) || w->beats == 0)
		return false;
	len = widest(w, begin(w, in), w->n - 1, 0, &si);
	if (len < long_pause(s, FOREVER_NS) || !lags(w, si.last, len))
		return false;
	si.kind = WW_SIL_WIRE;
	*out = si;
	return true;
}

/* Up to which byte of the window beats may be old ones, written before its own silence. */
static size_t old_until(const struct ww_scan *s, const struct ww_window *w,
			const struct ww_cycle_in *in)
{
	struct ww_silence si = {0};

	if (in->owed == 0)
		return 0;
	if (!silent_wire(s, w, in, &si))
		return SIZE_MAX;
	return si.uart + s->ahead + WW_TTY_FIFO;
}

void ww_silence_find(const struct ww_scan *s, const struct ww_window *w,
		     const struct ww_cycle_in *in, struct ww_silence *out)
{
	size_t k, from, back;

	*out = (struct ww_silence){.last = SIZE_MAX,
				   .uart = SIZE_MAX,
				   .first = SIZE_MAX,
				   .slept_us = -1};
	if (!s->stamped) {
		find_plain(s, w, in, out);
		return;
	}
	k = thawed(s, w, in, old_until(s, w, in), out);
	if (k == SIZE_MAX || out->kind == WW_SIL_PAUSE) {
		forever(s, w, in, k, out);
		if (out->kind == WW_SIL_FOREVER || silent_wire(s, w, in, out) || k == SIZE_MAX)
			return;
	}
	out->first = k;
	/* What can have been buffered came after the silence: look that far back, no further. */
	back = buffered();
	from = w->beat[k > back ? k - back : 0].at;
	if (out->kind != WW_SIL_RESET && from < begin(w, in))
		from = begin(w, in);
	if (widest(w, from, w->beat[k].at, out->slept_us * 1000, out) < 0)
		out->uart = w->beat[k].at;
}
