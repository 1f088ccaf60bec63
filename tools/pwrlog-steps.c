/* SPDX-License-Identifier: MIT */
/* pwrlog steps: changes of level in a trace. */
#include "common.h"
#include "outfile.h"
#include "pwrlog.h"
#include "window.h"

#include <getopt.h>
#include <string.h>

struct choice {
	struct tool_window window;
	const char *channel, *spike, *plot, *html;
	int form;
};

static void usage(FILE *f)
{
	fputs("usage: pwrlog steps [--spike DUR] [--from T] [--to T] [--between MARK,MARK]\n"
	      "           [--channel NAME] [--plot F.svg] [--html F.html] [--json] FILE\n"
	      "\n"
	      "Changes of level in a channel of power: when, by how much, from what to what,\n"
	      "with uncertainties. Labels typed into the trace are joined to the changes they\n"
	      "meant. FILE may still be growing; '-' is a stream on standard input.\n"
	      "\n"
	      "  --spike DUR           longest spike to ignore (three readings)\n" TOOL_WINDOW_HELP
	      "  --channel NAME        channel of power, where there are several\n"
	      "  --plot F.svg          draw the trace, its levels and steps\n"
	      "  --html F.html         one page with picture, table and notes\n"
	      "  --json                as JSON\n"
	      "  --help                this text\n"
	      "\n" TOOL_IMPORT_HELP,
	      f);
}

static int spike_length(const char *text, struct ww_steps_options *o)
{
	struct ww_error err = {0};

	if (!text)
		return 0;
	if (ww_duration_parse(text, &o->spike_ns, &err) < 0)
		return tool_usage_error("--spike: %s", err.text);
	if (o->spike_ns <= 0)
		return tool_usage_error("--spike: a spike lasts longer than no time; three "
					"readings where the option is not given");
	return 0;
}

static int picture(const struct ww_steps *s, const char *path, int form)
{
	struct ww_error err = {0};
	char *text;

	if (!path)
		return TOOL_OK;
	if (ww_steps_plot(s, form, &text, &err) < 0)
		return tool_fail(&err);
	return tool_write_file(path, text);
}

static int report(const char *path, const struct choice *c)
{
	struct ww_steps_options o = {.size = sizeof(o), .channel = c->channel};
	struct tool_span span = {0};
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	struct ww_steps *s = NULL;
	char *text = NULL;
	int rc = spike_length(c->spike, &o);

	if (rc == 0)
		rc = tool_open_trace(path, &t);
	if (rc == 0)
		rc = tool_window_find(t, &c->window, &span);
	o.from_ns = span.from_ns;
	o.to_ns = span.to_ns;
	if (rc == 0 &&
	    (ww_steps_new(t, &o, &s, &err) < 0 || ww_steps_report(s, c->form, &text, &err) < 0))
		rc = tool_fail(&err);
	if (rc == 0)
		rc = tool_print(text);
	if (rc == 0)
		rc = picture(s, c->plot, WW_PLOT_SVG);
	if (rc == 0)
		rc = picture(s, c->html, WW_PLOT_HTML);
	ww_steps_free(s);
	ww_trace_close(t);
	return rc;
}

int pwrlog_steps(int argc, char **argv)
{
	static const struct option options[] = {{"spike", required_argument, NULL, 's'},
						{"from", required_argument, NULL, 'f'},
						{"to", required_argument, NULL, 't'},
						{"between", required_argument, NULL, 'b'},
						{"channel", required_argument, NULL, 'c'},
						{"plot", required_argument, NULL, 'p'},
						{"html", required_argument, NULL, 'H'},
						TOOL_IMPORT_OPTIONS,
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct choice w = {.form = WW_REPORT_TEXT};
	const char *path;
	int c;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		const char **to = c == 's'   ? &w.spike
				  : c == 'f' ? &w.window.from
				  : c == 't' ? &w.window.to
				  : c == 'b' ? &w.window.between
				  : c == 'c' ? &w.channel
				  : c == 'p' ? &w.plot
				  : c == 'H' ? &w.html
					     : NULL;
		int import = tool_import_option(c);

		if (import < 0)
			return TOOL_USAGE;
		if (import)
			continue;
		if (to) {
			*to = optarg;
		} else if (c == 'j') {
			w.form = WW_REPORT_JSON;
		} else if (c == 'h') {
			usage(stdout);
			return TOOL_OK;
		} else {
			return tool_bad_option(c, argv);
		}
	}
	c = tool_window_check(&w.window);
	if (c)
		return c;
	if (w.plot && w.html && strcmp(w.plot, w.html) == 0)
		return tool_usage_error("--plot and --html name the same file: '%s'", w.plot);
	path = tool_one_file(argc, argv);
	if (path &&
	    ((w.plot && tool_same_file(w.plot, path)) || (w.html && tool_same_file(w.html, path))))
		return tool_usage_error("'%s' is to be read: name another file to draw into", path);
	return path ? report(path, &w) : TOOL_USAGE;
}
