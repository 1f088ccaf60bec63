/* SPDX-License-Identifier: MIT */
/* Attribution: what is asked, what is put in, what comes out. */
#include "analysis/attribute.h"

#include <math.h>

static char *copy_of(const char *s)
{
	return s && *s ? strdup(s) : NULL;
}

static int check(const struct ww_attribute_options *opt, struct ww_error *err)
{
	const struct ww_calibration *cal = WW_OPT(opt, calibration, NULL);
	struct ww_quantity none = {0, 0}, offset = WW_OPT(opt, offset, none);
	double spec_rel = WW_OPT(opt, spec_rel, 0), hours = WW_OPT(opt, hours_per_day, 0);

	if (WW_OPT(opt, offset_known, 0) && cal)
		return ww_fail(
			err, -EINVAL,
			"an offset and a calibration: the calibration has an offset already");
	if (!isfinite(offset.value) || !(offset.u >= 0) || isinf(offset.u))
		return ww_fail(err, -EINVAL, "the offset is no number of watts");
	if (!(WW_OPT(opt, resolution, 0) >= 0) || !(WW_OPT(opt, spec_abs, 0) >= 0) ||
	    !(spec_rel >= 0) || !(spec_rel < 1))
		return ww_fail(err, -EINVAL,
			       "resolution and accuracy are not below zero, and the "
			       "accuracy is less than the reading");
	if (!(hours >= 0) || hours > 24)
		return ww_fail(err, -EINVAL, "a day has 24 hours");
	if (!(WW_OPT(opt, price, 0) >= 0) || !(WW_OPT(opt, cost, 0) >= 0))
		return ww_fail(err, -EINVAL, "a price is not below zero");
	return 0;
}

int ww_attribute_new(const struct ww_attribute_options *opt, struct ww_attribute **out,
		     struct ww_error *err)
{
	const struct ww_calibration *cal = WW_OPT(opt, calibration, NULL);
	struct ww_quantity none = {0, 0};
	struct ww_attribute *a;

	if (WW_OPT_CHECK(opt, err) < 0 || check(opt, err) < 0)
		return -EINVAL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return ww_fail_nomem(err);
	a->own_offsets = WW_OPT(opt, own_offsets, 0);
	a->interactions = WW_OPT(opt, interactions, 0);
	a->drift = WW_OPT(opt, drift, 0);
	a->resolution = WW_OPT(opt, resolution, 0);
	a->spec_abs = WW_OPT(opt, spec_abs, 0);
	a->spec_rel = WW_OPT(opt, spec_rel, 0);
	a->offset_known = WW_OPT(opt, offset_known, 0);
	a->known_offset = WW_OPT(opt, offset, none);
	a->calibrated = cal != NULL;
	if (cal)
		a->cal = *ww_calibration_get(cal);
	a->cal.meter = "";
	a->spike_ns = WW_OPT(opt, spike_ns, 0);
	a->hours = WW_OPT(opt, hours_per_day, 0) > 0 ? opt->hours_per_day : 24;
	a->price = WW_OPT(opt, price, 0);
	a->cost = WW_OPT(opt, cost, 0);
	a->channel = copy_of(WW_OPT(opt, channel, NULL));
	a->order = copy_of(WW_OPT(opt, order, NULL));
	a->currency = strdup(WW_OPT(opt, currency, NULL) ? opt->currency : "");
	if (!a->currency || (WW_OPT(opt, order, NULL) && *opt->order && !a->order) ||
	    (WW_OPT(opt, channel, NULL) && *opt->channel && !a->channel)) {
		ww_attribute_free(a);
		return ww_fail_nomem(err);
	}
	*out = a;
	return 0;
}

