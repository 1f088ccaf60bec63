/* SPDX-License-Identifier: MIT */
#include "keys.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ESC 0x1b

void keys_open(struct keys *k, bool wanted, bool live)
{
	struct stat st;

	memset(k, 0, sizeof(*k));
	k->terminal = isatty(STDIN_FILENO) != 0;
	k->echo = k->terminal && live;
	/* Marks come from a terminal or a pipe; a file or /dev/null is somebody else's. */
	k->on = k->terminal || wanted ||
		(fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)));
}

/* Characters one by one and without echo; Ctrl-C and Ctrl-Z still make signals. */
static void set_mode(struct keys *k)
{
	struct termios t;

	if (!k->known && tcgetattr(STDIN_FILENO, &k->before) < 0)
		return;
	k->known = true;
	t = k->before;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | IEXTEN);
	/* A terminal that stands still after Ctrl-S would hold up the recording. */
	t.c_iflag &= ~(tcflag_t)IXON;
	t.c_iflag |= ICRNL;
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	k->ours = tcsetattr(STDIN_FILENO, TCSADRAIN, &t) == 0;
}

int keys_fd(struct keys *k)
{
	if (!k->on)
		return -1;
	if (!k->terminal)
		return STDIN_FILENO;
	if (tcgetpgrp(STDIN_FILENO) != getpgrp()) {
		k->ours = false;
		return -1;
	}
	if (k->echo && !k->ours)
		set_mode(k);
	return STDIN_FILENO;
}

void keys_close(struct keys *k)
{
	if (k->ours && tcgetpgrp(STDIN_FILENO) == getpgrp())
		tcsetattr(STDIN_FILENO, TCSADRAIN, &k->before);
	k->ours = false;
}

void keys_resumed(struct keys *k)
{
	k->ours = false;
}

static bool inside_char(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static void rub_out(struct keys *k)
{
	while (k->n > 0 && inside_char(k->line[k->n - 1]))
		k->n--;
	if (k->n > 0)
		k->n--;
}

static void rub_out_word(struct keys *k)
{
	while (k->n > 0 && k->line[k->n - 1] == ' ')
		k->n--;
	while (k->n > 0 && k->line[k->n - 1] != ' ')
		k->n--;
}

/* A line that was cut ends with a whole character. */
static void end_whole(struct keys *k)
{
	size_t at = k->n, need;
	unsigned char lead;

	while (at > 0 && inside_char(k->line[at - 1]))
		at--;
	if (at == 0)
		return;
	lead = (unsigned char)k->line[--at];
	need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
	if (k->n - at < need)
		k->n = at;
}

static void add(struct keys *k, char c)
{
	if (k->n < KEYS_LINE && !k->cut) {
		k->line[k->n++] = c;
		return;
	}
	if (!k->cut)
		end_whole(k);
	k->cut = true;
}

/* A label is printed again: no sequences for a terminal in it. */
static void add_plain(struct keys *k, char c)
{
	if (c == '\t')
		add(k, ' ');
	else if ((unsigned char)c >= ' ' && c != 0x7f)
		add(k, c);
}

static bool is_key(const struct keys *k, int which, char c)
{
	return k->before.c_cc[which] != 0 && (unsigned char)c == k->before.c_cc[which];
}

/* Function keys send ESC [ ... letter; none of them means anything here. */
static bool in_escape(struct keys *k, char c)
{
	if (k->escape == 0) {
		k->escape = c == ESC;
		return k->escape != 0;
	}
	if (k->escape == 1)
		k->escape = c == '[' || c == 'O' ? 2 : 0;
	else if (c >= 0x40 && c <= 0x7e)
		k->escape = 0;
	return true;
}

/* One key of a terminal that does not edit lines itself. @return false: Ctrl-D */
static bool edit(struct keys *k, char c)
{
	if (in_escape(k, c))
		return true;
	if (is_key(k, VERASE, c) || c == 0x7f || c == '\b') {
		rub_out(k);
		k->cut = false;
	} else if (is_key(k, VKILL, c)) {
		k->n = 0;
		k->cut = false;
	} else if (is_key(k, VWERASE, c)) {
		rub_out_word(k);
		k->cut = false;
	} else if (is_key(k, VEOF, c)) {
		return k->n > 0;
	} else {
		add_plain(k, c);
	}
	return true;
}

static void hand_over(struct keys *k, void (*take)(void *ctx, char *line, bool cut), void *ctx)
{
	bool cut = k->cut;

	k->line[k->n] = '\0';
	k->n = 0;
	k->cut = false;
	k->escape = 0;
	take(ctx, k->line, cut);
}

bool keys_take(struct keys *k, void (*take)(void *ctx, char *line, bool cut), void *ctx)
{
	char buf[1024];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));
	bool more = n > 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	for (ssize_t i = 0; i < n && more; i++) {
		if (buf[i] == '\n')
			hand_over(k, take, ctx);
		else if (!k->ours)
			add_plain(k, buf[i]);
		else
			more = edit(k, buf[i]);
	}
	if (more)
		return true;
	hand_over(k, take, ctx);
	k->on = false;
	return false;
}
