/* SPDX-License-Identifier: MIT */
#include "recording.h"
#include "resumetime.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: resumetime record -p PORT [-m METER]... [-g LINE]... [--console PORT]\n"
	"           [--cycles N --suspend ACTION [--wake ACTION] [--reset ACTION]\n"
	"           [--off ACTION]] [-o FILE] [--for DUR]\n"
	"\n"
	"Record the heartbeat of a machine under test (see ttybeat(1)). With --cycles,\n"
	"suspend and wake it N times; else only watch, until Ctrl-C. An ACTION is a\n"
	"shell command, or what resumetime act takes (gpio:gpiochip0/17=low,200ms).\n"
	"\n"
	"  -p PORT                serial port with the heartbeat: /dev/ttyUSB0,\n"
	"                         'tty:/dev/ttyS0?baud=9600', unix:/path, tcp://host:port\n"
	"  --console PORT         serial port with boot loader and kernel messages\n"
	"  -m METER, -g LINE      wattmeters and GPIO lines to record beside it\n"
	"  --cycles N             how many cycles\n"
	"  --suspend ACTION       what suspends the machine\n"
	"  --wake ACTION          what wakes it (without: it wakes by itself), or\n"
	"                         rtc:20s, its own alarm, set by the suspend command,\n"
	"                         in which {rtc} is replaced by the seconds\n"
	"  --reset ACTION         what resets a machine that never came back; then\n"
	"                         the campaign goes on\n"
	"  --off ACTION           done at the end, whatever happened\n"
	"  --asleep DUR           time from silence to the wake (3s)\n"
	"  --suspend-timeout DUR  no silence after this long: refused (20s)\n"
	"  --resume-timeout DUR   no sign of life after this long: hung (60s, without\n"
	"                         --wake 5m)\n"
	"  --settle DUR           quiet time before the next cycle (3s)\n"
	"  --silence DUR          no byte for this long means asleep (1s)\n"
	"  --mode MODE            how plain characters are written: stream, reopen,\n"
	"                         drain\n"
	"  -o FILE                the trace to create; '-': a stream to standard output\n"
	"  --stream FORM          form of that stream: jsonl (default) or binary\n"
	"  --for DUR              end after this time\n"
	"  --no-realtime          do not ask for real-time priority\n"
	"  --help                 this text\n";

struct what {
	const char *port, *console;
	const char *extra[RECORDING_SOURCES];
	size_t extras;
	const char *mode;
	struct ww_campaign_options campaign;
};

enum {
	O_CYCLES = 256,
	O_SUSPEND,
	O_WAKE,
	O_RESET,
	O_OFF,
	O_ASLEEP,
	O_STIME,
	O_RTIME,
	O_SETTLE,
	O_SILENCE,
	O_CONSOLE,
	O_STREAM,
	O_FOR,
	O_MODE,
	O_NORT
};

static const struct option options[] = {{"port", required_argument, NULL, 'p'},
					{"console", required_argument, NULL, O_CONSOLE},
					{"cycles", required_argument, NULL, O_CYCLES},
					{"suspend", required_argument, NULL, O_SUSPEND},
					{"wake", required_argument, NULL, O_WAKE},
					{"reset", required_argument, NULL, O_RESET},
					{"off", required_argument, NULL, O_OFF},
					{"asleep", required_argument, NULL, O_ASLEEP},
					{"suspend-timeout", required_argument, NULL, O_STIME},
					{"resume-timeout", required_argument, NULL, O_RTIME},
					{"settle", required_argument, NULL, O_SETTLE},
					{"silence", required_argument, NULL, O_SILENCE},
					{"mode", required_argument, NULL, O_MODE},
					{"stream", required_argument, NULL, O_STREAM},
					{"for", required_argument, NULL, O_FOR},
					{"no-realtime", no_argument, NULL, O_NORT},
					{"help", no_argument, NULL, 'h'},
					{0}};

static int duration(const char *option, const char *text, int64_t *ns)
{
	return recording_duration(option, text, ns) ? TOOL_OK : TOOL_USAGE;
}

static int action(const char *option, const char *text, const char **out)
{
	if (!*text)
		return tool_usage_error("--%s: an empty command", option);
	if (strcmp(option, "wake") != 0 && strncmp(text, "rtc:", 4) == 0)
		return tool_usage_error("--%s: an alarm of the machine's own can only wake it",
					option);
	*out = text;
	return TOOL_OK;
}

static int cycles(const char *text, uint32_t *out)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || end == text || n < 1 || n > 1000000)
		return tool_usage_error("--cycles: a whole number from 1 to 1000000, not '%s'",
					text);
	*out = (uint32_t)n;
	return TOOL_OK;
}

static int mode(const char *text, const char **out)
{
	if (strcmp(text, "stream") && strcmp(text, "reopen") && strcmp(text, "drain"))
		return tool_usage_error("--mode: 'stream', 'reopen' or 'drain', not '%s'", text);
	*out = text;
	return TOOL_OK;
}

static int take_times(int c, struct what *w, struct recording *r)
{
	switch (c) {
	case O_ASLEEP:
		return duration("asleep", optarg, &w->campaign.asleep_ns);
	case O_STIME:
		return duration("suspend-timeout", optarg, &w->campaign.suspend_timeout_ns);
	case O_RTIME:
		return duration("resume-timeout", optarg, &w->campaign.resume_timeout_ns);
	case O_SETTLE:
		return duration("settle", optarg, &w->campaign.settle_ns);
	case O_SILENCE:
		return duration("silence", optarg, &w->campaign.silence_ns);
	default:
		return duration("for", optarg, &r->for_ns);
	}
}

