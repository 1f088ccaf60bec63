/* SPDX-License-Identifier: MIT */
/* Sentences that go with figures: what was assumed, not observed or left out. */
#ifndef WW_NOTES_H
#define WW_NOTES_H

#include "base/base.h"

/* Zero-initialise. After a failed allocation `bad` stays set and adding does nothing. */
struct ww_notes {
	char **note;
	size_t n;
	bool bad;
};

/* No %f, %e, %g here: they follow the locale (see ww_str_addf). A note said twice is kept once. */
void ww_note(struct ww_notes *l, const char *fmt, ...) WW_PRINTF(2, 3);
const char *ww_note_at(const struct ww_notes *l, size_t i);
void ww_notes_free(struct ww_notes *l);

#endif
