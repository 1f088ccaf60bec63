/* SPDX-License-Identifier: MIT */
/* Files of cycles become sets of figures. */
#include "resumetime-cycles.h"

#include "outfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOINED_MOST 8

/* What tells of the same cycles: at most one recording, and texts. */
struct joined {
	struct ww_trace *trace;
	struct ww_text *text[JOINED_MOST];
	size_t texts;
};

/* Recordings are files of SQLite; everything else is text of some kind. */
static bool is_recording(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[16];
	bool is;
	int fd;

	if (strcmp(path, "-") == 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	is = pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	     memcmp(head, magic, sizeof(magic)) == 0;
	close(fd);
	return is;
}

static int open_one(struct joined *j, const char *path)
{
	struct ww_error err = {0};

	if (is_recording(path)) {
		if (j->trace) {
			tool_say("%s: a second recording of the same cycles; name recordings of "
				 "one side one after the other",
				 path);
			return TOOL_FAILED;
		}
		return tool_open_trace(path, &j->trace);
	}
	if (j->texts == JOINED_MOST) {
		tool_say("%s: at most %d files of the same cycles", path, JOINED_MOST);
		return TOOL_FAILED;
	}
	if (ww_text_open(path, &j->text[j->texts], &err) < 0)
		return tool_fail(&err);
	j->texts++;
	return 0;
}

bool tool_cycles_reads(const char *operand, const char *path)
{
	const char *p = operand;
	bool same = tool_same_file(path, operand);

	while (!same && *p) {
		size_t n = strcspn(p, "+");
		char *part = strndup(p, n);

		same = part && tool_same_file(path, part);
		free(part);
		p += n + (p[n] == '+');
	}
	return same;
}

/* "a.wwt+b.txt" unless there is a file of that name. */
static int open_all(struct joined *j, const char *operand)
{
	const char *p = operand;
	int rc = 0;

	if (!strchr(operand, '+') || access(operand, F_OK) == 0)
		return open_one(j, operand);
	while (rc == 0 && *p) {
		size_t n = strcspn(p, "+");
		char *path = strndup(p, n);

		if (!path) {
			tool_say("out of memory");
			return TOOL_FAILED;
		}
		rc = n ? open_one(j, path) : 0;
		free(path);
		p += n + (p[n] == '+');
	}
	return rc;
}

static int add_recording(struct ww_cycleset *s, struct joined *j,
			 const struct tool_cycles_options *opt)
{
	struct ww_error err = {0};
	struct ww_resume *r = NULL;
	int rc = ww_resume_new(j->trace, &opt->resume, &r, &err);

	if (rc >= 0 && j->texts)
		rc = ww_resume_add_text(r, j->text, j->texts, &opt->kernlog, &err);
	if (rc >= 0)
		rc = ww_cycleset_add_resume(s, r, &err);
	ww_resume_free(r);
	return rc < 0 ? tool_fail(&err) : 0;
}

static int add_texts(struct ww_cycleset *s, struct joined *j, const struct tool_cycles_options *opt)
{
	struct ww_error err = {0};
	struct ww_kernlog *k = NULL;
	int rc = ww_kernlog_new(j->text, j->texts, &opt->kernlog, &k, &err);

	if (rc >= 0)
		rc = ww_cycleset_add_kernlog(s, k, &err);
	ww_kernlog_free(k);
	return rc < 0 ? tool_fail(&err) : 0;
}

int tool_cycles_add(struct ww_cycleset *s, const char *operand,
		    const struct tool_cycles_options *opt)
{
	struct joined j = {0};
	int rc = open_all(&j, operand);

	if (rc == 0)
		rc = j.trace ? add_recording(s, &j, opt) : add_texts(s, &j, opt);
	for (size_t i = 0; i < j.texts; i++)
		ww_text_close(j.text[i]);
	ww_trace_close(j.trace);
	return rc;
}

char *tool_cycles_name(const char *operand)
{
	size_t n = access(operand, F_OK) == 0 ? strlen(operand) : strcspn(operand, "+");
	const char *from = operand, *dot;

	for (size_t i = 0; i + 1 < n; i++)
		if (operand[i] == '/')
			from = operand + i + 1;
	n -= (size_t)(from - operand);
	dot = memrchr(from, '.', n);
	if (dot && dot != from)
		n = (size_t)(dot - from);
	return strndup(from, n);
}

int tool_cycles_take(int c, const char *text, struct tool_cycles_options *opt)
{
	switch (c) {
	case CYCLES_PORT:
		opt->resume.port = text;
		return -1;
	case CYCLES_CONSOLE:
		opt->resume.console = text;
		return -1;
	case CYCLES_NO_CONSOLE:
		opt->kernlog.no_console = 1;
		return -1;
	case CYCLES_BAUD:
		opt->kernlog.baud = (uint32_t)tool_whole(text, 100000000);
		return opt->kernlog.baud
			       ? -1
			       : tool_usage_error("--baud %s: a rate such as 115200", text);
	default:
		return -2;
	}
}
