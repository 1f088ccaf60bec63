/* SPDX-License-Identifier: MIT */
/* What the DUT says of itself, line by line. */
#include "analysis/resume.h"

/* "KEY+=MORE" goes on with the last value of KEY; without one it is passed over. */
static int join(struct ww_scan *s, const char *key, size_t len, const char *more,
		struct ww_error *err)
{
	for (size_t i = s->infos; i-- > 0;) {
		struct ww_info_line *line = &s->info[i];
		size_t n, m = strlen(more) + 1;
		char *p;

		if (strlen(line->key) != len || memcmp(line->key, key, len) != 0)
			continue;
		n = strlen(line->value);
		p = realloc(line->value, n + m);
		if (!p)
			return ww_fail_nomem(err);
		memcpy(p + n, more, m);
		line->value = p;
		return 0;
	}
	return 0;
}

int ww_scan_told(struct ww_scan *s, struct ww_interval t, const char *key, const char *value,
		 struct ww_error *err)
{
	struct ww_info_line *line;
	size_t len = strlen(key);
	int rc;

	if (len > 1 && key[len - 1] == '+')
		return join(s, key, len - 1, value, err);
	rc = ww_grow(&s->info, &s->infos_cap, s->infos, sizeof(*s->info), err);
	if (rc < 0)
		return rc;
	line = &s->info[s->infos];
	*line = (struct ww_info_line){.t = t, .key = strdup(key), .value = strdup(value)};
	if (!line->key || !line->value) {
		free(line->key);
		free(line->value);
		return ww_fail_nomem(err);
	}
	s->infos++;
	return 0;
}

int ww_scan_mode(const struct ww_scan *s, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = s->infos; i-- > 0;) {
		const struct ww_info_line *line = &s->info[i];

		if (line->t.lo_ns < from_ns || line->t.lo_ns > to_ns ||
		    strcmp(line->key, "sleep_mode") != 0)
			continue;
		for (int m = WW_PM_MODE_MEM; ww_pm_mode_name(m); m++)
			if (strcmp(ww_pm_mode_name(m), line->value) == 0)
				return m;
	}
	return WW_PM_MODE_UNKNOWN;
}
