/* SPDX-License-Identifier: MIT */
/*
 * Text that is read piece by piece: a file, standard input, a compressed file, a binary trace
 * decoded into lines, the console port of a recording. The opener stands behind the reader's
 * layer, the reader knows only this.
 */
#ifndef WW_TEXT_TEXTIN_H
#define WW_TEXT_TEXTIN_H

#include "base/base.h"

struct ww_text {
	char *name; /* for messages: the path; owned */
	/*
	 * The next piece, lent until the next call: 1, 0 the end, negative error. lo and hi: the
	 * bench's time of each byte (arrays of *n), or NULL where there is none.
	 */
	int (*next)(struct ww_text *t, const uint8_t **data, size_t *n, const int64_t **lo,
		    const int64_t **hi, struct ww_error *err);
	void (*close)(struct ww_text *t); /* frees t, too */
	/* Decoded from a binary trace: its lines are ftrace's. */
	bool ftrace;
};

#endif
