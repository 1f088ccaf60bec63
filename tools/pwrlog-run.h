/* SPDX-License-Identifier: MIT */
/* pwrlog run: what was asked for, its plan, and one command that runs. */
#ifndef TOOLS_PWRLOG_RUN_H
#define TOOLS_PWRLOG_RUN_H

#include "recording.h"

#include <pthread.h>
#include <sys/types.h>

#define RUN_SETS     8	/* commands, or variables that vary */
#define RUN_VARIANTS 64 /* of all together */

/* A command with the values of what varies put in. */
struct run_variant {
	char *label;
	char *text;	/* as it is told */
	char **argv;	/* ends with NULL */
	char **env;	/* environment of its own */
	uint32_t place; /* among all, from 1 */
};

struct run_options {
	const char *uri[RECORDING_SOURCES];
	size_t meters;
	const char *out, *from, *log, *per, *channel;
	const char *command[RUN_SETS]; /* --interleave */
	size_t commands;
	const char *vary[RUN_SETS]; /* name=a,b */
	size_t varied;
	uint32_t n, repeat, warmup;
	int64_t baseline_ns, settle_ns; /* -1: default */
	int64_t every_ns;
	bool shuffle, ignore_failure, no_realtime;
	uint64_t seed;
	int form;
	char **argv; /* the command after -- */
};

struct run_plan {
	struct run_variant variant[RUN_VARIANTS];
	size_t variants;
};

/* All variants. @return 0, or TOOL_USAGE after it has said why */
int run_plan_make(struct run_plan *p, const struct run_options *o);
void run_plan_free(struct run_plan *p);
/* Which variant runs as the i-th of round k (from 0): ABBA, or drawn by lot. */
void run_plan_round(const struct run_plan *p, const struct run_options *o, uint32_t k,
		    size_t *order);

/* Reads what the command prints, in a thread that may wait for whoever reads it. */
struct run_tee {
	int from, to, stop_fd;
	struct ww_work *work;
	pthread_t thread;
	bool running;
};
/* @return descriptor for the command to write to, or -1 */
int run_tee_open(struct run_tee *t, int to, struct ww_work *work);
/* All was read. Never waits. */
bool run_tee_done(struct run_tee *t);
/* What still holds it open is not waited for. */
void run_tee_close(struct run_tee *t);

/* A command that runs. */
struct run_child {
	pid_t pid; /* 0: none */
	int pid_fd;
	bool group; /* leads a process group of its own */
	struct ww_interval start, end;
	int64_t alive_ns; /* it still ran then */
	int status;	  /* as waitpid() gives it */
	double cpu_s;
};
/* @return 0, or an errno: it could not be started */
int run_child_start(struct run_child *c, const struct run_variant *v, int out_fd);
/* Milliseconds after which to look again, so that its end is known to a thousandth. */
int run_child_wait_ms(const struct run_child *c, int64_t now);
/* @return true: it has ended */
bool run_child_ended(struct run_child *c);
void run_child_signal(const struct run_child *c, int sig);

/* Everything, from the first baseline to the last; how many runs there were. @return exit status */
int run_all(struct recording *r, const struct run_options *o, const struct run_plan *p,
	    uint32_t *runs);

#endif
