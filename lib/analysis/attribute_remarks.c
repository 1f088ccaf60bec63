/* SPDX-License-Identifier: MIT */
/* What was assumed, and what in the readings speaks against it. */
#include "analysis/attribute.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define LABEL 160
/* Names in one note. */
#define SHOWN 4

/* A number in a note: %f would follow the locale. */
static const char *text(char *buf, double v, int decimals)
{
	ww_fixed_text(buf, 40, v, decimals);
	return buf;
}

static int digits(double v)
{
	int d = ww_decimals_for(v, 2);

	return d > 6 ? 6 : d;
}

/* A step as it is written: 1, 0.1, 0.5 */
static int step_digits(double q)
{
	int d = 0;

	while (d < 6 && fabs(q * pow(10, d) - round(q * pow(10, d))) > 1e-6)
		d++;
	return d;
}

static void about_readings(struct ww_attribute *a)
{
	char q[40], u[40];
	size_t typed = 0, told = 0, merged = 0;
	double most = 0;

	for (size_t i = 0; i < a->rows; i++) {
		const struct ww_attr_row *r = &a->row[i];

		if (a->file[r->file].trace)
			continue;
		typed++;
		told += r->r->u > 0;
		merged += r->n - 1;
		if (!(r->r->u > 0))
			most = fmax(most, a->file[r->file].q);
	}
	if (typed > told && a->spec_abs == 0 && a->spec_rel == 0 && !a->calibrated)
		ww_note(&a->notes,
			"a typed reading is uncertain by what its display rounds off (%s W: u = %s "
			"W); the meter's accuracy is not known and left out: --spec 2%%+1W, or "
			"--calibration",
			text(q, most, step_digits(most)),
			text(u, most / sqrt(12), digits(most / sqrt(12))));
	else if (typed > told)
		ww_note(&a->notes,
			"a typed reading is uncertain by what its display rounds off (%s W: u = %s "
			"W)",
			text(q, most, step_digits(most)),
			text(u, most / sqrt(12), digits(most / sqrt(12))));
	if (merged)
		ww_note(&a->notes,
			"%zu further reading%s of a state read before: what a display rounds off "
			"does not average out",
			merged, merged == 1 ? "" : "s");
}

static void about_calibration(struct ww_attribute *a)
{
	size_t beyond = 0;

	for (size_t i = 0; i < a->rows; i++) {
		double p = (a->row[i].y - a->cal.offset.value) / a->cal.gain.value;

		beyond += p > 1.05 * a->cal.hi || p < 0.95 * a->cal.lo - a->row[i].u;
	}
	if (a->skip_empty)
		ww_note(&a->notes, "the calibration found a dead zone: readings with all unplugged "
				   "are left out");
	if (beyond)
		ww_note(&a->notes,
			"%zu reading%s beyond the loads that the meter was calibrated with", beyond,
			beyond == 1 ? " is" : "s are");
}

static void about_meter(struct ww_attribute *a)
{
	char o[40];

	if (a->calibrated && (a->spec_abs > 0 || a->spec_rel > 0))
		ww_note(&a->notes, "the maker's accuracy is not used beside a calibration");
	else if (a->spec_rel > 0)
		ww_note(&a->notes,
			"the maker's bound of the gain is common to all readings: it does not "
			"cancel in differences, that of the offset does");
	if (a->offset_known && ww_attr_has_offset(a))
		ww_note(&a->notes,
			"an offset of %s W that was given is subtracted; that is right only if the "
			"meter shows it under load too (pwrlog calibrate)",
			text(o, a->known_offset.value, digits(a->known_offset.u)));
	else if (a->offset_known && a->known_offset.value != 0)
		ww_note(&a->notes,
			"an offset of %s W that was given is subtracted as exact; that is right "
			"only if the meter shows it under load too (pwrlog calibrate)",
			text(o, a->known_offset.value, 2));
	if (a->files > 1 && !a->own_offsets && ww_attr_has_offset(a))
		ww_note(&a->notes, "all inputs are taken as read from one meter, with one offset "
				   "(--own-offsets: each with its own)");
	if (isnan(a->info.offset.value) && !a->own_offsets)
		ww_note(&a->notes, "the meter's offset is not known: read it once with all "
				   "unplugged, or give --offset");
	for (size_t i = 0; i < a->set[0].readings; i++)
		if (!isnan(a->set[0].reading[i].va))
			ww_note(&a->notes, "volt-amperes are as read and only where they were: "
					   "those of several "
					   "devices do not add, and no watts follow from them");
}

