/* SPDX-License-Identifier: MIT */
#include "resumetime-record.h"
#include "resumetime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_meta(struct recording *r, const char *key, const char *value)
{
	if (value)
		ww_recorder_meta(r->rec, key, value, NULL);
}

static int sources(struct recording *r, const struct record_what *w, uint32_t *port)
{
	int rc = w->port ? recording_add(r, w->port, "port", port) : TOOL_OK;
	char n[16];

	if (rc == TOOL_OK && w->console)
		rc = recording_add(r, w->console, "console", NULL);
	for (size_t i = 0; rc == TOOL_OK && i < w->extras; i++)
		rc = recording_add(r, w->extra[i], NULL, NULL);
	if (rc != TOOL_OK)
		return rc;
	put_meta(r, "beat.mode", w->mode);
	/* Where every cycle wakes too early there is never a wake mark to tell it from. */
	put_meta(r, "campaign.wake", w->campaign.wake);
	put_meta(r, "campaign.reset", w->campaign.reset);
	put_meta(r, "campaign.off", w->campaign.off);
	put_meta(r, "campaign.alive", w->campaign.alive);
	put_meta(r, "campaign.suspend", w->campaign.suspend);
	snprintf(n, sizeof(n), "%u", w->campaign.cycles);
	if (w->campaign.suspend)
		put_meta(r, "campaign.cycles", n);
	return TOOL_OK;
}

static int report(const struct recording *r, struct ww_trace *t)
{
	struct ww_resume_options opt = {.size = sizeof(opt)};
	struct ww_resume *res = NULL;
	struct ww_error err = {0};
	char *text = NULL;
	int rc;

	(void)r;
	rc = ww_resume_new(t, &opt, &res, &err);
	if (rc == 0)
		rc = ww_resume_report(res, WW_REPORT_TEXT, &text, &err);
	ww_resume_free(res);
	return rc < 0 ? tool_fail(&err) : tool_print(text);
}

static int summary(const struct recording *r)
{
	struct ww_trace *t = NULL;
	struct ww_error err = {0};
	int rc;

	if (!r->path[0] || !r->started)
		return TOOL_OK;
	if (ww_trace_open(r->path, &t, &err) < 0)
		return tool_fail(&err);
	rc = report(r, t);
	ww_trace_close(t);
	return rc;
}

/* @return TOOL_OK, an exit status, or -1: nothing is left to be done */
static int campaign(struct recording *r, struct record_what *w, uint32_t port)
{
	struct ww_error err = {0};

	if (!w->campaign.cycles)
		return TOOL_OK;
	w->campaign.look = isatty(STDERR_FILENO) != 0;
	if (ww_campaign_new(r->rec, port, &w->campaign, &r->campaign, &err) == 0)
		return TOOL_OK;
	if (err.code != -EALREADY)
		return tool_refused(&err);
	tool_say("%s", err.text);
	return -1;
}

int resumetime_record(int argc, char **argv)
{
	struct recording r = {.program = "resumetime record"};
	struct record_what w = {0};
	uint32_t port = 0;
	int rc = record_options(argc, argv, &r, &w), after;

	if (rc == TOOL_OK) {
		r.command = tool_command_line(argc, argv);
		rc = recording_open(&r);
		if (rc == TOOL_OK)
			rc = sources(&r, &w, &port);
		if (rc == TOOL_OK)
			rc = campaign(&r, &w, port);
		if (rc == TOOL_OK) {
			rc = recording_run(&r);
			after = summary(&r);
			rc = rc ? rc : after;
		}
		recording_free(&r);
	}
	record_free(&w);
	return rc < 0 ? TOOL_OK : rc;
}
