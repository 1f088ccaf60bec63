/* SPDX-License-Identifier: MIT */
/* What power meters that speak SCPI have in common: Yokogawa's tree, and who copied it. */
#ifndef SCPI_H
#define SCPI_H

#include "faults.h"

#define SCPI_ITEMS 16
#define SCPI_LINE  1024
#define SCPI_OUT   8192

#define SCPI_FAULTS                                                                                \
	"mute silent slow nan inf over ranging hold headers nohead nowait norate refused cut "     \
	"garbage endless other echo stale drop"

struct scpi_kind {
	const char *maker, *model, *serial, *firmware;
	const char *end;  /* of an answer */
	bool message;	  /* a message is a whole command: USB test and measurement */
	bool engineering; /* 240.02E-03, else +2.4002E-01 */
	bool elements;	  /* items name an element: "U,1" */
	int64_t period_ns;
	int64_t answer_ns;
};

struct scpi {
	struct emu_setup s; /* first */
	const struct scpi_kind *kind;
	uint32_t seed;
	bool on, head, verb, as_float, filter, dead;
	int64_t on_ns; /* switched on */
	int64_t period_ns;
	int64_t rate_ns; /* since when this period is in force */
	int64_t seen;	 /* updates that the event register had told */
	unsigned waits;	 /* mask of :COMM:WAIT; 0 none */
	unsigned queries;
	unsigned number;
	uint8_t item[SCPI_ITEMS]; /* index of a function */
	char range[2][16];
	char errors[8][48];
	unsigned error_n;
	/* integrator */
	bool running, used;
	int64_t run_ns, ran_ns;
	double ran_wh;
	/* text that is not yet carried out */
	char line[SCPI_LINE];
	size_t line_n;
	char todo[SCPI_LINE];
	size_t todo_n;
	char path[64];
	char out[SCPI_OUT];
	size_t out_n;
	bool answered;
};

int scpi_init(struct scpi *m, const struct emu_setup *s, const struct scpi_kind *kind);
void scpi_host(struct scpi *m, int64_t now, const uint8_t *p, size_t n, const struct emu_out *out);
int64_t scpi_due(const struct scpi *m);
void scpi_tick(struct scpi *m, int64_t now, const struct emu_out *out);
void scpi_truth(const struct scpi *m, int64_t now, double out[4]);

/* Inside: scpi_values.c. The last whole update at `now`, counted; 0: none yet. */
bool scpi_has(const struct scpi *m, const char *fault);
int64_t scpi_updates(const struct scpi *m, int64_t now);
int scpi_function(const char *name); /* -1: none */
const char *scpi_function_name(int function, bool whole);
void scpi_add(struct scpi *m, const char *text);
void scpi_values(struct scpi *m, int64_t now);
void scpi_integrate(struct scpi *m, int64_t now, int order); /* 'S' start, 'T' stop, 'R' reset */

#endif
