/* SPDX-License-Identifier: MIT */
/* What is plugged in, and which drivers this build has. */
#include "base/str.h"
#include "report/format.h"

#define COLUMNS 80
#define AT	30 /* where what was found is told */

/* Up to the next blank; a `command` is one word: it is copied from here. */
static size_t word_of(const char *p)
{
	bool command = false;
	size_t n = 0;

	for (; p[n] && (command || p[n] != ' '); n++)
		command ^= p[n] == '`';
	return n;
}

/* From column `at` on, broken between words to lines that begin at `indent`. */
static void put(struct ww_str *s, const char *text, size_t at, size_t indent)
{
	size_t column = at;

	while (*text) {
		size_t n = word_of(text), wide = ww_characters(text, n);

		if (column > at && column + 1 + wide > COLUMNS) {
			ww_str_add(s, "\n");
			ww_put_blanks(s, indent);
			column = at = indent;
		} else if (column > at) {
			ww_str_add(s, " ");
			column++;
		}
		ww_str_addn(s, text, n);
		column += wide;
		text += n;
		text += strspn(text, " ");
	}
	ww_str_add(s, "\n");
}

static void text_found(struct ww_str *s, const struct ww_list *l)
{
	const struct ww_found *f;

	for (size_t i = 0; (f = ww_list_at(l, i)); i++) {
		struct ww_str text = {0};
		size_t wide;

		ww_str_addf(s, "%-28s  ", *f->uri ? f->uri : "-");
		wide = ww_characters(f->uri, strlen(f->uri)) + 2;
		ww_str_addf(&text, "%s%s%s", f->what, *f->detail ? ": " : "", f->detail);
		put(s, text.p ? text.p : "", wide > AT ? wide : AT, AT);
		s->bad = s->bad || text.bad;
		ww_str_free(&text);
		if (*f->hint) {
			ww_str_add(s, "  ! ");
			put(s, f->hint, 4, 4);
		}
	}
	if (!ww_list_at(l, 0))
		ww_str_add(s, "nothing that could be used is plugged in\n");
}

static void text_drivers(struct ww_str *s)
{
	struct ww_driver_info d;
	bool unproven = false;

	ww_str_add(s, "\ndrivers:\n");
	for (size_t i = 0; ww_driver_at(i, &d); i++) {
		ww_str_addf(s, "%c %-9s  %s%s\n", d.proven ? ' ' : '?', d.name, d.summary,
			    d.available ? "" : " (left out of this build)");
		ww_str_addf(s, "%13s%s\n", "", d.example);
		unproven |= !d.proven;
	}
	ww_str_add(s,
		   "In a shell, quotes go around a URI with ?, & or blanks: -m 'sim:?watts=25'\n");
	if (unproven)
		ww_str_add(s, "? has never met the real device: made and tested after its maker's "
			      "texts,\n  public captures and models\n");
}

static void json_list(struct ww_json *j, const struct ww_list *l)
{
	const struct ww_found *f;
	struct ww_driver_info d;

	ww_json_open(j, NULL, '{');
	ww_json_text(j, "schema", "wakewatt/list/1");
	ww_json_open(j, "found", '[');
	for (size_t i = 0; (f = ww_list_at(l, i)); i++) {
		ww_json_open(j, NULL, '{');
		ww_json_text(j, "uri", f->uri);
		ww_json_text(j, "what", f->what);
		ww_json_text(j, "detail", f->detail);
		ww_json_text(j, "hint", f->hint);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
	ww_json_open(j, "drivers", '[');
	for (size_t i = 0; ww_driver_at(i, &d); i++) {
		ww_json_open(j, NULL, '{');
		ww_json_text(j, "name", d.name);
		ww_json_text(j, "summary", d.summary);
		ww_json_text(j, "example", d.example);
		ww_json_bool(j, "available", d.available);
		ww_json_bool(j, "proven", d.proven);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
	ww_json_text(j, "features", ww_features());
	ww_json_open(j, "notes", '[');
	ww_json_close(j, ']');
	ww_json_close(j, '}');
}

int ww_list_report(const struct ww_list *l, int form, char **out, struct ww_error *err)
{
	struct ww_str s = {0};
	struct ww_json j = {.s = &s};

	if (form == WW_REPORT_JSON) {
		json_list(&j, l);
		ww_str_add(&s, "\n");
	} else if (form == WW_REPORT_TEXT) {
		text_found(&s, l);
		text_drivers(&s);
	} else {
		return ww_fail(err, -EINVAL, "a report of form %d is not known", form);
	}
	return ww_str_take(&s, out, err);
}
