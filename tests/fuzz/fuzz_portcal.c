/* SPDX-License-Identifier: MIT */
/* What a loopback stored: what is taken makes sense, and reads the same once stored again. */
#include "bus/portcal.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ww_portcal c, again;

	if (ww_portcal_parse((const char *)data, size, &c) < 0)
		return 0;
	if (c.baud < 1 || c.latency_ms < -1 || c.bytes < 1 || c.delay_min_ns < 0 ||
	    c.delay_max_ns < c.delay_min_ns || c.delay_max_ns > 10 * WW_NS_PER_S ||
	    strlen(c.date) != 10 || !*c.adapter || !*c.driver)
		abort();
	if (size > 400) /* now and then: it is a file */
		return 0;
	setenv("WAKEWATT_STATE", "/dev/shm/ww-fuzz-portcal", 1);
	again = c;
	/* A name may be too long for a file's. */
	if (ww_portcal_store(&c, NULL, 0, NULL) == 0 &&
	    (ww_portcal_load(&again, NULL) != 1 || memcmp(&again, &c, sizeof(c)) != 0))
		abort();
	return 0;
}
