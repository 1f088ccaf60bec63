/* SPDX-License-Identifier: MIT */
/* What a file holds never steers a terminal: messages, notes, tables. */
#include "base/notes.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void plain(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {{"", ""},
		     {"meter.power", "meter.power"},
		     {"K\xc3\xbchlschrank \xe2\x82\xac \xf0\x9f\x94\x8c",
		      "K\xc3\xbchlschrank \xe2\x82\xac \xf0\x9f\x94\x8c"},
		     {"\x1b[2J\f\x7f\t\n", "\\x1b[2J\\x0c\\x7f\\x09\\x0a"},
		     {"\xc2\x9b"
		      "2J",
		      "\\xc2\\x9b2J"},
		     {"\xe2\x80\xaeW", "\\xe2\\x80\\xaeW"},
		     {"K\xfchl", "K\\xfchl"}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(cases); i++) {
		struct ww_str s = {0};
		char buf[64];

		ww_str_plain(&s, cases[i].in);
		assert_string_equal(s.p ? s.p : "", cases[i].out);
		ww_str_free(&s);
		ww_plain(buf, sizeof(buf), cases[i].in, strlen(cases[i].in));
		assert_string_equal(buf, cases[i].out);
		assert_true(ww_is_plain(buf, strlen(buf)));
		assert_int_equal(ww_is_plain(cases[i].in, strlen(cases[i].in)),
				 strcmp(cases[i].in, cases[i].out) == 0);
	}
}

/* Cut before what has no room, never within a character. */
static void cut(void **state)
{
	char buf[8];

	(void)state;
	ww_plain(buf, 6, "abcd\xc3\xbc", 6);
	assert_string_equal(buf, "abcd");
	ww_plain(buf, 7, "abcd\xc3\xbc", 6);
	assert_string_equal(buf, "abcd\xc3\xbc");
	ww_plain(buf, 6, "ab\x1b", 3);
	assert_string_equal(buf, "ab");
	ww_plain(buf, 1, "a", 1);
	assert_string_equal(buf, "");
}

static void messages(void **state)
{
	struct ww_notes l = {0};
	struct ww_error err = {0};

	(void)state;
	ww_fail(&err, -EINVAL, "'%s' is no number", "\x1b]0;owned\x07");
	assert_string_equal(err.text, "'\\x1b]0;owned\\x07' is no number");
	ww_note(&l, "column not read: %s", "a\x1b[31m");
	ww_note(&l, "column not read: %s", "a\x1b[31m");
	assert_int_equal(l.n, 1);
	assert_string_equal(l.note[0], "column not read: a\\x1b[31m");
	ww_notes_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(plain), cmocka_unit_test(cut),
					   cmocka_unit_test(messages)};

	return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}
