/* SPDX-License-Identifier: MIT */
/* Faults of a model by name, several joined by '+', and the energy of its load. */
#ifndef EMU_FAULTS_H
#define EMU_FAULTS_H

#include "../emu.h"

#include <string.h>

/* Is every word of s->fault in the model's list? 0 or -1. */
static inline int emu_faults_known(const struct emu_setup *s, const char *list)
{
	const char *p = s->fault ? s->fault : "";

	while (*p) {
		char word[32];
		size_t n = strcspn(p, "+");

		if (!n || n >= sizeof(word))
			return -1;
		memcpy(word, p, n);
		word[n] = '\0';
		if (!emu_has(list, word))
			return -1;
		p += n + (p[n] == '+');
	}
	return 0;
}

static inline bool emu_fault(const struct emu_setup *s, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = s->fault ? s->fault : ""; *p;) {
		size_t k = strcspn(p, "+");

		if (k == n && strncmp(p, word, n) == 0)
			return true;
		p += k + (p[k] == '+');
	}
	return false;
}

/* The register at now_ns when it read s->wh at from_ns. */
static inline double emu_energy(const struct emu_setup *s, int64_t from_ns, int64_t now_ns)
{
	double watts = (emu_watts(s, from_ns) + emu_watts(s, now_ns)) / 2;

	return s->wh + watts * (double)(now_ns - from_ns) / 3600e9;
}

static inline void emu_le(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline void emu_be(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> (8 * (bytes - 1 - i)));
}

/* v counted in `unit`, within 0..hi. */
static inline uint64_t emu_code(double v, double unit, uint64_t hi)
{
	double c = v / unit + 0.5;

	return c <= 0 ? 0 : c >= (double)hi ? hi : (uint64_t)c;
}

#endif
