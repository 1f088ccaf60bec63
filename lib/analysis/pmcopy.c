/* SPDX-License-Identifier: MIT */
/* A cycle that lives by itself: one allocation that holds its rows and all its strings. */
#include "base/base.h"

/* Where rows and strings go; at first only counted (p NULL). */
struct packer {
	char *p;
	size_t n;
};

static void *rows(struct packer *k, const void *from, size_t n, size_t size)
{
	char *to;

	k->n = (k->n + 15) & ~(size_t)15;
	to = k->p != NULL ? k->p + k->n : NULL;
	if (to != NULL && n > 0)
		memcpy(to, from, n * size);
	k->n += n * size;
	return to;
}

static void string(struct packer *k, const char **s)
{
	size_t n = strlen(*s) + 1;

	if (n == 1) {
		*s = "";
		return;
	}
	if (k->p != NULL) {
		memcpy(k->p + k->n, *s, n);
		*s = k->p + k->n;
	}
	k->n += n;
}

static int64_t weight(const struct ww_pm_device *d)
{
	if (d->error != 0)
		return INT64_MAX;
	return ww_iv_ok(d->length) ? ww_iv_mid(d->length) : -1;
}

static int heavier(const void *a, const void *b)
{
	const struct ww_pm_device *x = *(const struct ww_pm_device *const *)a;
	const struct ww_pm_device *y = *(const struct ww_pm_device *const *)b;
	int64_t v = weight(x), w = weight(y);

	if (v != w)
		return v > w ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int in_order(const void *a, const void *b)
{
	const struct ww_pm_device *x = *(const struct ww_pm_device *const *)a;
	const struct ww_pm_device *y = *(const struct ww_pm_device *const *)b;

	return x < y ? -1 : x > y;
}

/* Those to keep, in their order. */
static const struct ww_pm_device **chosen(const struct ww_pm_cycle *c, size_t keep)
{
	const struct ww_pm_device **list = calloc(c->devices ? c->devices : 1, sizeof(*list));
	size_t i;

	if (list == NULL)
		return NULL;
	for (i = 0; i < c->devices; i++)
		list[i] = &c->device[i];
	if (keep < c->devices) {
		qsort(list, c->devices, sizeof(*list), heavier);
		qsort(list, keep, sizeof(*list), in_order);
	}
	return list;
}

static void pack_devices(struct packer *k, struct ww_pm_cycle *to,
			 const struct ww_pm_device *const *list, size_t n)
{
	struct ww_pm_device *device = rows(k, NULL, 0, 0), d;
	size_t i;

	k->n += n * sizeof(*device);
	for (i = 0; i < n && list[i] != NULL; i++) {
		d = *list[i];
		string(k, &d.name);
		string(k, &d.driver);
		string(k, &d.parent);
		string(k, &d.func);
		if (device != NULL)
			device[i] = d;
	}
	to->device = n ? device : NULL;
	to->devices = n;
}

static void pack_others(struct packer *k, struct ww_pm_cycle *to, const struct ww_pm_cycle *c)
{
	struct ww_pm_other *other = rows(k, c->other, c->others, sizeof(*other)), o;
	size_t i;

	for (i = 0; i < c->others; i++) {
		o = c->other[i];
		string(k, &o.what);
		string(k, &o.before);
		string(k, &o.after);
		if (other != NULL)
			other[i] = o;
	}
	to->other = c->others ? other : NULL;
}

static const char *const *pack_list(struct packer *k, const char *const *list, size_t n)
{
	const char **to = rows(k, list, n, sizeof(*list));
	const char *s;
	size_t i;

	for (i = 0; i < n; i++) {
		s = list[i];
		string(k, &s);
		if (to != NULL)
			to[i] = s;
	}
	return n ? to : NULL;
}

static void pack(struct packer *k, struct ww_pm_cycle *to, const struct ww_pm_cycle *c,
		 const struct ww_pm_device *const *list, size_t keep)
{
	struct ww_pm_reason *r = &to->reason;

	*to = *c;
	to->span = rows(k, c->span, c->spans, sizeof(*c->span));
	pack_devices(k, to, list, keep);
	pack_others(k, to, c);
	to->error = pack_list(k, c->error, c->errors);
	to->contradiction = pack_list(k, c->contradiction, c->contradictions);
	string(k, &to->kernel);
	string(k, &r->step);
	string(k, &r->device);
	string(k, &r->driver);
	string(k, &r->func);
	string(k, &r->task);
	string(k, &r->wakeup);
	string(k, &r->text);
	to->devices_left_out = c->devices_left_out + (c->devices - keep);
}

struct ww_pm_cycle *ww_pm_cycle_copy(const struct ww_pm_cycle *c, size_t devices)
{
	size_t keep = devices == 0 || devices > c->devices ? c->devices : devices;
	const struct ww_pm_device **list = chosen(c, keep);
	struct ww_pm_cycle counted, *to = NULL;
	struct packer k = {NULL, sizeof(counted)};

	if (list == NULL)
		return NULL;
	pack(&k, &counted, c, list, keep);
	to = malloc(k.n);
	if (to != NULL) {
		k = (struct packer){(char *)to, sizeof(*to)};
		pack(&k, to, c, list, keep);
	}
	free(list);
	return to;
}

void ww_pm_cycle_free(struct ww_pm_cycle *c)
{
	free(c);
}
