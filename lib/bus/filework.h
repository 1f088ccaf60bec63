/* SPDX-License-Identifier: MIT */
/*
 * Files of one folder, read and written by a worker process: a chip that does not answer
 * holds that process and nobody else. What it wrote it puts back when we are gone, even
 * by a kill.
 */
#ifndef WW_BUS_FILEWORK_H
#define WW_BUS_FILEWORK_H

#include "bus/sysfs.h"
#include "bus/worker.h"

#define WW_FILES_ASK	4096  /* longest request */
#define WW_FILES_ANSWER 61440 /* longest answer */
#define WW_FILES_WAIT	8     /* requests that wait behind one that does not return */
#define WW_FILES_SLOW	(2 * WW_NS_PER_S)

/* What the worker answers with, before the text. */
struct ww_files_head {
	uint32_t seq;
	uint32_t gone; /* the folder is no more */
	int64_t lo_ns, hi_ns;
};

struct ww_files {
	struct ww_worker worker;
	char folder[WW_SYSFS_PATH];
	char *shared; /* name of the file that the worker is at */
	uint8_t *answer;
	uint32_t seq;
	struct {
		char *text;
		uint32_t seq;
		int64_t sent_ns; /* 0: not yet */
		bool told;	 /* that it is slow */
	} ask[WW_FILES_WAIT];
	size_t asks; /* the first is with the worker */
	bool wrote;
};

/* A zeroed *f; folder: an absolute path. */
int ww_files_start(struct ww_files *f, const char *folder, struct ww_error *err);
/*
 * Ask, as meter/meter.h says; what is asked already is not asked twice. Names lie in
 * the folder or one below it.
 */
int ww_files_ask(struct ww_files *f, const void *text, size_t n, int64_t now_ns,
		 struct ww_error *err);
/*
 * The next answer: its text (n bytes, lent until the next call), 1; 0 none there;
 * -EPIPE the worker is gone, -ENODEV the folder is.
 */
int ww_files_next(struct ww_files *f, int64_t now_ns, struct ww_files_head *head, const char **text,
		  size_t *n);
/* A file has not returned for WW_FILES_SLOW: its name, once; NULL none. */
const char *ww_files_slow(struct ww_files *f, int64_t now_ns, struct ww_interval *t);
void ww_files_end(struct ww_files *f);
struct ww_port;
/* All answers that are there to `answer`; what went wrong to the port's owner. */
void ww_files_pump(struct ww_port *p, struct ww_files *f, int64_t now_ns,
		   void (*answer)(struct ww_port *p, const struct ww_files_head *head,
				  const char *text, size_t n));
/*
 * What the folder holds, as ww_meter_ops.look wants it: names, and values of what
 * describes; a measured value is not read ("power1_input="). What does not come in 0.2 s
 * is "!ETIMEDOUT", and nothing after it is waited for. *out is malloc'd.
 */
int ww_files_list(struct ww_files *f, char **out, size_t *n, struct ww_error *err);

/* The worker's side, for the child. */
struct ww_files_child;
struct ww_files_child *ww_files_child_new(const char *folder, char *shared);
int ww_files_child_run(void *child, int fd);

#endif
