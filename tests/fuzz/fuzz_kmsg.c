/* SPDX-License-Identifier: MIT */
/* Messages of any bytes: what is told lies in the message, and is sane. */
#include "text/kmsg.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct ww_slice s, const char *text, size_t n)
{
	if (s.n && (s.p < text || s.n > n || s.p > text + n - s.n))
		abort();
}

static void check(const char *text, size_t n)
{
	struct ww_pmev e;
	int kind = ww_kmsg_parse(text, n, &e);

	if (kind != e.kind || e.kind < 0 || e.kind >= WW_PMEV_KINDS)
		abort();
	if (e.phase < 0 || e.phase >= WW_PM_PHASES || e.verb < 0 || e.verb > WW_PM_V_RECOVER ||
	    e.mode < 0 || e.mode > WW_PM_MODE_DISK || e.fw < 0 || e.fw > WW_FW_LAST)
		abort();
	if (e.dur_ns < 0 && e.dur_ns != WW_NO_TIME)
		abort();
	inside(e.device, text, n);
	inside(e.driver, text, n);
	inside(e.parent, text, n);
	inside(e.func, text, n);
	inside(e.module, text, n);
	inside(e.task, text, n);
	inside(e.wakeup, text, n);
	inside(e.text, text, n);
	/* Those of printk name their device and tell their time. */
	if (e.generation && e.kind == WW_PMEV_CALL && !e.device.n)
		abort();
	if (e.generation && e.kind == WW_PMEV_RETURN && (!e.device.n || e.dur_ns == WW_NO_TIME))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);
		char *line = malloc(n + 1);

		if (!line)
			return 0;
		memcpy(line, p, n);
		check(line, n);
		free(line);
		p += n + 1;
	}
	return 0;
}
