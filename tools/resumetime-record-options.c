/* SPDX-License-Identifier: MIT */
/* The command line of `resumetime record`. */
#include "resumetime-record.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: resumetime record -p PORT [-m METER]... [-g LINE]... [--console PORT]\n"
	"           [--cycles N --suspend ACTION [--wake ACTION] [--reset ACTION]\n"
	"           [--off ACTION]] [-o FILE] [--for DUR]\n"
	"       resumetime record --control --alive SIGN --cycles N --suspend ACTION ...\n"
	"       resumetime record --continue FILE [OPTION]...\n"
	"\n"
	"Record the heartbeat of a machine under test (see ttybeat(1)). With --cycles,\n"
	"suspend and wake it N times; else only watch, until Ctrl-C. An ACTION is a\n"
	"shell command, or what resumetime act takes (gpio:gpiochip0/17=low,200ms).\n"
	"\n"
	"  -p PORT                serial port with the heartbeat: /dev/ttyUSB0,\n"
	"                         'tty:/dev/ttyS0?baud=9600', unix:/path, tcp://host:port\n"
	"  --console PORT         serial port with boot loader and kernel messages\n"
	"  -m METER, -g LINE      wattmeters and GPIO lines to record beside it\n"
	"  --cycles N             how many cycles; with --until-..., at most\n"
	"  --suspend ACTION       what suspends the machine\n"
	"  --wake ACTION          what wakes it (without: it wakes by itself), or\n"
	"                         rtc:20s, its own alarm, set by the suspend command,\n"
	"                         in which {rtc} is replaced by the seconds;\n"
	"                         rtc:5s..30s draws them\n"
	"  --reset ACTION         what resets a machine that never came back; then\n"
	"                         the campaign goes on\n"
	"  --off ACTION           done at the end, whatever happened\n"
	"  --asleep DUR           time from silence to the wake (3s); 2s..10s draws it\n"
	"  --seed N               what is drawn, once more as it was with this seed\n"
	"  --warmup N             cycles before the others, in no figure\n"
	"  --until-failure        end after the first cycle that is not ok\n"
	"  --until-width DUR      end when the median is known to so much\n"
	"  --suspend-timeout DUR  no silence after this long: refused (20s)\n"
	"  --resume-timeout DUR   no sign of life after this long: hung (60s, without\n"
	"                         --wake 5m)\n"
	"  --away-timeout DUR     an adapter unplugged for longer ends it (1h)\n"
	"  --settle DUR           quiet time before the next cycle (3s)\n"
	"  --silence DUR          no byte for this long means asleep (1s)\n"
	"  --control              the same cycles without a heartbeat\n"
	"  --alive SIGN           what shows then that it runs: 'meter>8W', 'line=1',\n"
	"                         console, or a command such as 'ping -c1 -W1 dut'\n"
	"  --continue FILE        go on with a campaign that was broken off\n"
	"  --mode MODE            how plain characters are written: stream, reopen,\n"
	"                         drain\n"
	"  -o FILE                the trace to create; '-': a stream to standard output\n"
	"  --stream FORM          form of that stream: jsonl (default) or binary\n"
	"  --for DUR              end after this time\n"
	"  --no-realtime          do not ask for real-time priority\n"
	"  --help                 this text\n";

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
	O_SEED,
	O_WARMUP,
	O_FAILURE,
	O_WIDTH,
	O_AWAY,
	O_CONTROL,
	O_ALIVE,
	O_AGAIN,
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
					{"seed", required_argument, NULL, O_SEED},
					{"warmup", required_argument, NULL, O_WARMUP},
					{"until-failure", no_argument, NULL, O_FAILURE},
					{"until-width", required_argument, NULL, O_WIDTH},
					{"away-timeout", required_argument, NULL, O_AWAY},
					{"control", no_argument, NULL, O_CONTROL},
					{"alive", required_argument, NULL, O_ALIVE},
					{"continue", required_argument, NULL, O_AGAIN},
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