void ww_attribute_free(struct ww_attribute *a)
{
	if (!a)
		return;
	ww_onoff_free(&a->set[0]);
	ww_onoff_free(&a->set[1]);
	for (size_t i = 0; i < a->files; i++) {
		free(a->file[i].name);
		free(a->file[i].change);
		free(a->file[i].factor);
	}
	free(a->file);
	free(a->channel);
	free(a->order);
	free(a->currency);
	free(a->row);
	free(a->col);
	free(a->x);
	free(a->y);
	free(a->u);
	free(a->drift_zero);
	ww_lsq_free(&a->fit);
	free(a->influence);
	free(a->device);
	free(a->device_col);
	free(a->group);
	free(a->pair);
	free(a->level);
	free(a->index);
	ww_notes_free(&a->notes);
	free(a);
}

struct ww_attr_file *ww_attr_file_add(struct ww_attribute *a, int set, const char *name,
				      struct ww_error *err)
{
	struct ww_attr_file *f;

	if (a->solved || set < WW_SET_NOW || set > WW_SET_BEFORE) {
		ww_fail(err, -EINVAL, "%s: %s", name,
			a->solved ? "the figures were asked for already" : "no such set");
		return NULL;
	}
	f = realloc(a->file, (a->files + 1) * sizeof(*f));
	if (!f) {
		ww_fail_nomem(err);
		return NULL;
	}
	a->file = f;
	f += a->files;
	*f = (struct ww_attr_file){.name = strdup(name), .set = set, .first = a->set[set].readings};
	if (!f->name) {
		ww_fail_nomem(err);
		return NULL;
	}
	a->files++;
	return f;
}

int ww_attribute_table(struct ww_attribute *a, int set, const char *name, const char *text,
		       size_t n, struct ww_error *err)
{
	struct ww_attr_file *f = ww_attr_file_add(a, set, name, err);
	int rc;

	if (!f)
		return a->solved ? -EINVAL : -ENOMEM;
	rc = ww_onoff_table(&a->set[set], name, text, n, err);
	f->count = a->set[set].readings - f->first;
	return rc;
}

const struct ww_attribute_info *ww_attribute_get(const struct ww_attribute *a)
{
	return &a->info;
}

const struct ww_device *ww_attribute_device(const struct ww_attribute *a, size_t i)
{
	return i < a->devices ? &a->device[i] : NULL;
}

const struct ww_device_group *ww_attribute_group(const struct ww_attribute *a, size_t i)
{
	return i < a->groups ? &a->group[i] : NULL;
}

const struct ww_device_next *ww_attribute_next(const struct ww_attribute *a, size_t i)
{
	return i < a->nexts ? &a->next[i] : NULL;
}

const struct ww_device_level *ww_attribute_level(const struct ww_attribute *a, size_t i)
{
	return i < a->levels ? &a->level[i] : NULL;
}

const struct ww_device_pair *ww_attribute_pair(const struct ww_attribute *a, size_t i)
{
	return i < a->pairs ? &a->pair[i] : NULL;
}

const struct ww_saving *ww_attribute_saving(const struct ww_attribute *a)
{
	return a->has_saving ? &a->saving : NULL;
}

const char *ww_attribute_note(const struct ww_attribute *a, size_t i)
{
	return ww_note_at(&a->notes, i);
}

int ww_attribute_solve(struct ww_attribute *a, struct ww_error *err)
{
	int rc = 0;

	if (a->solved)
		return ww_fail(err, -EINVAL, "the figures were asked for already");
	if (a->set[WW_SET_NOW].readings == 0)
		return ww_fail(err, -ENODATA, "no reading");
	a->solved = true;
	for (int set = 0; set < 2; set++) {
		a->notes.bad = a->notes.bad || a->set[set].notes.bad;
		for (size_t i = 0; i < a->set[set].notes.n; i++)
			ww_note(&a->notes, "%s", a->set[set].notes.note[i]);
	}
	rc = ww_attr_fit(a, err);
	if (rc == 0)
		rc = ww_attr_figures(a, err);
	if (rc == 0)
		rc = ww_attr_next(a, err);
	if (rc == 0 && a->order)
		rc = ww_attr_order(a, err);
	if (rc < 0)
		return rc;
	ww_attr_remarks(a);
	return a->notes.bad ? ww_fail_nomem(err) : 0;
}
