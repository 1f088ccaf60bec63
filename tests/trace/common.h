/* SPDX-License-Identifier: MIT */
/* What the tests of the trace share: a folder of their own, sources, awkward rows. */
#ifndef TESTS_TRACE_COMMON_H
#define TESTS_TRACE_COMMON_H

#include "../scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include <cmocka.h>
#include <wakewatt.h>

#define OK(call)                                                                                   \
	do {                                                                                       \
		struct ww_error e_ = {0}, *err = &e_;                                              \
		long long rc_ = (long long)(call);                                                 \
		if (rc_ < 0)                                                                       \
			fail_msg("%s: %lld: %s", #call, rc_, e_.text);                             \
	} while (0)

static char folder[64];

static inline int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "%s/wwtest.XXXXXX", scratch());
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	char cmd[96];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", folder);
	return system(cmd);
}

/* Path of a file in the folder; a few may be in use at once. */
static inline const char *at(const char *name)
{
	static char buf[4][128];
	static unsigned i;
	char *p = buf[i++ % 4];

	snprintf(p, sizeof(buf[0]), "%s/%s", folder, name);
	return p;
}

static inline uint64_t next_random(uint64_t *s)
{
	/* xorshift64* */
	*s ^= *s >> 12;
	*s ^= *s << 25;
	*s ^= *s >> 27;
	return *s * UINT64_C(2685821657736338717);
}

static inline uint32_t add_meter(struct ww_writer *w, const char *name, unsigned channels)
{
	struct ww_error err = {0};
	struct ww_source_info s = {.kind = WW_METER,
				   .name = name,
				   .model = "m,1",
				   .serial = "S\"1"};
	int id = ww_writer_source(w, &s, &err);

	if (id < 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < channels; i++) {
		char channel[16];
		struct ww_channel_info c = {.source = (uint32_t)id,
					    .name = channel,
					    .quantity = "power",
					    .unit = "W",
					    .semantics = WW_AVERAGE,
					    .scale = i ? 0.001 : 0.1};

		snprintf(channel, sizeof(channel), "c%u", i);
		if (ww_writer_channel(w, &c, &err) < 0)
			fail_msg("%s", err.text);
	}
	return (uint32_t)id;
}

static inline uint32_t add_serial(struct ww_writer *w, const char *name, int64_t char_ns)
{
	struct ww_error err = {0};
	struct ww_source_info s = {.kind = WW_SERIAL,
				   .name = name,
				   .role = "heartbeat",
				   .transport = {.name = "uart", .char_ns = char_ns}};
	int id = ww_writer_source(w, &s, &err);

	if (id < 0)
		fail_msg("%s", err.text);
	return (uint32_t)id;
}

#endif
