/* SPDX-License-Identifier: MIT */
/* What the programs share. They use the public header only. */
#ifndef TOOLS_COMMON_H
#define TOOLS_COMMON_H

#include <wakewatt.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit status, as documented: done, failed, wrong use. */
enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

/* "pwrlog record", for messages. */
extern const char *tool_name;
/* A stream broke off: its report is printed, but the exit status is TOOL_FAILED. */
extern bool tool_partial;
/* The terminal's cursor is behind a live line: the next sentence wipes it first. */
extern bool tool_line_open;

struct tool_command {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name */
	const char *summary;
};

/* Main of a program with subcommands; the table ends with a NULL name. */
int tool_main(int argc, char **argv, const char *program, const char *summary,
	      const struct tool_command *commands);

/* Says what is wrong on stderr and how to get help. @return TOOL_USAGE */
int tool_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints an error of the library on stderr. @return TOOL_FAILED */
int tool_fail(const struct ww_error *err);
/* The same before anything was done. @return TOOL_USAGE where what was asked cannot be meant */
int tool_refused(const struct ww_error *err);
/* A sentence on stderr. */
/*
 * A descriptor that tells of the signals that end a program, which do nothing else from now
 * on; stops: of Ctrl-Z and the way back, too. SIGPIPE is ignored.
 */
int tool_signals(bool stops);
void tool_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * getopt_long met something wrong (opterr is 0): says what. ':' in front of the
 * short options tells a missing argument from an unknown option.
 */
int tool_bad_option(int c, char **argv);

/*
 * How files of other programs are taken, for every command that reads FILE: put
 * TOOL_IMPORT_OPTIONS into its list of long options, TOOL_IMPORT_HELP into its help
 * (TOOL_IMPORT_BASIC, TOOL_IMPORT_BASIC_HELP where --format means something else), and give every
 * option to tool_import_option() first; tool_open_trace() then knows.
 */
#define TOOL_IMPORT_BASIC                                                                          \
	{"rate", required_argument, NULL, TOOL_IMPORT_RATE},                                       \
		{"resolution", required_argument, NULL, TOOL_IMPORT_RESOLUTION},                   \
		{"columns", required_argument, NULL, TOOL_IMPORT_COLUMNS},                         \
	{                                                                                          \
		"zone", required_argument, NULL, TOOL_IMPORT_ZONE                                  \
	}
#define TOOL_IMPORT_OPTIONS                                                                        \
	TOOL_IMPORT_BASIC,                                                                         \
	{                                                                                          \
		"format", required_argument, NULL, TOOL_IMPORT_FORMAT                              \
	}
#define TOOL_IMPORT_BASIC_HELP                                                                     \
	"Where FILE is of another program (a table of values, a log):\n"                           \
	"  --rate HZ             rows a second, where the file tells no times\n"                   \
	"  --columns NAMES       what the columns are: time_s,W or s,V,A\n"                        \
	"  --zone +HH:MM         zone of local times; UTC otherwise\n"                             \
	"  --resolution X        smallest step of the readings, in W\n"
#define TOOL_IMPORT_HELP                                                                           \
	TOOL_IMPORT_BASIC_HELP                                                                     \
	"  --format NAME         not the format found by content; wwtrace import --list\n"
enum {
	TOOL_IMPORT_RATE = 0x1000,
	TOOL_IMPORT_RESOLUTION,
	TOOL_IMPORT_COLUMNS,
	TOOL_IMPORT_ZONE,
	TOOL_IMPORT_FORMAT
};
/* @return 1 taken (with optarg), 0 another option, -1 wrong, after it has said why */
int tool_import_option(int c);

/*
 * Open a trace, or a file of another program, for a report; a stream on standard input is
 * read to its end.
 * @return 0, or TOOL_FAILED after it has said why
 */
int tool_open_trace(const char *path, struct ww_trace **out);
/* What an import assumed, on stderr, where the command prints no notes that tell it. */
void tool_say_import(const struct ww_trace *t);
/* Text to stdout; a full disk or a closed pipe is an error. Frees it. */
int tool_print(char *text);
/* One operand, exactly. NULL after it has said what is wrong. */
const char *tool_one_file(int argc, char **argv);
/* The command line as one string, quoted for a shell; malloc'ed. */
char *tool_command_line(int argc, char **argv);

/* A whole number from 1 to most; 0: it is none. */
unsigned long tool_whole(const char *text, unsigned long most);

#endif
