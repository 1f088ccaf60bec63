/* SPDX-License-Identifier: MIT */
/* Devices and their states, and the sentences that change them. */
#include "text/onoff.h"
#include "base/str.h"

#include <math.h>

/* A piece of text, lent. */
struct piece {
	const char *p;
	size_t n;
};

static bool blank_at(const char *p, size_t n, size_t *len)
{
	if (n > 0 && (*p == ' ' || *p == '\t'))
		return *len = 1, true;
	if (n > 1 && (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] == 0xa0)
		return *len = 2, true;
	return false;
}

static struct piece trim(struct piece t)
{
	size_t len;

	while (blank_at(t.p, t.n, &len)) {
		t.p += len;
		t.n -= len;
	}
	while (t.n > 0) {
		if (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\t')
			t.n--;
		else if (t.n > 1 && blank_at(t.p + t.n - 2, 2, &len) && len == 2)
			t.n -= 2;
		else
			break;
	}
	if (t.n >= 2 && t.p[0] == '"' && t.p[t.n - 1] == '"')
		return trim((struct piece){t.p + 1, t.n - 2});
	return t;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Equal but for the case of ASCII letters and how wide the blanks are. */
static bool same(struct piece a, struct piece b)
{
	size_t i = 0, k = 0, len;

	while (i < a.n && k < b.n) {
		bool x = blank_at(a.p + i, a.n - i, &len), y = blank_at(b.p + k, b.n - k, &len);

		if (x != y)
			return false;
		if (!x && lower(a.p[i++]) != lower(b.p[k++]))
			return false;
		while (x && blank_at(a.p + i, a.n - i, &len))
			i += len;
		while (x && blank_at(b.p + k, b.n - k, &len))
			k += len;
	}
	return i == a.n && k == b.n;
}

static bool is_word(struct piece t, const char *const *words)
{
	for (; *words; words++)
		if (same(t, (struct piece){*words, strlen(*words)}))
			return true;
	return false;
}

void ww_onoff_free(struct ww_onoff *o)
{
	for (size_t i = 0; i < o->devices; i++) {
		for (size_t k = 0; k < o->device[i].states; k++)
			free(o->device[i].state[k]);
		free(o->device[i].name);
	}
	for (size_t i = 0; i < o->readings; i++)
		free(o->reading[i].on);
	free(o->device);
	free(o->reading);
	ww_notes_free(&o->notes);
	*o = (struct ww_onoff){0};
}

/* As it is kept: blanks in a row are one, control characters are blanks. */
static char *keep(struct piece t)
{
	char *copy = malloc(t.n + 1), *out = copy;
	size_t len;

	for (size_t i = 0; copy && i < t.n;) {
		if (blank_at(t.p + i, t.n - i, &len) || (unsigned char)t.p[i] < 0x20) {
			if (out > copy && out[-1] != ' ')
				*out++ = ' ';
			i += (unsigned char)t.p[i] < 0x20 ? 1 : len;
		} else {
			*out++ = t.p[i++];
		}
	}
	if (copy)
		*out = '\0';
	return copy;
}

static int find(const struct ww_onoff *o, struct piece t)
{
	for (size_t i = 0; i < o->devices; i++)
		if (same(t, (struct piece){o->device[i].name, strlen(o->device[i].name)}))
			return (int)i;
	return -ENOENT;
}

int ww_onoff_find(const struct ww_onoff *o, const char *name, size_t n)
{
	return find(o, trim((struct piece){name, n}));
}

int ww_onoff_device(struct ww_onoff *o, const char *name, size_t n, struct ww_error *err)
{
	struct piece t = trim((struct piece){name, n});
	int i = find(o, t);
	struct ww_onoff_device *d;

	if (i >= 0)
		return i;
	if (t.n == 0)
		return ww_fail(err, -EINVAL, "a device without a name");
	if (o->devices == WW_ONOFF_DEVICES)
		return ww_fail(err, -EINVAL, "more than %d devices", WW_ONOFF_DEVICES);
	d = realloc(o->device, (o->devices + 1) * sizeof(*d));
	if (!d)
		return ww_fail_nomem(err);
	o->device = d;
	d += o->devices;
	*d = (struct ww_onoff_device){.name = keep(t)};
	if (!d->name)
		return ww_fail_nomem(err);
	return (int)o->devices++;
}

static const char *const off_words[] = {"off", "0", "unplugged", "out", "none",
					"no",  "n", "false",	 "-",	NULL};
static const char *const on_words[] = {"on",  "1", "plugged in", "plugged", "in",
				       "yes", "y", "true",	 "x",	    NULL};

int ww_onoff_state(struct ww_onoff *o, size_t device, const char *name, size_t n,
		   struct ww_error *err)
{
	struct ww_onoff_device *d = &o->device[device];
	struct piece t = trim((struct piece){name, n});

	if (t.n == 0 || is_word(t, off_words))
		return 0;
	if (is_word(t, on_words))
		t = (struct piece){"on", 2};
	for (size_t k = 0; k < d->states; k++)
		if (same(t, (struct piece){d->state[k], strlen(d->state[k])}))
			return (int)k + 1;
	if (d->states == WW_ONOFF_STATES)
		return ww_fail(err, -EINVAL, "'%s' has more than %d states", d->name,
			       WW_ONOFF_STATES);
	d->state[d->states] = keep(t);
	if (!d->state[d->states])
		return ww_fail_nomem(err);
	return (int)++d->states;
}

/* One change, taken apart. */
struct change {
	struct piece name, state;
	int sign; /* 1 in, -1 out, 0: `state` tells */
};

/* A sign at p: '+', '-', and the dashes that word processors make of it. */
static int sign_at(const char *p, size_t n, size_t *len)
{
	static const struct {
		const char *text;
		int sign;
	} signs[] = {{"+", 1},
		     {"-", -1},
		     {"\xe2\x88\x92", -1} /* U+2212 */,
		     {"\xe2\x80\x93", -1} /* U+2013 */};

	for (size_t i = 0; i < WW_COUNTOF(signs); i++) {
		*len = strlen(signs[i].text);
		if (n >= *len && memcmp(p, signs[i].text, *len) == 0)
			return signs[i].sign;
	}
	*len = 0;
	return 0;
}

/* The end of a change: before a blank that a sign and a name follow; quotes protect. */
static size_t change_end(struct piece t)
{
	bool quoted = false;
	size_t blank, sign;

	for (size_t i = 1; i < t.n; i++) {
		quoted ^= t.p[i] == '"';
		if (!quoted && blank_at(t.p + i, t.n - i, &blank) && i + blank < t.n &&
		    sign_at(t.p + i + blank, t.n - i - blank, &sign) && i + blank + sign < t.n &&
		    !blank_at(t.p + i + blank + sign, 1, &blank))
			return i;
	}
	return t.n;
}

/* "monitor off", "monitor plugged in": the word at the end is the state. */
static bool said_at_end(struct piece t, struct change *c)
{
	static const char *const words[] = {"on", "off", "unplugged", "plugged in"};

	for (size_t i = 0; i < WW_COUNTOF(words); i++) {
		size_t n = strlen(words[i]);
		struct piece end = {t.p + t.n - n, n};

		if (t.n > n + 1 && same(end, (struct piece){words[i], n}) &&
		    (t.p[t.n - n - 1] == ' ' || t.p[t.n - n - 1] == '\t')) {
			*c = (struct change){.name = trim((struct piece){t.p, t.n - n}),
					     .state = end};
			return true;
		}
	}
	return false;
}

/* @return 1, 0 a bare name */
static int take_apart(struct piece t, struct change *c)
{
	size_t len, eq = t.n;

	t = trim(t);
	*c = (struct change){.sign = sign_at(t.p, t.n, &len)};
	if (c->sign) {
		t.p += len;
		t.n -= len;
	}
	if (t.n && *t.p != '"')
		for (eq = 0; eq < t.n && t.p[eq] != '=';)
			eq++;
	if (eq < t.n && c->sign >= 0) {
		c->sign = 0;
		c->name = trim((struct piece){t.p, eq});
		c->state = trim((struct piece){t.p + eq + 1, t.n - eq - 1});
		return 1;
	}
	if (!c->sign && said_at_end(t, c))
		return 1;
	c->name = trim(t);
	return c->sign != 0;
}

static int contradiction(const struct ww_onoff *o, const struct change *c, int i, const char *where,
			 struct ww_error *err)
{
	const struct ww_onoff_device *d = i >= 0 ? &o->device[i] : NULL;
	struct ww_str known = {0};
	int rc;

	if (d && c->sign > 0) {
		return d->line ? ww_fail(err, -EINVAL,
					 "%s: '%s' is in already, since line %zu: take it out "
					 "first (-%s), or name its state (%s=standby)",
					 where, d->name, d->line, d->name, d->name)
			       : ww_fail(err, -EINVAL, "%s: '%s' is in already", where, d->name);
	}
	if (d)
		return ww_fail(err, -EINVAL, "%s: '%s' is out already", where, d->name);
	for (size_t k = 0; k < o->devices && k < 8; k++)
		ww_str_addf(&known, "%s%s", k ? ", " : "", o->device[k].name);
	rc = ww_fail(err, -EINVAL, "%s: '%.*s' goes out but was never in%s%s", where,
		     (int)c->name.n, c->name.p, known.n ? "; known: " : "", known.n ? known.p : "");
	ww_str_free(&known);
	return rc;
}

static int apply(struct ww_onoff *o, const struct change *c, const char *where, size_t line,
		 struct ww_error *err)
{
	int i = find(o, c->name), state, was = 0;
	bool off = c->sign < 0 || (c->sign == 0 && is_word(c->state, off_words));

	if (c->name.n == 0)
		return ww_fail(err, -EINVAL, "%s: a change without the name of a device", where);
	if (c->sign == 0 && c->state.n == 0)
		return ww_fail(err, -EINVAL,
			       "%s: '%.*s=' names no state: write %.*s=off or %.*s=standby", where,
			       (int)c->name.n, c->name.p, (int)c->name.n, c->name.p, (int)c->name.n,
			       c->name.p);
	if (off && (i < 0 || !o->device[i].now))
		was = ww_onoff_was_on(o, c->name.p, c->name.n, where, err);
	if (was < 0)
		return was;
	i = find(o, c->name);
	if ((i < 0 && off) || (i >= 0 && c->sign > 0 && o->device[i].now) ||
	    (i >= 0 && c->sign < 0 && !o->device[i].now))
		return contradiction(o, c, i, where, err);
	i = ww_onoff_device(o, c->name.p, c->name.n, err);
	if (i < 0)
		return i;
	state = off	      ? 0
		: c->sign > 0 ? ww_onoff_state(o, (size_t)i, "on", 2, err)
			      : ww_onoff_state(o, (size_t)i, c->state.p, c->state.n, err);
	if (state < 0)
		return state;
	o->device[i].now = (uint8_t)state;
	o->device[i].line = line;
	o->device[i].named = true;
	return 0;
}

/* Nothing is changed where a later part of a sentence is wrong. */
static int change_each(struct ww_onoff *o, struct piece t, const char *where, size_t line,
		       struct ww_error *err)
{
	uint8_t was[WW_ONOFF_DEVICES] = {0};
	size_t lines[WW_ONOFF_DEVICES] = {0}, devices = o->devices;
	int rc = WW_CHANGE_DONE;

	for (size_t i = 0; i < devices; i++) {
		was[i] = o->device[i].now;
		lines[i] = o->device[i].line;
	}
	while (rc == WW_CHANGE_DONE && t.n) {
		size_t end = change_end(t);
		struct change c;

		rc = take_apart((struct piece){t.p, end}, &c);
		if (rc == WW_CHANGE_DONE) {
			int done = apply(o, &c, where, line, err);

			rc = done < 0 ? done : rc;
		}
		t = trim((struct piece){t.p + end, t.n - end});
	}
	for (size_t i = 0; rc < 0 && i < o->devices; i++) {
		o->device[i].now = i < devices ? was[i] : o->device[i].begun;
		o->device[i].line = i < devices ? lines[i] : 0;
	}
	return rc;
}

int ww_onoff_change(struct ww_onoff *o, const char *text, size_t n, const char *where, size_t line,
		    struct ww_error *err)
{
	static const char *const none[] = {"all unplugged",
					   "all off",
					   "all out",
					   "unplugged",
					   "everything off",
					   "everything unplugged",
					   "unplug all",
					   "nothing",
					   "nothing plugged in",
					   "none",
					   "empty",
					   "no load",
					   "-all",
					   "- all",
					   "all=off",
					   "all = off",
					   NULL};
	static const char *const all[] = {
		"all on", "all in", "all plugged in", "everything on", "everything plugged in",
		"+all",	  "+ all",  "all=on",	      "all = on",      NULL};
	static const char *const again[] = {"same", "again", "no change", "unchanged", "=", NULL};
	struct piece t = trim((struct piece){text, n});
	int rc;

	if (t.n == 0 || is_word(t, again))
		return WW_CHANGE_DONE;
	if (is_word(t, none)) {
		rc = ww_onoff_reset(o, line, err);
		return rc < 0 ? rc : WW_CHANGE_DONE;
	}
	if (is_word(t, all)) {
		rc = ww_onoff_all_on(o, line, err);
		return rc < 0 ? rc : WW_CHANGE_DONE;
	}
	return change_each(o, t, where, line, err);
}

int ww_onoff_read(struct ww_onoff *o, const struct ww_onoff_reading *r, struct ww_error *err)
{
	struct ww_onoff_reading *to;

	if (o->readings == WW_ONOFF_READINGS)
		return ww_fail(err, -EINVAL, "more than %d readings", WW_ONOFF_READINGS);
	if (o->readings == o->cap) {
		size_t cap = o->cap ? 2 * o->cap : 16;

		to = realloc(o->reading, cap * sizeof(*to));
		if (!to)
			return ww_fail_nomem(err);
		o->reading = to;
		o->cap = cap;
	}
	to = &o->reading[o->readings];
	*to = *r;
	to->devices = o->devices;
	to->on = calloc(o->devices + 1, 1);
	if (!to->on)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < o->devices; i++)
		to->on[i] = o->device[i].now;
	o->readings++;
	return 0;
}

void ww_onoff_unread(struct ww_onoff *o)
{
	free(o->reading[--o->readings].on);
}
