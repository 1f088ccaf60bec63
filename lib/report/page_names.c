/* SPDX-License-Identifier: MIT */
/* Texts, each once: names of devices come again in every cycle. */
#include "report/page.h"

static uint64_t hash_of(const char *s)
{
	uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
	return h ^ h >> 29;
}

static bool grow_slots(struct ww_names *t)
{
	size_t n = t->slots ? 2 * t->slots : 256;
	uint32_t *slot = calloc(n, sizeof(*slot));

	if (!slot)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		size_t at = hash_of(t->text[i]) & (n - 1);

		while (slot[at])
			at = (at + 1) & (n - 1);
		slot[at] = (uint32_t)i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->slots = n;
	return true;
}

uint32_t ww_names_index(struct ww_names *t, const char *text)
{
	size_t at;

	if (t->bad || (2 * (t->n + 1) > t->slots && !grow_slots(t)))
		goto bad;
	for (at = hash_of(text) & (t->slots - 1); t->slot[at]; at = (at + 1) & (t->slots - 1))
		if (strcmp(t->text[t->slot[at] - 1], text) == 0)
			return t->slot[at] - 1;
	if (ww_grow(&t->text, &t->cap, t->n, sizeof(*t->text), NULL) < 0)
		goto bad;
	t->text[t->n] = strdup(text);
	if (!t->text[t->n])
		goto bad;
	t->slot[at] = (uint32_t)++t->n;
	return (uint32_t)t->n - 1;
bad:
	t->bad = true;
	return 0;
}

void ww_names_free(struct ww_names *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->text[i]);
	free(t->text);
	free(t->slot);
	*t = (struct ww_names){0};
}
