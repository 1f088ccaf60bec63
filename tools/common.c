/* SPDX-License-Identifier: MIT */
#include "common.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

const char *tool_name = "wakewatt";
bool tool_partial, tool_line_open;
static char name_buffer[64];
static bool said; /* something went wrong, and it was said what */

/* The last word on a program's exit: what it printed must have arrived. */
static int finish(int rc)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		if (!said)
			tool_say("standard output: %s", strerror(errno ? errno : EIO));
		return rc == TOOL_OK ? TOOL_FAILED : rc;
	}
	return rc == TOOL_OK && tool_partial ? TOOL_FAILED : rc;
}

static void usage(FILE *f, const char *program, const char *summary,
		  const struct tool_command *commands)
{
	int width = 9;

	fprintf(f, "%s: %s\n\nusage: %s COMMAND [OPTIONS]\n\n", program, summary, program);
	for (const struct tool_command *c = commands; c->name; c++)
		width = (int)strlen(c->name) > width ? (int)strlen(c->name) : width;
	for (const struct tool_command *c = commands; c->name; c++)
		fprintf(f, "  %-*s  %s\n", width, c->name, c->summary);
	fprintf(f, "\n'%s COMMAND --help' tells the options, man %s the rest.\n", program, program);
}

int tool_main(int argc, char **argv, const char *program, const char *summary,
	      const struct tool_command *commands)
{
	tool_name = program;
	if (argc < 2) {
		usage(stderr, program, summary, commands);
		return TOOL_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		usage(stdout, program, summary, commands);
		return finish(TOOL_OK);
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("%s %s (%s)\n", program, ww_version(), ww_features());
		return finish(TOOL_OK);
	}
	if (ww_abi() != WW_ABI) {
		tool_say("this program needs libwakewatt with interface %d, found %d (version %s)",
			 WW_ABI, ww_abi(), ww_version());
		return TOOL_FAILED;
	}
	for (const struct tool_command *c = commands; c->name; c++) {
		if (strcmp(argv[1], c->name) != 0)
			continue;
		snprintf(name_buffer, sizeof(name_buffer), "%s %s", program, c->name);
		tool_name = name_buffer;
		opterr = 0;
		return finish(c->run(argc - 1, argv + 1));
	}
	return tool_usage_error("no command '%s'", argv[1]);
}

