/* SPDX-License-Identifier: MIT */
/* pwrlog calibrate: a meter's offset and gain, from loads whose power is known. */
#include "common.h"
#include "pwrlog.h"
#include "pwrlog-slurp.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct choice {
	struct ww_calibration_options o;
	int form;
};

static void usage(FILE *f)
{
	fputs("usage: pwrlog calibrate [OPTIONS] TABLE\n"
	      "\n"
	      "Offset and gain of a meter, from loads whose power is known. TABLE has a load a\n"
	      "line, the known watts and what the meter showed:\n"
	      "\n"
	      "  0; 1.0\n"
	      "  25; 26.1\n"
	      "  100 ± 0.2; 101.4\n"
	      "\n"
	      "pwrlog attribute --calibration FILE reads what --json prints.\n"
	      "\n"
	      "  --reference-u W       standard uncertainty of the known watts\n"
	      "  --resolution W        smallest step of the meter; as typed where not given\n"
	      "  --meter TEXT          what was calibrated, kept in the file\n"
	      "  --correct W           what a reading would be, corrected\n"
	      "  --json                the file, on standard output\n"
	      "  --help                this text\n",
	      f);
}

static int calibrate(const char *path, const struct choice *w)
{
	struct ww_calibration *c = NULL;
	struct ww_error err = {0};
	char *text = NULL, *out = NULL;
	size_t n;
	int rc = tool_slurp(path, &text, &n);

	if (rc == 0 && (ww_calibration_fit(strcmp(path, "-") ? path : "standard input", text, n,
					   &w->o, &c, &err) < 0 ||
			ww_calibration_report(c, w->form, &out, &err) < 0))
		rc = tool_fail(&err);
	if (rc == 0)
		rc = tool_print(out);
	ww_calibration_free(c);
	free(text);
	return rc;
}

int pwrlog_calibrate(int argc, char **argv)
{
	static const struct option options[] = {{"reference-u", required_argument, NULL, 'u'},
						{"resolution", required_argument, NULL, 'r'},
						{"meter", required_argument, NULL, 'm'},
						{"correct", required_argument, NULL, 'c'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct choice w = {.o.size = sizeof(w.o), .form = WW_REPORT_TEXT};
	int c, rc = 0;

	while (rc == 0 && (c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'u':
			rc = tool_number("--reference-u", optarg, 0, 1e6, &w.o.reference_u);
			break;
		case 'r':
			rc = tool_number("--resolution", optarg, 1e-9, 1e6, &w.o.resolution);
			break;
		case 'm':
			w.o.meter = optarg;
			break;
		case 'c':
			w.o.correct_asked = 1;
			rc = tool_watts("--correct", optarg, &w.o.correct.value, &w.o.correct.u);
			break;
		case 'j':
			w.form = WW_REPORT_JSON;
			break;
		case 'h':
			usage(stdout);
			return TOOL_OK;
		default:
			return tool_bad_option(c, argv);
		}
	}
	if (rc)
		return rc;
	if (argc - optind != 1)
		return argc == optind ? tool_usage_error("name a table of known loads, or - for "
							 "standard input")
				      : tool_usage_error("one table at a time, not also '%s'",
							 argv[optind + 1]);
	return calibrate(argv[optind], &w);
}
