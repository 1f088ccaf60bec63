/* SPDX-License-Identifier: MIT */
#include "place.h"
#include "resumetime.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"usage: resumetime loopback -p PORT [options]\n"
	"\n"
	"Measures the serial path itself. Connect TX with RX of the port, and nothing else:\n"
	"bytes are sent at known times, and what comes back shows the delay to its stamp, the\n"
	"rate of the line and what is lost. The result is kept, and later recordings on this\n"
	"adapter, at this rate and latency timer, use it.\n"
	"\n"
	"  -p, --port PORT   serial port, as for resumetime record (/dev/ttyUSB0, ftdi:)\n"
	"      --echo        no wire: a machine at the other end sends back what it gets; its\n"
	"                    own time is in every figure, and nothing is kept\n"
	"      --bytes N     how many bytes to send (1000)\n"
	"      --no-store    keep nothing\n"
	"      --json        as a JSON document\n"
	"      --help        this text\n";

struct arguments {
	const char *port;
	struct ww_loopback_options opt;
	int form;
	bool store;
};

static int number(const char *text, uint32_t *out)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || v < 1 || v > 100000)
		return tool_usage_error("--bytes %s: expected 1 to 100000", text);
	*out = (uint32_t)v;
	return 0;
}

static int parse(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {{"port", required_argument, NULL, 'p'},
						{"echo", no_argument, NULL, 'e'},
						{"bytes", required_argument, NULL, 'b'},
						{"no-store", no_argument, NULL, 'n'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	int c, rc = 0;

	while (rc == 0 && (c = getopt_long(argc, argv, ":p:h", options, NULL)) != -1) {
		if (c == 'p')
			a->port = optarg;
		else if (c == 'e')
			a->opt.echo = 1;
		else if (c == 'b')
			rc = number(optarg, &a->opt.bytes);
		else if (c == 'n')
			a->store = false;
		else if (c == 'j')
			a->form = WW_REPORT_JSON;
		else if (c == 'h')
			return fputs(help, stdout) < 0 ? TOOL_FAILED : -1;
		else
			return tool_bad_option(c, argv);
	}
	if (rc)
		return rc;
	if (optind < argc)
		return tool_usage_error("'%s' is one word too many", argv[optind]);
	if (!a->port)
		return tool_usage_error("which port? -p PORT");
	return place_port(a->port, NULL);
}

/* @return 0 measured, negative: *err says why not */
static int measure(struct ww_loopback *l, int sig_fd, struct ww_error *err)
{
	struct pollfd p[2] = {{.fd = ww_loopback_fd(l), .events = POLLIN},
			      {.fd = sig_fd, .events = POLLIN}};
	int rc;

	while ((rc = ww_loopback_dispatch(l, err)) > 0) {
		poll(p, 2, 1000);
		if (p[1].revents) {
			*err = (struct ww_error){.code = -EINTR, .text = "interrupted"};
			return -EINTR;
		}
	}
	return rc;
}

int resumetime_loopback(int argc, char **argv)
{
	struct arguments a = {.opt = {.size = sizeof(a.opt)},
			      .form = WW_REPORT_TEXT,
			      .store = true};
	struct ww_error err = {0}, why = {0};
	struct ww_loopback *l = NULL;
	char *text = NULL, path[4200];
	int rc = parse(argc, argv, &a), sig_fd;
	bool refused;

	if (rc)
		return rc < 0 ? TOOL_OK : rc;
	/* The port is left as it was found (its latency timer, the kernel's driver) after Ctrl-C
	 * too. */
	sig_fd = tool_signals(false);
	rc = ww_loopback_new(a.port, &a.opt, &l, &err);
	refused = rc == -EINVAL;
	if (rc == 0)
		rc = measure(l, sig_fd, &err);
	if (rc == 0)
		rc = ww_loopback_report(l, a.form, &text, &err);
	if (rc == 0)
		rc = tool_print(text) == TOOL_OK ? 0 : -EIO;
	else
		tool_fail(&err);
	if (rc == 0 && a.store && !a.opt.echo) {
		if (ww_loopback_store(l, path, sizeof(path), &why) < 0)
			tool_say("%s", why.text);
		else if (a.form == WW_REPORT_TEXT)
			tool_say("kept in %s; later recordings use it", path);
	}
	ww_loopback_free(l);
	close(sig_fd);
	return refused ? TOOL_USAGE : rc < 0 ? TOOL_FAILED : TOOL_OK;
}