/* Watts, volt-amperes and power factor of one reading that cannot all be right. */
static void about_apparent(struct ww_attribute *a)
{
	size_t more = 0, off = 0;

	for (size_t i = 0; i < a->rows; i++) {
		const struct ww_onoff_reading *r = a->row[i].r;
		double slack = fmax(0.03 * fabs(r->va), 2 * a->file[a->row[i].file].q);

		more += r->watts > r->va + slack;
		off += fabs(r->watts - r->va * fabs(r->pf)) > 2 * slack;
	}
	if (more)
		ww_note(&a->notes,
			"%zu reading%s more watts than volt-amperes, which cannot be: are the "
			"columns "
			"in the right order?",
			more, more == 1 ? " has" : "s have");
	else if (off)
		ww_note(&a->notes,
			"%zu reading%s a power factor that its watts and volt-amperes do not have: "
			"mistyped, or read at another moment",
			off, off == 1 ? " has" : "s have");
}

/* A trace begins with whatever was on. */
static void about_base(struct ww_attribute *a)
{
	for (size_t i = 0; i < a->files; i++)
		if (a->file[i].base && ww_attr_has_offset(a) && !a->meter.prior)
			ww_note(&a->notes,
				"%s: no mark says 'all unplugged': the base level is the meter's "
				"offset and whatever else was on",
				a->file[i].name);
}

static bool is_small(const struct ww_attribute *a, const struct ww_device *d)
{
	return d->readings && !isnan(d->watts.value) && a->info.resolution > 0 &&
	       fabs(d->watts.value) <= a->info.resolution;
}

static bool is_below(const struct ww_attribute *a, const struct ww_device *d)
{
	return d->readings && !isnan(d->watts.value) && !is_small(a, d) &&
	       d->watts.value < -2 * d->watts.u &&
	       strncmp(d->name, WW_ATTR_FALL " ", sizeof(WW_ATTR_FALL)) != 0;
}

static bool is_unread(const struct ww_attribute *a, const struct ww_device *d)
{
	(void)a;
	return d->readings == 0;
}

/* One sentence for all devices that it is true of. */
static void about_some(struct ww_attribute *a,
		       bool (*is)(const struct ww_attribute *, const struct ww_device *),
		       const char *what)
{
	struct ww_str names = {0};
	char label[LABEL];
	size_t n = 0;

	for (size_t i = 0; i < a->devices; i++)
		if (is(a, &a->device[i]) && n++ < SHOWN)
			ww_str_addf(&names, "%s'%s'", n > 1 ? ", " : "",
				    ww_attr_label(a, i, label, sizeof(label)));
	if (n > SHOWN)
		ww_str_addf(&names, " and %zu more", n - SHOWN);
	a->notes.bad = a->notes.bad || names.bad;
	if (n && !names.bad)
		ww_note(&a->notes, "%s: %s", names.p, what);
	ww_str_free(&names);
}

static void about_devices(struct ww_attribute *a)
{
	about_some(a, is_unread, "never on in a reading");
	about_some(a, is_small,
		   "at or below one step of the display: nothing is known but that "
		   "little is drawn");
	about_some(a, is_below,
		   "below zero: something else changed in these readings, or each was measured "
		   "alone: then take out the one before (-name), or write columns of 0 and 1");
}

/* Of two devices, the pair that would explain most of a misfit. */
struct suspect {
	double chi2, p;
	size_t j, k;
	double extra;
};

static void try_pair(struct ww_attribute *a, double *x, size_t j, size_t k, struct suspect *s)
{
	size_t n = a->cols, m = a->rows + a->priors, both = 0;
	struct ww_attr_col pair = a->col[j];
	double *column = x + m * (n + 1);
	struct ww_lsq f;

	if (pair.set != a->col[k].set)
		return;
	pair.kind = WW_COL_PAIR;
	pair.device[1] = a->col[k].device[0];
	pair.state[1] = a->col[k].state[0];
	ww_attr_column(a, &pair, column);
	for (size_t i = 0; i < m; i++) {
		memcpy(x + i * (n + 1), a->x + i * n, n * sizeof(*x));
		x[i * (n + 1) + n] = i < a->rows ? column[i] : 0;
		both += x[i * (n + 1) + n] != 0;
	}
	if (both == 0)
		return;
	if (ww_lsq_fit(&f, x, a->y, a->u, m, n + 1, NULL) < 0) {
		a->notes.bad = true;
		return;
	}
	if (f.rank > a->fit.rank && f.chi2 < s->chi2 * 0.999) {
		s->chi2 = f.chi2;
		s->p = f.dof ? ww_chi2_q(f.chi2, (double)f.dof) : 1;
		s->j = j;
		s->k = k;
		s->extra = f.beta[n];
	}
	ww_lsq_free(&f);
}

