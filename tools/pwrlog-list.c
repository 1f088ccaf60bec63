/* SPDX-License-Identifier: MIT */
#include "pwrlog.h"

#include <getopt.h>

static const char help[] =
	"usage: pwrlog list [--probe] [--json]\n"
	"\n"
	"What is plugged in, which URI to use for it, what is missing to use it, and\n"
	"the drivers of this build. Opens no device and changes nothing, unless asked to.\n"
	"\n"
	"  --probe  ask serial ports whose id tells nothing which meter they are; opens\n"
	"           them and sends questions: not where a port wakes or feeds a machine\n"
	"  --json   as a JSON document\n"
	"  --help   this text\n";

int pwrlog_list(int argc, char **argv)
{
	static const struct option options[] = {{"probe", no_argument, NULL, 'p'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int form = WW_REPORT_TEXT, c;
	struct ww_list *list = NULL;
	struct ww_error err = {0};
	char *text = NULL;
	bool probe = false;
	int rc;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'j')
			form = WW_REPORT_JSON;
		else if (c == 'p')
			probe = true;
		else if (c == 'h')
			return fputs(help, stdout) < 0 ? TOOL_FAILED : TOOL_OK;
		else
			return tool_bad_option(c, argv);
	}
	if (optind < argc)
		return tool_usage_error("'%s' is one word too many", argv[optind]);
	rc = ww_list_new(&list, &err);
	if (rc == 0 && probe) {
		rc = ww_list_probe(list, 0, &err);
		if (rc == 0)
			tool_say(
				"--probe: there is nothing to ask: no serial port here that may be "
				"used and whose id leaves open what is behind it");
	}
	if (rc >= 0)
		rc = ww_list_report(list, form, &text, &err);
	ww_list_free(list);
	return rc < 0 ? tool_fail(&err) : tool_print(text);
}
