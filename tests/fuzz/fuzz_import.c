/* SPDX-License-Identifier: MIT */
/*
 * A file of any bytes: an error with a sentence, or a trace whose times never fall and
 * that can be read to its end. The first byte chooses the options.
 */
#include "base/base.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_source(struct ww_trace *t, uint32_t id)
{
	int64_t last = INT64_MIN;
	struct ww_cursor *c;
	struct ww_batch b;
	int rc;

	if (ww_cursor_open(t, id, WW_TIME_MIN, WW_TIME_MAX, 0, &c, NULL) < 0)
		abort();
	while ((rc = ww_cursor_next(c, &b, NULL)) > 0)
		for (size_t i = 0; i < b.n; i++) {
			if (b.lo_ns[i] > b.hi_ns[i] || b.hi_ns[i] < last)
				abort();
			last = b.hi_ns[i];
		}
	if (rc < 0)
		abort();
	ww_cursor_close(c);
}

static void read_all(struct ww_trace *t)
{
	for (size_t i = 0; i < ww_trace_source_count(t); i++)
		read_source(t, ww_trace_source(t, i)->id);
	for (size_t i = 0; i < ww_trace_mark_count(t); i++)
		if (!ww_iv_ok(ww_trace_mark(t, i)->t))
			abort();
	for (size_t i = 0; i < ww_trace_gap_count(t); i++)
		if (!ww_iv_ok(ww_trace_gap(t, i)->t))
			abort();
	for (size_t i = 0; i < ww_trace_channel_count(t); i++)
		if (!(ww_trace_channel(t, i)->scale > 0))
			abort();
	if (ww_trace_state(t) == WW_TRACE_CLOSED && ww_import_name(t) &&
	    ww_trace_channel_count(t) == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ww_import_options o = {.size = sizeof(o)};
	struct ww_error err = {0};
	struct ww_trace *t;
	char path[40];
	unsigned how = size ? data[0] : 0;
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || size == 0)
		return close(fd), 0;
	if (write(fd, data + 1, size - 1) != (ssize_t)size - 1)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.rate_hz = how & 1 ? 10 : 0;
	o.has_offset = how & 2 ? 1 : 0;
	o.offset_s = how & 2 ? 3600 : 0;
	o.columns = !(how & 4) ? NULL : how & 32 ? "time_s,uA@3.3V" : "time_s,W,V";
	o.format = how & 8 && ww_import_format_at(how >> 4) ? ww_import_format_at(how >> 4)->name
							    : NULL;
	if (ww_import_open(path, &o, &t, &err) == 0) {
		if (ww_import_name(t))
			read_all(t);
		ww_trace_close(t);
	} else if (err.code == 0 || !*err.text) {
		abort();
	}
	close(fd);
	return 0;
}