static int number(const char *option, const char *text, long max, uint32_t *out)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || end == text || n < 1 || n > max)
		return tool_usage_error("--%s: a whole number from 1 to %ld, not '%s'", option, max,
					text);
	*out = (uint32_t)n;
	return TOOL_OK;
}

/* "3s", or "2s..10s" */
static int asleep(const char *text, struct ww_campaign_options *c)
{
	const char *dots = strstr(text, "..");
	char low[32];

	c->asleep_max_ns = 0;
	if (!dots)
		return duration("asleep", text, &c->asleep_ns);
	snprintf(low, sizeof(low), "%.*s", (int)(dots - text), text);
	if ((size_t)(dots - text) >= sizeof(low) ||
	    duration("asleep", low, &c->asleep_ns) != TOOL_OK ||
	    duration("asleep", dots + 2, &c->asleep_max_ns) != TOOL_OK)
		return TOOL_USAGE;
	return c->asleep_max_ns >= c->asleep_ns
		       ? TOOL_OK
		       : tool_usage_error("--asleep: the shortest sleep first, not '%s'", text);
}

static int mode(const char *text, const char **out)
{
	if (strcmp(text, "stream") && strcmp(text, "reopen") && strcmp(text, "drain"))
		return tool_usage_error("--mode: 'stream', 'reopen' or 'drain', not '%s'", text);
	*out = text;
	return TOOL_OK;
}

static int take_times(int c, struct record_what *w, struct recording *r)
{
	switch (c) {
	case O_STIME:
		return duration("suspend-timeout", optarg, &w->campaign.suspend_timeout_ns);
	case O_RTIME:
		return duration("resume-timeout", optarg, &w->campaign.resume_timeout_ns);
	case O_SETTLE:
		return duration("settle", optarg, &w->campaign.settle_ns);
	case O_SILENCE:
		return duration("silence", optarg, &w->campaign.silence_ns);
	case O_WIDTH:
		return duration("until-width", optarg, &w->campaign.until_width_ns);
	case O_AWAY:
		return duration("away-timeout", optarg, &w->campaign.away_timeout_ns);
	default:
		return duration("for", optarg, &r->for_ns);
	}
}

/* What the campaign does. @return -1: none of these */
static int take_campaign(int c, struct ww_campaign_options *o)
{
	uint32_t seed = 0;
	int rc;

	switch (c) {
	case O_CYCLES:
		return number("cycles", optarg, 1000000, &o->cycles);
	case O_WARMUP:
		return number("warmup", optarg, 1000, &o->warmup);
	case O_SEED:
		rc = number("seed", optarg, 1000000000, &seed);
		o->seed = seed;
		return rc;
	case O_ASLEEP:
		return asleep(optarg, o);
	case O_FAILURE:
		o->until_failure = 1;
		return TOOL_OK;
	case O_SUSPEND:
		return action("suspend", optarg, &o->suspend);
	case O_WAKE:
		return action("wake", optarg, &o->wake);
	case O_RESET:
		return action("reset", optarg, &o->reset);
	case O_OFF:
		return action("off", optarg, &o->off);
	case O_ALIVE:
		return action("alive", optarg, &o->alive);
	default:
		return -1;
	}
}

static int take_port(struct record_what *w)
{
	if (w->port && !(w->over && !w->port_over))
		return tool_usage_error("one heartbeat at a time, not also '%s' (a line "
					"with messages is named with --console)",
					optarg);
	w->port_over = w->over;
	w->port = optarg;
	return TOOL_OK;
}

static int take_extra(int c, struct record_what *w)
{
	if (c == 'g' && !recording_is_line(optarg))
		return TOOL_USAGE;
	if (w->over && !w->extras_over)
		w->extras = 0;
	w->extras_over = w->over;
	if (w->extras == RECORDING_SOURCES)
		return tool_usage_error("more than %d sources", RECORDING_SOURCES);
	w->extra[w->extras++] = optarg;
	return TOOL_OK;
}

