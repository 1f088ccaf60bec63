/* SPDX-License-Identifier: MIT */
/* Passwords are for the device alone: no trace, error or list may show them. */
#include "base/str.h"
#include "base/uri.h"

#include <strings.h>

static const char *const secrets[] = {"user", "password", "token"};

bool ww_uri_is_secret(const char *key)
{
	for (size_t i = 0; i < WW_COUNTOF(secrets); i++)
		if (strcasecmp(key, secrets[i]) == 0)
			return true;
	return false;
}

/* Where the value of a secret option begins, if p is at one: "password=x". */
static const char *secret_value(const char *p)
{
	for (size_t i = 0; i < WW_COUNTOF(secrets); i++) {
		size_t n = strlen(secrets[i]);

		if (strncasecmp(p, secrets[i], n) == 0 && p[n] == '=')
			return p + n + 1;
	}
	return NULL;
}

/* In a command line an argument ends at its quote, which inside of it is '\''. */
static const char *value_end(const char *p, bool command)
{
	for (; *p && *p != '&'; p++) {
		if (!command || *p != '\'')
			continue;
		if (strncmp(p, "'\\''", 4) != 0)
			break;
		p += 3;
	}
	return p;
}

/* "//user:password@host": the end of what stands before the host, or NULL. */
static const char *login_end(const char *p)
{
	const char *at = NULL;

	for (; *p && !strchr("?& '\"", *p); p++)
		if (*p == '@')
			at = p;
	return at;
}

char *ww_uri_hide(const char *text, bool command)
{
	struct ww_str s = {0};
	char *out;

	ww_str_add(&s, "");
	while (*text) {
		const char *value = NULL, *login = NULL;

		ww_str_addn(&s, text, 1);
		if (*text == '?' || *text == '&')
			value = secret_value(text + 1);
		else if (strncmp(text, "://", 3) == 0)
			login = login_end(text + 3);
		text++;
		if (value) {
			ww_str_addn(&s, text, (size_t)(value - text));
			text = value_end(value, command);
			ww_str_add(&s, "***");
		} else if (login) {
			ww_str_add(&s, "//***");
			text = login;
		}
	}
	return ww_str_take(&s, &out, NULL) < 0 ? NULL : out;
}
