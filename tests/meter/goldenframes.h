/* SPDX-License-Identifier: MIT */
/*
 * Worked frames of the protocols of many meters, by name (tests/data/meter_frames.tsv:
 * NAME TAB HEX), from makers' texts and public captures. A driver is fed its own, and
 * those of all others, of which none may become a reading.
 */
#ifndef GOLDENFRAMES_H
#define GOLDENFRAMES_H

#include "base/base.h"

#include <stdio.h>

struct golden {
	char name[32];
	uint8_t p[256];
	size_t n;
};

static inline bool golden_line(const char *line, struct golden *g)
{
	const char *hex = strchr(line, '\t');
	unsigned b;

	if (!hex || (size_t)(hex - line) >= sizeof(g->name))
		return false;
	memset(g, 0, sizeof(*g));
	memcpy(g->name, line, (size_t)(hex - line));
	for (hex++; g->n < sizeof(g->p) && sscanf(hex, "%2x", &b) == 1; hex += 2)
		g->p[g->n++] = (uint8_t)b;
	return g->n > 0;
}

/* The i-th; false after the last. */
static inline bool golden_at(size_t i, struct golden *g)
{
	FILE *f = fopen("tests/data/meter_frames.tsv", "r");
	char line[1024];
	bool found = false;

	if (!f)
		fail_msg("tests/data/meter_frames.tsv: run this in the project's folder");
	while (!found && fgets(line, sizeof(line), f))
		found = golden_line(line, g) && i-- == 0;
	fclose(f);
	return found;
}

static inline struct golden golden_find(const char *name)
{
	struct golden g;

	for (size_t i = 0; golden_at(i, &g); i++)
		if (strcmp(g.name, name) == 0)
			return g;
	fail_msg("there is no frame '%s'", name);
	return g;
}

#endif
