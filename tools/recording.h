/* SPDX-License-Identifier: MIT */
/* The loop of `pwrlog record` and `resumetime record`: signals, keys, a live line. */
#ifndef TOOLS_RECORDING_H
#define TOOLS_RECORDING_H

#include "common.h"

#define RECORDING_SOURCES 32 /* as many as a recorder takes */

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
	bool append; /* `out` is there, and is gone on with */
	/* Asked at every turn, from the loop that stamps: must not wait. May be NULL. */
	bool (*enough)(void *ctx);
	void *enough_ctx;
	/* What runs. */
	struct ww_recorder *rec;
	struct ww_campaign *campaign;
	uint32_t manual[RECORDING_SOURCES]; /* sources to type readings into */
	size_t manuals;
	char path[256];
	int name_lock; /* folder, while a name made from the time is not yet a file; -1 none */
	int64_t start_ns;
	bool started;	  /* there is something to report */
	bool interrupted; /* by a signal or Ctrl-C */
	bool typed;	  /* somebody typed a mark or a reading */
	bool campaign_ran;
	char ended[256]; /* how the campaign did */
};

/* -1 where all is well, else TOOL_USAGE after it has said what does not go together. */
int recording_check(const struct recording *r);
/* A GPIO line, and nothing else. @return false after it has said so */
bool recording_is_line(const char *uri);
/* Create the recorder. @return 0 or TOOL_FAILED after it has said why */
int recording_open(struct recording *r);
/*
 * Add a source, a meter or a line where it has no name. @return TOOL_OK with its id (may be
 * NULL), or the exit status after it has said why not
 */
int recording_add(struct recording *r, const char *uri, const char *name, uint32_t *id);
/* Start, run until the end, stop, say what was recorded. @return exit status */
int recording_run(struct recording *r);
void recording_free(struct recording *r);
/* Value of --OPTION, longer than nothing. @return false after it has said what is wrong */
bool recording_duration(const char *option, const char *text, int64_t *ns);
/* Reads "jsonl" or "binary". @return false if it is neither */
bool recording_form(struct recording *r, const char *word);
/* Where a report of the finished trace goes: stdout, or stderr beside a stream. */
FILE *recording_report_to(const struct recording *r);

#endif
