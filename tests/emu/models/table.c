/* SPDX-License-Identifier: MIT */
#include "../emu.h"

#include <string.h>

extern const struct emu_model emu_kasa, emu_ppk2, emu_tasmota, emu_shelly;
extern const struct emu_model emu_pzem004t, emu_sdm120, emu_sdm230;

extern const struct emu_model emu_um24c, emu_um25c, emu_um34c, emu_fnb58, emu_fnb48;
#if WW_WITH_NETTLE
extern const struct emu_model emu_tc66c;
#endif
extern const struct emu_model emu_km003c, emu_wt310, emu_wt310_serial, emu_gpm8310;

const struct emu_model *const emu_models[] = {
	&emu_km003c, &emu_wt310,    &emu_wt310_serial, &emu_gpm8310, &emu_um24c,
	&emu_um25c,  &emu_um34c,
#if WW_WITH_NETTLE
	&emu_tc66c,
#endif
	&emu_fnb58,  &emu_fnb48,    &emu_kasa,	       &emu_tasmota, &emu_shelly,
	&emu_ppk2,   &emu_pzem004t, &emu_sdm120,       &emu_sdm230,  NULL,
};

const struct emu_model *emu_find(const char *name)
{
	for (size_t i = 0; emu_models[i]; i++)
		if (strcmp(emu_models[i]->name, name) == 0)
			return emu_models[i];
	return NULL;
}

double emu_amps(const struct emu_setup *s, int64_t now_ns)
{
	return s->amps + s->amps_per_s * (double)now_ns / 1e9;
}

double emu_watts(const struct emu_setup *s, int64_t now_ns)
{
	return s->volts * emu_amps(s, now_ns) * s->pf;
}

uint32_t emu_random(uint32_t *seed)
{
	uint32_t x = *seed ? *seed : 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *seed = x;
}

bool emu_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list ? list : ""; n && (p = strstr(p, word)); p += n)
		if ((p == list || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' '))
			return true;
	return false;
}
