/* SPDX-License-Identifier: MIT */
/* resumetime act: one action by hand, to test the wiring. */
#include "resumetime.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"usage: resumetime act [--json] [--for DUR] ACTION\n"
	"\n"
	"Do one action to the machine under test, and say what was done and when.\n"
	"\n"
	"  gpio:CHIP/LINE=low,200ms          press: a GPIO line low (or high) for a time;\n"
	"                                    without a time it is held until Ctrl-C\n"
	"  'ftdi:?serial=X&dtr=pulse,200ms'  DTR or RTS of an FTDI chip\n"
	"  'ftdi:?pin=C0&level=low,200ms'    a pin of an FTDI chip\n"
	"  'tty:/dev/ttyS0?dtr=pulse,200ms'  DTR or RTS of a serial port\n"
	"  wol:00:11:22:33:44:55             a packet that wakes a network card\n"
	"  CMD                               a shell command; what it says is shown\n"
	"\n"
	"  --for DUR             how long a line without a time is held\n"
	"  --json                as JSON\n"
	"  --help                this text\n";

struct what {
	const char *action;
	int64_t for_ns;
	int form;
};

static int parse(int argc, char **argv, struct what *w)
{
	static const struct option options[] = {{"for", required_argument, NULL, 'f'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct ww_error err = {0};
	int c;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			if (ww_duration_parse(optarg, &w->for_ns, &err) < 0)
				return tool_usage_error("--for: %s", err.text);
			break;
		case 'j':
			w->form = WW_REPORT_JSON;
			break;
		case 'h':
			return fputs(help, stdout) < 0 ? TOOL_FAILED : -1;
		default:
			return tool_bad_option(c, argv);
		}
	}
	if (optind + 1 != argc)
		return tool_usage_error(optind < argc ? "one action at a time; a command is one "
							"word, in quotes"
						      : "name an action");
	w->action = argv[optind];
	if (strncmp(w->action, "rtc:", 4) == 0)
		return tool_usage_error("%s: the alarm is the DUT's own, which the suspend command "
					"sets: try that command",
					w->action);
	return TOOL_OK;
}

/* @return 0 over, 1 a signal came first, negative */
static int run(struct ww_action *a, int sig_fd, struct ww_error *err)
{
	int rc = ww_action_start(a, err);

	while (rc >= 0 && (rc = ww_action_dispatch(a, err)) > 0) {
		struct pollfd p[2] = {{.fd = ww_action_fd(a), .events = POLLIN},
				      {.fd = sig_fd, .events = POLLIN}};

		poll(p, 2, -1);
		if (p[1].revents)
			return 1;
	}
	return rc;
}

/* A line without a time stays as it is as long as we do. */
static void hold(const struct ww_action *a, const struct what *w, int sig_fd)
{
	struct pollfd p = {.fd = sig_fd, .events = POLLIN};
	int64_t ms = w->for_ns ? (w->for_ns + 999999) / 1000000 : -1;

	if (strncmp(ww_action_how(a), "held ", 5) != 0)
		return;
	tool_say("%s%s", ww_action_how(a), w->for_ns ? "" : " until Ctrl-C");
	poll(&p, 1, ms > 2000000000 ? 2000000000 : (int)ms);
}

/* Its failure is ours. */
static bool command_failed(const char *how)
{
	return strncmp(how, "signal", 6) == 0 ||
	       (strncmp(how, "exit ", 5) == 0 && strcmp(how, "exit 0") != 0);
}

int resumetime_act(int argc, char **argv)
{
	struct what w = {.form = WW_REPORT_TEXT};
	struct ww_action *a = NULL;
	struct ww_error err = {0};
	char *text = NULL;
	int rc = parse(argc, argv, &w), sig_fd, done;
	bool failed, refused;

	if (rc != TOOL_OK)
		return rc < 0 ? TOOL_OK : rc;
	sig_fd = tool_signals(false);
	done = ww_action_new(w.action, &a, &err);
	refused = done == -EINVAL;
	if (done == 0)
		ww_action_show(a, STDERR_FILENO);
	if (done == 0)
		done = run(a, sig_fd, &err);
	if (done == 0)
		hold(a, &w, sig_fd);
	if (a && (done >= 0 || w.form == WW_REPORT_JSON) &&
	    ww_action_report(a, w.form, &text, &err) == 0)
		rc = tool_print(text);
	failed = a && command_failed(ww_action_how(a));
	ww_action_free(a);
	close(sig_fd);
	if (done > 0)
		tool_say("interrupted: a line is back as it was");
	if (done < 0)
		return refused ? tool_refused(&err) : tool_fail(&err);
	return rc ? rc : done > 0 || failed ? TOOL_FAILED : TOOL_OK;
}
