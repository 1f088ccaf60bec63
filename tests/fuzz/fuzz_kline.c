/* SPDX-License-Identifier: MIT */
/*
 * Framing of kernel text, then the message: every slice lies in the line, and every line gives
 * the same whether or not its end of line is still there.
 */
#include "text/kline.h"
#include "text/kmsg.h"
#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ww_kline_state state, other;

static void inside(struct ww_slice s, const char *p, size_t n)
{
	if (s.n && !(s.p >= p && s.p + s.n <= p + n) &&
	    !(s.p >= state.clean && s.p + s.n <= state.clean + sizeof(state.clean)))
		abort();
}

static void parts(const struct ww_kline *k)
{
	const char *p = k->text.p;
	struct ww_pmev e;

	if (ww_kmsg_parse(p, k->text.n, &e) != e.kind || e.kind < 0 || e.kind >= WW_PMEV_KINDS)
		abort();
	inside(e.device, p, k->text.n);
	inside(e.driver, p, k->text.n);
	inside(e.parent, p, k->text.n);
	inside(e.func, p, k->text.n);
	inside(e.module, p, k->text.n);
	inside(e.task, p, k->text.n);
	inside(e.wakeup, p, k->text.n);
	inside(e.text, p, k->text.n);
}

static void line(const char *p, size_t n)
{
	struct ww_kline k, again;
	char *cr = malloc(n + 1);
	size_t most; /* with what a soft line break left */

	if (!cr)
		abort();
	memcpy(cr, p, n);
	cr[n] = '\r';
	most = n + state.carry;
	ww_kline_parse(&state, p, n, &k);
	inside(k.text, p, n);
	inside(k.tag, p, n);
	if (k.text.n > most || k.console_n > most || k.level < -1 || k.level > 7 ||
	    (k.kernel_ns != WW_NO_TIME) != (k.kernel_res_ns > 0) ||
	    (k.host_clock != WW_HOST_NONE) != (k.host_ns != WW_NO_TIME))
		abort();
	parts(&k);
	ww_kline_parse(&other, cr, n + 1, &again);
	if (again.text.n != k.text.n || again.kernel_ns != k.kernel_ns || again.from != k.from ||
	    again.host_ns != k.host_ns || again.console_n != k.console_n)
		abort();
	free(cr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;

	ww_kline_init(&state);
	ww_kline_init(&other);
	while (p < end) {
		const char *q = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((q ? q : end) - p);
		/* Of its own, so that a byte too far is seen. */
		char *own = malloc(n ? n : 1);

		if (!own)
			abort();
		memcpy(own, p, n);
		line(own, n);
		free(own);
		p += n + 1;
	}
	return 0;
}
