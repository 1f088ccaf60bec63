/* SPDX-License-Identifier: MIT */
/* Logs whose newest line is the first (journalctl --reverse): kept whole and turned around. */
#include "analysis/kernlog.h"

/* More is for `tac`. */
#define REVERSE_MAX ((size_t)32 << 20)

bool ww_kl_runs_backwards(const char *text, size_t n, struct ww_kline_state *s)
{
	const char *p = text, *end = text + n, *nl;
	int64_t last = WW_NO_TIME, t;
	size_t forward = 0, backward = 0;
	struct ww_kline k;

	ww_kline_init(s);
	for (; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			break; /* cut */
		ww_kline_parse(s, p, (size_t)(nl - p), &k);
		t = k.host_ns != WW_NO_TIME && k.host_clock == WW_HOST_WALL ? k.host_ns
									    : k.kernel_ns;
		if (t == WW_NO_TIME)
			continue;
		if (last != WW_NO_TIME) {
			forward += t > last;
			backward += t < last;
		}
		last = t;
	}
	ww_kline_init(s);
	return backward >= 2 && backward > 8 * forward;
}

int ww_kl_reverse_keep(struct ww_kl_input *in, const char *p, size_t n, struct ww_error *err)
{
	size_t cap = in->all_cap > 0 ? in->all_cap : WW_KL_HEAD;
	char *mem;

	if (n > REVERSE_MAX || in->all_n > REVERSE_MAX - n)
		return ww_fail(err, -EFBIG,
			       "%s: its lines run backwards in time, and it is too long to be "
			       "turned around here: `tac FILE` does",
			       in->text->name != NULL ? in->text->name : "the text");
	while (cap < in->all_n + n)
		cap *= 2;
	if (cap > in->all_cap) {
		mem = realloc(in->all, cap);
		if (mem == NULL)
			return ww_fail_nomem(err);
		in->all = mem;
		in->all_cap = cap;
	}
	memcpy(in->all + in->all_n, p, n);
	in->all_n += n;
	return 0;
}

int ww_kl_reverse_feed(struct ww_kl_input *in, struct ww_error *err)
{
	size_t end = in->all_n, begin;
	const char *nl;
	int rc = 0;

	if (end > 0 && in->all[end - 1] == '\n')
		end--;
	while (rc == 0 && end > 0) {
		nl = memrchr(in->all, '\n', end);
		begin = nl != NULL ? (size_t)(nl - in->all) + 1 : 0;
		rc = ww_kl_line(in, in->all + begin,
				end - begin < WW_KL_LINE_MAX ? end - begin : WW_KL_LINE_MAX, NULL,
				WW_NO_TIME, WW_NO_TIME, err);
		end = begin > 0 ? begin - 1 : 0;
	}
	return rc;
}
