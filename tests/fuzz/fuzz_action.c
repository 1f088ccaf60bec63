/* SPDX-License-Identifier: MIT */
/* The text of an action: what is read is within its bounds, what is refused says why. */
#include "control/form.h"
#include "bus/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ww_error err = {0};
	struct ww_act a;
	char *text = malloc(size + 1), *filled;
	int rc;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	rc = ww_act_parse(text, &a, &err);
	if (rc < 0) {
		if (rc != -EINVAL || !err.text[0])
			abort();
		free(text);
		return 0;
	}
	/* No press that could switch a PC off unless it was said. */
	if (!a.hold && ww_pulse_most(a.for_ns) >= WW_PULSE_LONG_NS)
		abort();
	if (a.delay_min_ns < 0 || a.delay_min_ns > a.delay_max_ns || a.packet_n > WW_WOL_MAX)
		abort();
	if (a.drive.level < WW_DRIVE_OTHER || a.drive.level > 1 || a.drive.type < 0 ||
	    a.drive.type > WW_OPEN_SOURCE || a.drive.offset > 7)
		abort();
	if (a.for_ns == 0 && a.drive.level == WW_DRIVE_OTHER)
		abort();
	filled = ww_act_fill(text, a.alarm_s);
	if (!filled || (a.kind == WW_ACT_COMMAND && strcmp(filled, text) != 0))
		abort();
	free(filled);
	ww_act_free(&a);
	free(text);
	return 0;
}
