/* SPDX-License-Identifier: MIT */
/* Lines from standard input while a live line is on the terminal. */
#ifndef TOOLS_KEYS_H
#define TOOLS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/* Longest line that is kept; what is longer is cut between characters, and said. */
#define KEYS_LINE 4095

struct keys {
	bool on;
	bool terminal; /* read only while the program is in the foreground */
	bool echo;     /* the terminal does not show what is typed: the live line does */
	bool ours;     /* its mode is set so at the moment */
	bool cut;
	int escape; /* inside a sequence of a function key */
	size_t n;
	char line[KEYS_LINE + 1];
	struct termios before;
	bool known; /* `before` holds the terminal's mode */
};

/*
 * wanted: also where standard input is a file. live: the terminal has a live line,
 * which shows what is typed in place of the terminal's own echo.
 */
void keys_open(struct keys *k, bool wanted, bool live);
/* Descriptor to poll, or -1: nothing is read now. */
int keys_fd(struct keys *k);
/*
 * Read what is there; hands over each whole line (NUL at its end), and the rest at
 * the end of the input. @return false at the end of the input
 */
bool keys_take(struct keys *k, void (*take)(void *ctx, char *line, bool cut), void *ctx);
/* Give the terminal back as it was. */
void keys_close(struct keys *k);
/* After the program stood still: others had the terminal. */
void keys_resumed(struct keys *k);

#endif
