/* SPDX-License-Identifier: MIT */
/*
 * Instruments that speak SCPI, for any driver: lines on a stream or messages of USB test
 * and measurement, one query in flight, answers that come too late kept apart from those
 * to the next query, values that are none. Pure, like the drivers that use it.
 */
#ifndef WW_METER_SCPI_H
#define WW_METER_SCPI_H

#include "meter/meter.h"

#define WW_SCPI_LINE 1024
#define WW_SCPI_SENT 192

enum ww_scpi_event {
	WW_SCPI_NONE,
	WW_SCPI_ANSWER, /* line[] */
	WW_SCPI_BAD,	/* something that is no text of an instrument */
	WW_SCPI_SILENT	/* no answer in time */
};

struct ww_scpi {
	bool message; /* a feed() is a whole answer */
	int64_t patience_ns;
	bool steady;	  /* the same is asked again and again: a quick answer is expected */
	int64_t hold_ns;  /* for so long the instrument itself may wait */
	bool missed;	  /* the last one did not come: waited for longer */
	int64_t waits_ns; /* for the answer to this query */
	bool waiting;
	int64_t asked_ns, limit_ns;
	int64_t lapsed_ns;	   /* until when an answer that was given up may still come */
	int64_t quiet_ns;	   /* nothing is asked before this */
	int64_t most_ns;	   /* nor is silence waited for longer than this */
	int64_t rtt_ns;		   /* longest time that an answer took */
	char sent[WW_SCPI_SENT];   /* the query */
	char before[WW_SCPI_SENT]; /* a command whose echo may come; "" none */
	char line[WW_SCPI_LINE];   /* NUL-terminated with ANSWER */
	size_t n;
	bool echoes;	      /* what is said comes back, too */
	bool over;	      /* too long: dropped up to its end */
	struct ww_interval t; /* of its first byte */
	uint64_t heard;	      /* bytes since the query */
	unsigned stray;	      /* lines that nobody asked for */
	char told[48];	      /* beginning of what was no answer */
};

void ww_scpi_init(struct ww_scpi *s, bool message);
/* A command or a query; a query has a '?' in it, and waits. */
void ww_scpi_say(struct ww_scpi *s, const char *text, int64_t now_ns,
		 const struct ww_meter_out *out);
/* May a query be sent now, or is an answer, or the silence after a bad one, waited for? */
static inline bool ww_scpi_free(const struct ww_scpi *s, int64_t now_ns)
{
	return !s->waiting && now_ns >= s->quiet_ns;
}
enum ww_scpi_event ww_scpi_feed(struct ww_scpi *s, struct ww_interval t, const uint8_t *p,
				size_t n);
int64_t ww_scpi_deadline(const struct ww_scpi *s);
enum ww_scpi_event ww_scpi_tick(struct ww_scpi *s, int64_t now_ns);
/* What came instead of an answer, as half a sentence. */
void ww_scpi_why(const struct ww_scpi *s, char *text, size_t n);

/* The parts of an answer between `sep`, without blanks and a header ":NUM:NORM:NUMB 8". */
size_t ww_scpi_split(char *text, char sep, char **part, size_t most);
/* false: no number. NaN and infinities as they are told: NAN, INF, 9.91E37, 9.9E37. */
bool ww_scpi_number(const char *text, double *v);
/*
 * The value of the last digit of a number as it stands there, where that is more than
 * *coarsest: digits depend on the range. True if it was.
 */
bool ww_scpi_digit(const char *text, double *coarsest);
/* The code of a value in steps of `scale`; WW_MISSING, WW_OVER or WW_UNDER. */
int64_t ww_scpi_code(const char *text, double scale);

/* "MAKER,MODEL,SERIAL,FIRMWARE" */
struct ww_scpi_idn {
	char maker[32], model[32], serial[32], firmware[32];
};
bool ww_scpi_idn(const char *line, struct ww_scpi_idn *out);

#endif
