/* SPDX-License-Identifier: MIT */
/* Any bytes on standard input as a trace: read to their end, described, exported. */
#include "base/base.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void use(struct ww_trace *t, int null)
{
	struct ww_export_options o = {.size = sizeof(o), .jsonl = 1, .redact = 1};
	struct ww_error err = {0};
	char *text;

	for (o.what = 0; o.what <= WW_EXPORT_GAPS; o.what++)
		ww_export(t, &o, null, &err);
	if (ww_info_report(t, WW_REPORT_JSON, &text, NULL) == 0)
		ww_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("stream", 0), null = open("/dev/null", O_WRONLY);
	struct ww_error err = {0};
	struct ww_trace *t;

	if (fd >= 0 && null >= 0 && write(fd, data, n) == (ssize_t)n) {
		lseek(fd, 0, SEEK_SET);
		dup2(fd, STDIN_FILENO);
		if (ww_trace_open("-", &t, &err) == 0) {
			while (ww_trace_state(t) == WW_TRACE_LIVE && ww_trace_refresh(t, &err) >= 0)
				;
			use(t, null);
			ww_trace_close(t);
		}
	}
	close(fd);
	close(null);
	return 0;
}
