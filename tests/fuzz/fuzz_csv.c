/* SPDX-License-Identifier: MIT */
/* Fields, numbers, times and headings: whatever the bytes, within them, and consistent. */
#include "text/csv.h"
#include "text/flat.h"
#include "text/heading.h"
#include "text/stamp.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(const struct ww_field *f, const char *line, size_t n)
{
	if (f->p < line || f->p + f->n > line + n)
		abort();
}

static void check_field(const struct ww_field *f, bool comma)
{
	struct ww_heading h;
	struct ww_stamp s;
	struct ww_str text = {0};
	struct ww_num v;

	if (ww_num_read(f->p, f->n, comma, &v) == WW_NUM_OK) {
		if (!isfinite(v.value) || v.unit < f->p || v.unit + v.unit_n > f->p + f->n)
			abort();
		if (v.code && fabs(v.value) > 1e-290 && fabs(v.value) < 1e290 &&
		    fabs((double)v.code * pow(10, -v.decimals) / v.value - 1) > 1e-9)
			abort();
	}
	for (int order = 0; order < 2; order++)
		if (ww_stamp_read(f->p, f->n, order, &s) && (!s.dated && !s.clocked))
			abort();
	ww_field_text(f, &text);
	if (text.n > f->n)
		abort();
	ww_heading_read(text.p ? text.p : "", &h);
	if (!h.quantity || !h.unit || strlen(h.name) >= sizeof(h.name) || h.seconds < 1)
		abort();
	ww_str_free(&text);
}

static void check_flat(const char *line, size_t n)
{
	struct ww_flat j = {.p = line, .end = line + n};
	struct ww_field key, value;

	while (ww_flat_next(&j, &key, &value)) {
		inside(&key, line, n);
		inside(&value, line, n);
	}
	if (ww_flat_next(&j, &key, &value) && j.bad)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1); /* exactly as long, so that a step too far is seen */
	const char *p = text;
	size_t left = size, len, used;
	struct ww_csv d;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text = realloc(text, size ? size : 1);
	p = text;
	d = ww_csv_guess(p, size);
	while (left > 0) {
		struct ww_field f[16];
		size_t n;

		used = ww_csv_line(p, left, &len);
		if (used == 0 || used > left || len > used || len + 2 < used)
			abort();
		ww_csv_blank(p, len);
		n = ww_csv_split(&d, p, len, f, 16);
		for (size_t i = 0; i < n && i < 16; i++) {
			inside(&f[i], p, len);
			check_field(&f[i], d.comma);
		}
		check_flat(p, len);
		p += used;
		left -= used;
	}
	free(text);
	return 0;
}
