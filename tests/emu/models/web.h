/* SPDX-License-Identifier: MIT */
/* What models of plugs with a web server have in common. Times and faults, no protocol. */
#ifndef EMU_WEB_H
#define EMU_WEB_H

#include "faults.h"

#define WEB_FAULTS                                                                                 \
	"slow silent 401 500 html truncated empty huge deep nan strings repeats low spike reset"

struct web {
	struct emu_setup s; /* first: its load may be changed from outside */
	bool begun;
	int64_t t0_ns;	 /* first request: its clock begins */
	int64_t last_ns; /* last one, when the register held wh */
	double wh;
};

int web_init(struct web *w, const struct emu_setup *s, const char *faults);
static inline bool web_fault(const struct web *w, const char *word)
{
	return emu_fault(&w->s, word);
}

void web_request(struct web *w, int64_t now_ns);
/* volts, amps, watts, Wh at now_ns: the truth. */
void web_truth(const struct web *w, int64_t now_ns, double out[4]);
/* The same as the plug shows it: as it was at its last refresh, with what its chip gets wrong. */
void web_shown(const struct web *w, int64_t now_ns, double out[4]);
/* "200\nbody", late and broken as the faults say. */
void web_answer(struct web *w, int64_t now_ns, const struct emu_out *out, int status,
		const char *body);
/* Path of a request without its method, escapes decoded; *post: its body, NULL none. */
void web_path(const uint8_t *p, size_t n, char *path, size_t size, char *post, size_t post_size);

#endif