static int take_option(int c, struct record_what *w, struct recording *r, char **argv)
{
	int rc = take_campaign(c, &w->campaign);

	if (rc >= 0)
		return rc;
	switch (c) {
	case 'p':
		return take_port(w);
	case 'm':
	case 'g':
		return take_extra(c, w);
	case 'o':
		r->out = optarg;
		return TOOL_OK;
	case O_CONSOLE:
		w->console = optarg;
		return TOOL_OK;
	case O_CONTROL:
		w->control = true;
		return TOOL_OK;
	case O_AGAIN:
		w->again = optarg;
		return TOOL_OK;
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

int record_read(int argc, char **argv, struct recording *r, struct record_what *w)
{
	int c, rc;

	optind = 0; /* of a second command line, too */
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
	return TOOL_OK;
}

static bool has_password(const struct record_what *w)
{
	bool has = w->port && strstr(w->port, "***");

	has = has || (w->console && strstr(w->console, "***"));
	for (size_t i = 0; i < w->extras; i++)
		has = has || strstr(w->extra[i], "***");
	return has;
}

/* The first recording's command line, and what of this one takes its place. */
static int read_again(int argc, char **argv, struct recording *r, struct record_what *w)
{
	struct record_what second = {.again = w->again};
	int rc;

	if (r->out)
		return tool_usage_error("--continue names the trace: it goes without -o");
	second.campaign.size = sizeof(second.campaign);
	*w = second;
	*r = (struct recording){.program = r->program};
	rc = record_again(r, w);
	if (rc != TOOL_OK)
		return rc;
	w->over = true;
	rc = record_read(argc, argv, r, w);
	r->out = w->again;
	r->append = true;
	if (rc == TOOL_OK && has_password(w))
		return tool_usage_error("passwords are not kept in a trace: name the sources again "
					"(-p, -m)");
	return rc;
}

static int check_control(const struct record_what *w)
{
	if (w->control && w->port)
		return tool_usage_error("--control is without the heartbeat: it goes without -p");
	if (w->campaign.alive && w->port)
		return tool_usage_error("--alive stands for a heartbeat: it goes with --control, "
					"without -p");
	if (w->control && !w->campaign.alive)
		return tool_usage_error("--control needs --alive SIGN, as in --alive 'meter>8W'");
	if (w->campaign.alive && !w->control)
		return tool_usage_error("--alive goes with --control");
	return TOOL_OK;
}

static int check(struct recording *r, struct record_what *w)
{
	struct ww_campaign_options *o = &w->campaign;
	int rc = check_control(w);

	if (rc != TOOL_OK)
		return rc;
	if (!w->port && !w->control)
		return tool_usage_error("name the port with -p PORT");
	if (!o->cycles && (o->until_failure || o->until_width_ns))
		o->cycles = 1000000;
	if (o->cycles && !o->suspend)
		return tool_usage_error("--cycles needs --suspend ACTION");
	if (!o->cycles && (o->suspend || o->wake || o->reset || o->off))
		return tool_usage_error("--suspend, --wake, --reset and --off need --cycles N");
	if (!o->cycles && w->control)
		return tool_usage_error("--control needs --cycles N");
	if (o->suspend && strstr(o->suspend, "{rtc}") &&
	    (!o->wake || strncmp(o->wake, "rtc:", 4) != 0))
		return tool_usage_error("--suspend has {rtc}, the seconds of the machine's own "
					"alarm: it needs them, as in --wake rtc:20s");
	return recording_check(r) < 0 ? TOOL_OK : TOOL_USAGE;
}

int record_options(int argc, char **argv, struct recording *r, struct record_what *w)
{
	int rc;

	w->campaign.size = sizeof(w->campaign);
	rc = record_read(argc, argv, r, w);
	if (rc == TOOL_OK && w->again)
		rc = read_again(argc, argv, r, w);
	return rc == TOOL_OK ? check(r, w) : rc;
}
