/* SPDX-License-Identifier: MIT */
/* `resumetime record --continue`: what the first recording was asked for. */
#include "resumetime-record.h"

#include <stdlib.h>
#include <string.h>

/* One word, from and to its own memory. @return the rest */
static char *take_word(char *p, char *out)
{
	bool quoted = false;

	for (; *p && (quoted || *p != ' '); p++) {
		if (*p == '\'')
			quoted = !quoted;
		else if (*p == '\\' && !quoted && p[1])
			*out++ = *++p;
		else
			*out++ = *p;
	}
	p += *p == ' ';
	*out = '\0';
	return p;
}

int record_split(char *text, char ***word)
{
	size_t n = strlen(text);
	char **list = calloc(n / 2 + 2, sizeof(*list));
	int words = 0;

	*word = list;
	for (char *p = text; list && *p;) {
		char *out = p;

		list[words++] = out;
		p = take_word(p, out);
	}
	return list ? words : -1;
}

/* The command line that the trace keeps, without passwords. */
static int command_of(const char *path, char **out)
{
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	const char *was;

	if (ww_trace_open(path, &t, &err) < 0)
		return tool_fail(&err);
	was = ww_trace_meta(t, "command");
	if (was && ww_trace_meta(t, "campaign.suspend"))
		*out = strdup(was);
	ww_trace_close(t);
	if (*out)
		return TOOL_OK;
	tool_say("%s: no campaign of resumetime record, which could be gone on with", path);
	return TOOL_FAILED;
}

int record_again(struct recording *r, struct record_what *w)
{
	int rc = command_of(w->again, &w->was);

	if (rc != TOOL_OK)
		return rc;
	w->words = record_split(w->was, &w->word);
	if (w->words < 2 || strcmp(w->word[1], "record") != 0) {
		tool_say("%s: its command line cannot be read: %s", w->again, w->was);
		return TOOL_FAILED;
	}
	return record_read(w->words - 1, w->word + 1, r, w);
}

void record_free(struct record_what *w)
{
	free(w->was);
	free(w->word);
}