static void say(const char *fmt, va_list ap)
{
	if (tool_line_open)
		fputs("\r\033[K", stderr);
	tool_line_open = false;
	said = true;
	fprintf(stderr, "%s: ", tool_name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void tool_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

int tool_usage_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fprintf(stderr, "'%s --help' tells how it is used.\n", tool_name);
	return TOOL_USAGE;
}

int tool_fail(const struct ww_error *err)
{
	tool_say("%s", err->text[0] ? err->text : strerror(err->code ? -err->code : EIO));
	return TOOL_FAILED;
}

int tool_refused(const struct ww_error *err)
{
	int rc = tool_fail(err);

	return err->code == -EINVAL ? TOOL_USAGE : rc;
}

int tool_bad_option(int c, char **argv)
{
	const char *word = argv[optind - 1];

	if (c == ':')
		return tool_usage_error("option '%s' needs a value", word);
	if (optopt && word[0] == '-' && word[1] != '-')
		return tool_usage_error("unknown option '-%c'", optopt);
	return tool_usage_error("unknown option '%s'", word);
}

/* How files of other programs are taken, as the command line says. */
static struct ww_import_options import = {.size = sizeof(import)};

static bool read_positive(const char *text, double *v)
{
	char *end;

	*v = strtod(text, &end);
	return end != text && *end == '\0' && *v > 0 && *v < 1e10;
}

/* One digit or two. @return how many */
static int two_digits(const char *p, int *v)
{
	int n = 0;

	for (*v = 0; n < 2 && p[n] >= '0' && p[n] <= '9'; n++)
		*v = *v * 10 + (p[n] - '0');
	return n;
}

/* "Z", "+1", "+01:00", "-0330" */
static bool read_zone(const char *text, int32_t *offset_s)
{
	int hours, minutes = 0, n;
	const char *p = text + 1;

	if (strcmp(text, "Z") == 0 || strcmp(text, "UTC") == 0) {
		*offset_s = 0;
		return true;
	}
	if (*text != '+' && *text != '-')
		return false;
	n = two_digits(p, &hours);
	p += n;
	if (n && *p) {
		p += *p == ':';
		n = two_digits(p, &minutes);
		p += n;
	}
	if (n == 0 || *p || hours > 14 || minutes > 59)
		return false;
	*offset_s = (hours * 60 + minutes) * (*text == '-' ? -60 : 60);
	return true;
}

int tool_import_option(int c)
{
	switch (c) {
	case TOOL_IMPORT_RATE:
		if (read_positive(optarg, &import.rate_hz))
			return 1;
		tool_usage_error("--rate '%s': rows a second, as 1 or 2000", optarg);
		return -1;
	case TOOL_IMPORT_RESOLUTION:
		if (read_positive(optarg, &import.resolution))
			return 1;
		tool_usage_error("--resolution '%s': a step in W, as 0.1", optarg);
		return -1;
	case TOOL_IMPORT_COLUMNS:
		import.columns = optarg;
		return 1;
	case TOOL_IMPORT_FORMAT:
		import.format = optarg;
		return 1;
	case TOOL_IMPORT_ZONE:
		import.has_offset = 1;
		if (read_zone(optarg, &import.offset_s))
			return 1;
		tool_usage_error("--zone '%s': an offset from UTC, as +01:00 or Z", optarg);
		return -1;
	default:
		return 0;
	}
}

void tool_say_import(const struct ww_trace *t)
{
	/* A trace that was stored has said it when it was. */
	for (size_t i = 0; !ww_trace_meta(t, "state") && ww_import_note(t, i); i++)
		fprintf(stderr, "%s: %s: %s\n", tool_name, ww_trace_path(t), ww_import_note(t, i));
}

int tool_open_trace(const char *path, struct ww_trace **out)
{
	struct ww_error err = {0};
	int rc = ww_import_open(path, &import, out, &err);

	if (rc < 0)
		return tool_fail(&err);
	if (strcmp(path, "-") != 0)
		return 0;
	while (ww_trace_state(*out) == WW_TRACE_LIVE && (rc = ww_trace_refresh(*out, &err)) >= 0) {
		struct pollfd p = {.fd = ww_trace_fd(*out), .events = POLLIN};

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
	}
	if (rc < 0) {
		/* What came before a broken end of a stream is still worth a report. */
		tool_say("%s", err.text);
		if (ww_trace_source_count(*out) == 0) {
			ww_trace_close(*out);
			*out = NULL;
			return TOOL_FAILED;
		}
		tool_say("what follows is of the part before that");
		tool_partial = true;
	}
	return 0;
}

int tool_print(char *text)
{
	size_t n = strlen(text);
	bool bad = fwrite(text, 1, n, stdout) != n || fflush(stdout) != 0;

	ww_free(text);
	if (!bad)
		return TOOL_OK;
	tool_say("standard output: %s", strerror(errno));
	return TOOL_FAILED;
}

const char *tool_one_file(int argc, char **argv)
{
	if (argc - optind == 1)
		return argv[optind];
	if (argc == optind)
		tool_usage_error("name a trace, or - for standard input");
	else
		tool_usage_error("one trace at a time, not also '%s'", argv[optind + 1]);
	return NULL;
}

char *tool_command_line(int argc, char **argv)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+=./,:@%^";
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	/* argv[0] is the subcommand; the program's name is the first word of ours. */
	fprintf(f, "%.*s", (int)strcspn(tool_name, " "), tool_name);
	for (int i = 0; i < argc; i++) {
		const char *a = argv[i];

		fputc(' ', f);
		if (*a && strspn(a, safe) == strlen(a)) {
			fputs(a, f);
			continue;
		}
		fputc('\'', f);
		for (; *a; a++)
			fputs(*a == '\'' ? "'\\''" : (char[]){*a, '\0'}, f);
		fputc('\'', f);
	}
	fclose(f);
	return text;
}

int tool_signals(bool stops)
{
	static const int which[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT};
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	for (size_t i = 0; i < (stops ? 6 : 4); i++)
		sigaddset(&set, which[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

unsigned long tool_whole(const char *text, unsigned long most)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && v <= most ? v : 0;
}
