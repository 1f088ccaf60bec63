/* SPDX-License-Identifier: MIT */
/* Inside a loopback: loopback.c sends and matches, loopback_figures.c makes figures. */
#ifndef WW_LOOPBACK_H
#define WW_LOOPBACK_H

#include "bus/loop.h"
#include "bus/portimpl.h"
#include "base/notes.h"

#define WW_LB_ROUND   24     /* bytes sent at once, at most */
#define WW_LB_FOREIGN 120    /* bytes of somebody else that are kept */
#define WW_LB_CHUNKS  4096   /* reads of the stream that are kept */
#define WW_LB_MOST    100000 /* bytes, at most */

enum ww_lb_phase { WW_LB_LISTEN, WW_LB_PROBE, WW_LB_ROUNDS, WW_LB_STREAM, WW_LB_DONE };

/* A byte that came back, with all that is known of it, in ns. */
struct ww_lb_byte {
	struct ww_interval said;   /* as a recording would have it */
	struct ww_interval truth;  /* end of the byte on the line */
	int64_t empty_ns, done_ns; /* last look that found nothing; the one that found it */
};

struct ww_loopback {
	struct ww_loop *loop;
	struct ww_port *port;
	struct ww_timer *timer;
	struct ww_line line;
	char *uri;
	uint32_t want, echo;
	enum ww_lb_phase phase;
	bool paced;		  /* the line has a pace, and a way that is worth measuring */
	int64_t char_lo, char_hi; /* bounds of a character's time; 0: none */
	uint64_t random;
	struct ww_error err;

	/* the bytes on their way */
	uint8_t sent[WW_LB_ROUND];
	struct ww_lb_byte back[WW_LB_ROUND];
	bool came[WW_LB_ROUND];
	size_t n_sent, next, n_back;
	int64_t before_ns, after_ns; /* round the write */
	int64_t gone_ns;	     /* when the last one was seen to have left; 0 not yet */
	int64_t deadline_ns;
	unsigned silent; /* rounds in a row of which nothing came back */

	/* the stream */
	size_t stream_n, stream_back, chunks;
	size_t stream_at; /* of them: the next one that is expected */
	uint8_t stream_last;
	bool stream_bad; /* it did not fit */
	struct {
		int64_t t_ns;
		uint64_t n;
	} chunk[WW_LB_CHUNKS];

	/* results */
	struct ww_lb_byte *byte; /* [want] */
	size_t bytes;
	uint64_t total, back_total, wrong;
	char foreign[WW_LB_FOREIGN];
	size_t n_foreign;
	uint64_t foreign_total, foreign_before; /* the round */
	struct ww_loopback_result result;
	/* For later recordings. */
	int64_t need_min_ns, need_max_ns;
	struct ww_notes notes;
};

/* Everything is back: figures and notes. */
int ww_loopback_figures(struct ww_loopback *l, struct ww_error *err);

#endif