static int take_option(int c, struct what *w, struct recording *r, char **argv)
{
	switch (c) {
	case 'p':
		if (w->port)
			return tool_usage_error("one heartbeat at a time, not also '%s' (a line "
						"with messages is named with --console)",
						optarg);
		w->port = optarg;
		return TOOL_OK;
	case 'm':
	case 'g':
		if (c == 'g' && !recording_is_line(optarg))
			return TOOL_USAGE;
		if (w->extras == RECORDING_SOURCES)
			return tool_usage_error("more than %d sources", RECORDING_SOURCES);
		w->extra[w->extras++] = optarg;
		return TOOL_OK;
	case 'o':
		r->out = optarg;
		return TOOL_OK;
	case O_CONSOLE:
		w->console = optarg;
		return TOOL_OK;
	case O_CYCLES:
		return cycles(optarg, &w->campaign.cycles);
	case O_SUSPEND:
		return action("suspend", optarg, &w->campaign.suspend);
	case O_WAKE:
		return action("wake", optarg, &w->campaign.wake);
	case O_RESET:
		return action("reset", optarg, &w->campaign.reset);
	case O_OFF:
		return action("off", optarg, &w->campaign.off);
	case O_MODE:
		return mode(optarg, &w->mode);
	case O_STREAM:
		return recording_form(r, optarg)
			       ? TOOL_OK
			       : tool_usage_error("--stream: 'jsonl' or 'binary', not '%s'",
						  optarg);
	case O_NORT:
		r->no_realtime = true;
		return TOOL_OK;
	case '?':
	case ':':
		return tool_bad_option(c, argv);
	default:
		return take_times(c, w, r);
	}
}

static int parse(int argc, char **argv, struct recording *r, struct what *w)
{
	int c, rc;

	w->campaign.size = sizeof(w->campaign);
	while ((c = getopt_long(argc, argv, ":p:m:g:o:h", options, NULL)) != -1) {
		if (c == 'h')
			return fputs(help, stdout) < 0 ? TOOL_FAILED : -1;
		rc = take_option(c, w, r, argv);
		if (rc != TOOL_OK)
			return rc;
	}
	if (optind < argc)
		return tool_usage_error("'%s' is one word too many (the port is named with -p)",
					argv[optind]);
	if (!w->port)
		return tool_usage_error("name the port with -p PORT");
	if (w->campaign.cycles && !w->campaign.suspend)
		return tool_usage_error("--cycles needs --suspend ACTION");
	if (!w->campaign.cycles &&
	    (w->campaign.suspend || w->campaign.wake || w->campaign.reset || w->campaign.off))
		return tool_usage_error("--suspend, --wake, --reset and --off need --cycles N");
	if (w->campaign.suspend && strstr(w->campaign.suspend, "{rtc}") &&
	    (!w->campaign.wake || strncmp(w->campaign.wake, "rtc:", 4) != 0))
		return tool_usage_error("--suspend has {rtc}, the seconds of the machine's own "
					"alarm: it needs them, as in --wake rtc:20s");
	return recording_check(r) < 0 ? TOOL_OK : TOOL_USAGE;
}

static int sources(struct recording *r, const struct what *w, uint32_t *port)
{
	int rc = recording_add(r, w->port, "port", port);

	if (rc == TOOL_OK && w->console)
		rc = recording_add(r, w->console, "console", NULL);
	for (size_t i = 0; rc == TOOL_OK && i < w->extras; i++)
		rc = recording_add(r, w->extra[i], NULL, NULL);
	if (rc != TOOL_OK)
		return rc;
	if (w->mode)
		ww_recorder_meta(r->rec, "beat.mode", w->mode, NULL);
	/* Where every cycle wakes too early there is never a wake mark to tell it from. */
	if (w->campaign.wake)
		ww_recorder_meta(r->rec, "campaign.wake", w->campaign.wake, NULL);
	if (w->campaign.reset)
		ww_recorder_meta(r->rec, "campaign.reset", w->campaign.reset, NULL);
	if (w->campaign.off)
		ww_recorder_meta(r->rec, "campaign.off", w->campaign.off, NULL);
	if (w->campaign.suspend) {
		char n[16];

		snprintf(n, sizeof(n), "%u", w->campaign.cycles);
		ww_recorder_meta(r->rec, "campaign.suspend", w->campaign.suspend, NULL);
		ww_recorder_meta(r->rec, "campaign.cycles", n, NULL);
	}
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

int resumetime_record(int argc, char **argv)
{
	struct recording r = {.program = "resumetime record"};
	struct what w = {0};
	struct ww_error err = {0};
	uint32_t port = 0;
	int rc = parse(argc, argv, &r, &w), after;

	if (rc != TOOL_OK)
		return rc < 0 ? TOOL_OK : rc;
	r.command = tool_command_line(argc, argv);
	rc = recording_open(&r);
	if (rc == TOOL_OK)
		rc = sources(&r, &w, &port);
	if (rc == TOOL_OK && w.campaign.cycles &&
	    ww_campaign_new(r.rec, port, &w.campaign, &r.campaign, &err) < 0)
		rc = tool_refused(&err);
	if (rc == TOOL_OK) {
		rc = recording_run(&r);
		after = summary(&r);
		rc = rc ? rc : after;
	}
	recording_free(&r);
	return rc;
}