static uint32_t device_at(const struct ww_attribute *a, size_t col)
{
	for (uint32_t i = 0; i < a->devices; i++)
		if (a->device_col[i] == col)
			return i;
	return 0;
}

static void suspect_pair(struct ww_attribute *a)
{
	struct suspect s = {.chi2 = a->fit.chi2, .j = SIZE_MAX};
	size_t room = (a->rows + a->priors) * (a->cols + 2);
	double *x;
	char l1[LABEL], l2[LABEL], w[40];

	if (a->set[0].devices > 12 || room > 20000)
		return;
	x = calloc(room, sizeof(*x));
	a->notes.bad = a->notes.bad || !x;
	for (size_t j = 0; x && j < a->devices; j++)
		for (size_t k = j + 1; k < a->devices; k++)
			if (a->col[a->device_col[j]].device[0] !=
			    a->col[a->device_col[k]].device[0])
				try_pair(a, x, a->device_col[j], a->device_col[k], &s);
	free(x);
	if (s.j == SIZE_MAX || !(s.p > 0.05))
		return;
	ww_note(&a->notes,
		"'%s' and '%s' together draw %s W %s than their sum: behind one supply devices do "
		"not add (--interactions)",
		ww_attr_label(a, device_at(a, s.j), l1, LABEL),
		ww_attr_label(a, device_at(a, s.k), l2, LABEL), text(w, fabs(s.extra), 2),
		s.extra > 0 ? "more" : "less");
}

/* The reading that fits worst, of a misfit that chance does not explain. */
static void worst_reading(struct ww_attribute *a)
{
	double most = 0;
	size_t at = 0;
	char w[40];

	for (size_t i = 0; i < a->rows; i++) {
		if (fabs(a->fit.residual[i] / a->u[i]) > most) {
			most = fabs(a->fit.residual[i] / a->u[i]);
			at = i;
		}
	}
	if (most > 2 && a->row[at].r->line)
		ww_note(&a->notes, "%s:%zu fits worst: it is %s W off the sum of its devices",
			a->file[a->row[at].file].name, a->row[at].r->line,
			text(w, a->fit.residual[at], digits(a->u[at])));
}

static void about_fit(struct ww_attribute *a)
{
	char s[40];

	if (a->fit.dof == 0) {
		ww_note(&a->notes, "no reading is more than were needed: nothing tests whether "
				   "the devices add; read some state again, or another one");
		return;
	}
	if (a->scale > 1) {
		ww_note(&a->notes,
			"the readings do not fit a sum of devices within their uncertainties; "
			"uncertainties are multiplied by %s for it",
			text(s, a->scale, 2));
		worst_reading(a);
		if (!a->interactions)
			suspect_pair(a);
	}
	if (a->scale > 1 && a->fit.dof < 10)
		ww_note(&a->notes, "with %zu degree%s of freedom, k = 2 covers less than 95 %%",
			a->fit.dof, a->fit.dof == 1 ? "" : "s");
}

static void about_drift(struct ww_attribute *a)
{
	bool found = false;

	for (size_t k = 0; k < a->cols; k++)
		found |= a->col[k].kind == WW_COL_DRIFT;
	if (found && a->drift == 0)
		ww_note(&a->notes, "the level drifts with time, and that is fitted: a device that "
				   "warms up, a battery that charges, or the meter");
	else if (!isnan(a->info.drift.value) && a->drift == 0)
		ww_note(&a->notes,
			"the level drifts with time: devices are taken from their changes, at the "
			"moment of each, and the meter's offset from the first level of it; "
			"--drift "
			"fits a line to whole levels instead");
}

void ww_attr_remarks(struct ww_attribute *a)
{
	about_fit(a);
	about_drift(a);
	about_devices(a);
	about_base(a);
	about_apparent(a);
	if (a->calibrated)
		about_calibration(a);
	about_meter(a);
	about_readings(a);
	for (size_t i = 0; i < a->levels; i++)
		if (a->level[i].synthetic) {
			ww_note(&a->notes, "levels marked synthetic were never read: they take it "
					   "that devices add, and are uncertain by all readings "
					   "they are made of");
			break;
		}
	if (a->has_saving && isnan(a->saving.watts.value))
		ww_note(&a->notes, "the saving is not known: read both sets with all of their "
				   "devices on");
	if (a->has_saving)
		ww_note(&a->notes, "a year has 365.25 days; a load that is the same all the time "
				   "is taken for granted");
}
