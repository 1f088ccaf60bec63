/* SPDX-License-Identifier: MIT */
/* What `resumetime record` was asked for. */
#ifndef TOOLS_RESUMETIME_RECORD_H
#define TOOLS_RESUMETIME_RECORD_H

#include "recording.h"

struct record_what {
	const char *port, *console, *mode;
	const char *extra[RECORDING_SOURCES];
	size_t extras;
	bool control;
	struct ww_campaign_options campaign;
	/* A trace to go on with, the command line that made it, and its words. */
	const char *again;
	char *was, **word;
	int words;
	bool over; /* what is read now takes the place of what the first recording had */
	bool port_over, extras_over;
};

/* @return TOOL_OK, TOOL_USAGE, TOOL_FAILED, or -1: there is nothing more to do */
int record_options(int argc, char **argv, struct recording *r, struct record_what *w);
/* The options of the recording that is gone on with, from its trace. */
int record_again(struct recording *r, struct record_what *w);
/* Into words, as a shell would, of what tool_command_line() wrote; in place. */
int record_split(char *text, char ***word);
void record_free(struct record_what *w);

/* One pass over a command line. */
int record_read(int argc, char **argv, struct recording *r, struct record_what *w);

#endif
