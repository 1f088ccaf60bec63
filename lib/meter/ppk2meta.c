/* SPDX-License-Identifier: MIT */
/* The PPK2's calibration as text, and the law that makes amperes of its converter's numbers. */
#include "meter/ppk2.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* As the maker's application has them. */
#define ADC_MULT (1.8 / 163840)
#define ALPHA	 0.18
#define ALPHA4	 0.06
#define AVERAGED 3

void ww_ppk2_defaults(struct ww_ppk2_cal *c)
{
	static const double r[WW_PPK2_RANGES] = {1031.64, 101.65, 10.15, 0.94, 0.043};

	*c = (struct ww_ppk2_cal){.vdd_mv = (double)NAN, .hw = (double)NAN, .ia = (double)NAN};
	for (int k = 0; k < WW_PPK2_RANGES; k++) {
		c->r[k] = r[k];
		c->gs[k] = c->gi[k] = c->ug[k] = 1;
	}
}

static bool of_range(struct ww_ppk2_cal *c, const char *key, double **out)
{
	const struct {
		const char *name;
		double *v;
	} terms[] = {{"R", c->r}, {"GS", c->gs}, {"GI", c->gi}, {"O", c->o},
		     {"S", c->s}, {"I", c->i},	 {"UG", c->ug}};
	size_t n = strlen(key);

	for (size_t t = 0; t < WW_COUNTOF(terms); t++) {
		if (n != strlen(terms[t].name) + 1 || strncmp(key, terms[t].name, n - 1) != 0 ||
		    key[n - 1] < '0' || key[n - 1] > '4')
			continue;
		*out = terms[t].v + (key[n - 1] - '0');
		return true;
	}
	return false;
}

static bool single(struct ww_ppk2_cal *c, const char *key, double **out)
{
	*out = strcmp(key, "VDD") == 0	? &c->vdd_mv
	       : strcmp(key, "HW") == 0 ? &c->hw
	       : strcmp(key, "IA") == 0 ? &c->ia
					: NULL;
	return *out != NULL;
}

/* Some units print -nan, some a resistance of nothing: their defaults hold then. */
bool ww_ppk2_line(struct ww_ppk2_cal *c, const char *line)
{
	char key[16];
	const char *colon = strchr(line, ':'), *end;
	double v, *to = NULL;
	bool range;

	if (strncmp(line, "END", 3) == 0) {
		c->end = true;
		return true;
	}
	if (!colon || (size_t)(colon - line) >= sizeof(key))
		return false;
	memcpy(key, line, (size_t)(colon - line));
	key[colon - line] = '\0';
	if (strcmp(key, "Calibrated") == 0 || strcmp(key, "mode") == 0)
		return true;
	range = of_range(c, key, &to);
	if (!range && !single(c, key, &to))
		return false;
	v = ww_strtod(colon + 1 + strspn(colon + 1, " "), &end);
	c->lines++;
	if (end > colon + 1 && fabs(v) < 1e12 && !(range && key[0] == 'R' && !(v > 0))) {
		*to = v;
		return true;
	}
	if (!range)
		return true;
	if (c->replaced++ == 0)
		snprintf(c->first_replaced, sizeof(c->first_replaced), "%.22s", line);
	return true;
}

void ww_ppk2_meta_byte(struct ww_ppk2_cal *c, char byte)
{
	if (byte != '\n' && byte != '\r') {
		if (c->line_n < sizeof(c->line) - 1)
			c->line[c->line_n++] = byte;
		return;
	}
	c->line[c->line_n] = '\0';
	if (c->line_n)
		ww_ppk2_line(c, c->line);
	c->line_n = 0;
}

void ww_ppk2_amps_init(struct ww_ppk2_amps *a, const struct ww_ppk2_cal *cal, double mv,
		       bool filter)
{
	*a = (struct ww_ppk2_amps){.cal = cal, .filter = filter};
	for (int k = 0; k < WW_PPK2_RANGES; k++) {
		a->mult[k] = ADC_MULT / cal->r[k];
		a->plus[k] = cal->s[k] * mv / 1000 + cal->i[k];
	}
}

/* At a change of range the new one needs some samples to settle: a running mean bridges them. */
static double bridged(struct ww_ppk2_amps *a, unsigned k, double amps)
{
	double mean = a->mean, mean4 = a->mean4;

	if (!a->any) {
		a->any = true;
		a->range = k;
		a->mean = a->mean4 = amps;
		return amps;
	}
	a->mean = ALPHA * amps + (1 - ALPHA) * mean;
	a->mean4 = ALPHA4 * amps + (1 - ALPHA4) * mean4;
	if (k == a->range && !a->after)
		return amps;
	if (k != a->range) {
		a->same = 0;
		a->after = AVERAGED;
	} else {
		a->same++;
	}
	if (k == 4 && a->same < 2) {
		a->mean = mean;
		a->mean4 = mean4;
	}
	a->after--;
	a->range = k;
	return k == 4 ? a->mean4 : a->mean;
}

double ww_ppk2_amps(struct ww_ppk2_amps *a, uint32_t word)
{
	const struct ww_ppk2_cal *c = a->cal;
	unsigned k = word >> 14 & 7;
	double r, amps;

	if (k >= WW_PPK2_RANGES)
		k = WW_PPK2_RANGES - 1;
	r = ((double)((word & 0x3fff) * 4) - c->o[k]) * a->mult[k];
	amps = c->ug[k] * (r * (c->gs[k] * r + c->gi[k]) + a->plus[k]);
	return a->filter ? bridged(a, k, amps) : amps;
}
