/* SPDX-License-Identifier: MIT */
/* Parts of trace-cmd's container that versions 6 and 7 share. */
#ifndef WW_IMPORT_DATFILE_H
#define WW_IMPORT_DATFILE_H

#include "import/dat.h"

#define WW_DAT_CPUS    1024u
#define WW_DAT_OPTIONS 65536u

/* Options, and sections of version 7. */
enum {
	OPT_DONE = 0,
	OPT_BUFFER = 3,
	OPT_CLOCK = 4,
	OPT_TSC = 14,
	OPT_HEADER = 16,
	OPT_FTRACE = 17,
	OPT_EVENTS = 18,
	OPT_KALLSYMS = 19,
	OPT_PRINTK = 20,
	OPT_CMDLINES = 21,
	OPT_TEXT = 22
};

int ww_dat_read_header_info(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err);
int ww_dat_read_ftrace(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err);
int ww_dat_read_events(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err);
int ww_dat_read_table(struct ww_dat_cursor *c, struct ww_dat_table *t, int base, uint64_t n,
		      struct ww_error *err);
void ww_dat_set_clock(struct ww_dat *d, const char *text, size_t n);
void ww_dat_set_tsc(struct ww_dat *d, const uint8_t *p);
int ww_dat_add_cpu(struct ww_dat *d, uint32_t number, uint32_t page_size, uint64_t at, uint64_t n,
		   bool packed, struct ww_error *err);
/* datfile7.c */
int ww_dat_version7(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err);

#endif
