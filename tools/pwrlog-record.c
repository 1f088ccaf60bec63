/* SPDX-License-Identifier: MIT */
#include "pwrlog.h"
#include "recording.h"

#include <getopt.h>
#include <string.h>

static const char help[] =
	"usage: pwrlog record -m URI... [-o FILE] [--for DUR] [--every DUR] [--raw]\n"
	"\n"
	"Record wattmeters into a trace until Ctrl-C. A label and Enter sets a mark; with\n"
	"-m manual: a line such as '+monitor, 40.5' is a reading with its label.\n"
	"\n"
	"  -m URI         a meter: wattsup:/dev/ttyUSB0, sim:?watts=25, manual: (repeat for more)\n"
	"  -g URI         a GPIO line: gpio:gpiochip0/17\n"
	"  -o FILE        the trace to create; '-' writes a stream to standard output\n"
	"  --stream FORM  form of that stream: jsonl (default) or binary\n"
	"  --for DUR      end after this time (30s, 5m, 8h)\n"
	"  --every DUR    time between readings, where the meter can be told\n"
	"  --raw          keep the bytes as the meters sent them, too\n"
	"  --no-realtime  do not ask for real-time priority\n"
	"  --help         this text\n"
	"\n"
	"'pwrlog list' tells which meters are there.\n";

static int summary(const struct recording *r)
{
	struct ww_trace *t = NULL;
	struct ww_stat *s = NULL;
	struct ww_error err = {0};
	char *text = NULL;
	int rc = 0;

	if (!r->path[0] || !r->started)
		return TOOL_OK;
	rc = ww_trace_open(r->path, &t, &err);
	if (rc == 0)
		rc = ww_stat_new(t, NULL, &s, &err);
	if (rc == 0)
		rc = ww_stat_report(s, WW_REPORT_TEXT, &text, &err);
	ww_stat_free(s);
	ww_trace_close(t);
	return rc < 0 ? tool_fail(&err) : tool_print(text);
}

struct sources {
	const char *uri[RECORDING_SOURCES];
	size_t n;
};

static int parse(int argc, char **argv, struct recording *r, struct sources *s)
{
	static const struct option options[] = {{"for", required_argument, NULL, 'f'},
						{"every", required_argument, NULL, 'e'},
						{"stream", required_argument, NULL, 's'},
						{"raw", no_argument, NULL, 'r'},
						{"no-realtime", no_argument, NULL, 'N'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int c;

	while ((c = getopt_long(argc, argv, ":m:g:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'm':
		case 'g':
			if (c == 'g' && !recording_is_line(optarg))
				return TOOL_USAGE;
			if (s->n == RECORDING_SOURCES)
				return tool_usage_error("more than %d sources", RECORDING_SOURCES);
			s->uri[s->n++] = optarg;
			break;
		case 'o':
			r->out = optarg;
			break;
		case 'f':
			if (!recording_duration("for", optarg, &r->for_ns))
				return TOOL_USAGE;
			break;
		case 'e':
			if (!recording_duration("every", optarg, &r->every_ns))
				return TOOL_USAGE;
			break;
		case 's':
			if (!recording_form(r, optarg))
				return tool_usage_error("--stream: 'jsonl' or 'binary', not '%s'",
							optarg);
			break;
		case 'r':
			r->raw = true;
			break;
		case 'N':
			r->no_realtime = true;
			break;
		case 'h':
			return fputs(help, stdout) < 0 ? TOOL_FAILED : -1;
		default:
			return tool_bad_option(c, argv);
		}
	}
	if (optind < argc)
		return tool_usage_error("'%s' is one word too many (a meter is named with -m)",
					argv[optind]);
	if (s->n == 0)
		return tool_usage_error(
			"name a meter with -m URI; 'pwrlog list' tells which are there");
	return recording_check(r) < 0 ? TOOL_OK : TOOL_USAGE;
}

int pwrlog_record(int argc, char **argv)
{
	struct recording r = {.program = "pwrlog record"};
	struct sources s = {0};
	int rc = parse(argc, argv, &r, &s);

	if (rc != TOOL_OK)
		return rc < 0 ? TOOL_OK : rc;
	r.command = tool_command_line(argc, argv);
	rc = recording_open(&r);
	for (size_t i = 0; i < s.n && rc == TOOL_OK; i++)
		rc = recording_add(&r, s.uri[i], NULL, NULL);
	if (rc == TOOL_OK) {
		int after;

		rc = recording_run(&r);
		/* Also after an error: what was measured until then is worth its summary. */
		after = summary(&r);
		rc = rc ? rc : after;
	}
	recording_free(&r);
	return rc;
}
