/* SPDX-License-Identifier: MIT */
/* The loop of `pwrlog record` and `resumetime record`: signals, keys, a live line. */
#ifndef TOOLS_RECORDING_H
#define TOOLS_RECORDING_H

#include "common.h"

#define RECORDING_SOURCES 16

struct recording {
	/* What was asked for. */
	const char *out;     /* file, "-" for a stream, NULL: a name made from the time */
	const char *program; /* "pwrlog record" */
	char *command;	     /* the whole command line */
	int32_t form;	     /* of the stream */
	int64_t for_ns;	     /* 0: until Ctrl-C */
	int64_t every_ns;
	bool raw;
	bool no_realtime;
	/* What runs. */
	struct ww_recorder *rec;
	struct ww_campaign *campaign;
	uint32_t manual; /* id of a source to type readings into, 0 none */
	char path[256];
	bool interrupted;
};

/* Create the recorder. @return 0 or TOOL_FAILED after it has said why */
int recording_open(struct recording *r);
/* Add a source. @return its id, or 0 after it has said why not */
uint32_t recording_add(struct recording *r, const char *uri, const char *name);
/* Start, run until the end, stop, say what was recorded. @return exit status */
int recording_run(struct recording *r);
void recording_free(struct recording *r);
/* Reads "jsonl" or "binary". @return false if it is neither */
bool recording_form(struct recording *r, const char *word);
/* Where a report of the finished trace goes: stdout, or stderr beside a stream. */
FILE *recording_report_to(const struct recording *r);

#endif
