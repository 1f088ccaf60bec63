/* SPDX-License-Identifier: MIT */
/*
 * Inside of the reader of trace-cmd's files (trace-cmd.dat.v6(5), .v7(5)): the container, what
 * it says of events and symbols, the pages of the kernel's ring buffer, and a line of text for
 * each record. Whatever a file holds: nothing is believed before it was checked, and memory
 * has a bound.
 */
#ifndef WW_IMPORT_DAT_H
#define WW_IMPORT_DAT_H

#include "base/base.h"
#include "base/str.h"
#include "text/textin.h"

#define WW_DAT_FIELDS 64
#define WW_DAT_SLOTS  6

struct ww_dat_field {
	const char *name; /* in the event's text */
	uint8_t name_n, size;
	uint16_t offset;
	bool is_signed, is_string, is_pointer;
	uint8_t loc;	/* 1: a __data_loc, 2: a __rel_loc */
	uint16_t array; /* bytes of a fixed array, 0 none */
};

struct ww_dat_event {
	char *text; /* its format file */
	const char *name;
	uint16_t name_n, id, fields;
	/* datline.c: what it is, and 1 + the index of each field that its line needs. */
	uint8_t kind, slot[WW_DAT_SLOTS];
	bool needs_names; /* of functions */
	struct ww_dat_field *field;
};

struct ww_dat_symbol {
	uint64_t addr;
	uint32_t at, n; /* in the text */
};

/* Numbers with names: lines of a text. */
struct ww_dat_table {
	char *text;
	size_t text_n;
	struct ww_dat_symbol *sym; /* sorted */
	size_t n;
	bool loaded;
};

/* Bytes: of the file, or of a section that was unpacked. */
struct ww_dat_cursor {
	const struct ww_dat *d;
	const uint8_t *mem; /* NULL: the file's */
	uint8_t *owned;
	uint64_t at, end;
	bool bad, nomem;
};

struct ww_dat_cpu {
	uint32_t cpu;
	uint32_t page_size;
	uint64_t at, end; /* of its data in the file */
	bool packed;
	uint32_t chunks_left;
	uint8_t *chunk; /* unpacked */
	size_t chunk_at, chunk_n;
	uint8_t *page;
	size_t pos, commit; /* in the page; pos == commit: the next page */
	uint64_t ts;	    /* of the last event */
	int64_t lost;	    /* before the next record; -1: some */
	/* The next record, data == NULL: no more. */
	const uint8_t *data;
	size_t data_n;
	uint64_t data_ts;
	int64_t data_lost;
};

enum ww_dat_packing { WW_DAT_PLAIN, WW_DAT_ZLIB, WW_DAT_ZSTD };

struct ww_dat {
	char *name;
	int fd;
	bool owned, big;
	uint64_t size;
	int version, packing;
	uint32_t page_size;
	uint32_t commit_at, commit_size, data_at; /* of a page */
	struct ww_dat_event *event;
	size_t events, event_cap;
	uint32_t *by_id; /* [65536] 1 + index; 0 none */
	struct ww_dat_table printk, comm, syms;
	uint64_t syms_at; /* v6: of the data in the file; v7: of the section */
	uint32_t syms_n;  /* v6 */
	struct ww_dat_cpu *cpu;
	size_t cpus;
	char clock[32];
	uint32_t tsc_mult, tsc_shift;
	uint64_t text_at; /* v6 of a latency tracer: text from here on */
	/* What was spent of what a file may cost. */
	uint64_t format_bytes, cpu_bytes, chunk_bytes;
	unsigned sections;
};

/* datcur.c */
uint64_t ww_dat_num(const struct ww_dat *d, const uint8_t *p, unsigned bytes);
struct ww_dat_cursor ww_dat_at(const struct ww_dat *d, uint64_t at);
bool ww_dat_get(struct ww_dat_cursor *c, void *to, size_t n);
uint64_t ww_dat_read(struct ww_dat_cursor *c, unsigned bytes);
/* A terminated string; longer ones are bad. */
bool ww_dat_string(struct ww_dat_cursor *c, char *to, size_t cap);
/* n bytes and a NUL behind, to be freed; NULL: bad, or more than `most`. */
char *ww_dat_blob(struct ww_dat_cursor *c, uint64_t n, uint64_t most);
void ww_dat_skip(struct ww_dat_cursor *c, uint64_t n);
void ww_dat_close(struct ww_dat_cursor *c);
/* Unpacks src into exactly n bytes. */
int ww_dat_unpack(const struct ww_dat *d, const uint8_t *src, size_t src_n, uint8_t *to, size_t n,
		  struct ww_error *err);
int ww_dat_broken(const struct ww_dat *d, const char *what, struct ww_error *err);
/* After ww_dat_blob() gave nothing. */
int ww_dat_no_blob(const struct ww_dat_cursor *c, const char *what, struct ww_error *err);

/* datfile.c: fd is taken where `owned`, in any case. */
int ww_dat_open(const char *name, int fd, bool owned, struct ww_dat **out, struct ww_error *err);
void ww_dat_free(struct ww_dat *d);

/* datmeta.c */
int ww_dat_header_page(struct ww_dat *d, const char *text, struct ww_error *err);
/* Takes the text. */
int ww_dat_format(struct ww_dat *d, char *text, struct ww_error *err);
/* Lines "0xADDR : "TEXT"", "PID COMM", "ADDR T NAME": takes the text. */
int ww_dat_table(struct ww_dat_table *t, char *text, size_t n, int base, struct ww_error *err);
/* exact, or the last one at or before the address; NULL none */
const struct ww_dat_symbol *ww_dat_find(const struct ww_dat_table *t, uint64_t v, bool exact);

/* datring.c: the first, and each next, record of a CPU. */
int ww_dat_next(struct ww_dat *d, struct ww_dat_cpu *c, struct ww_error *err);
/* ns of the trace's clock. @return false: of a clock that counts */
bool ww_dat_ns(const struct ww_dat *d, uint64_t ts, uint64_t *ns);

/* datline.c */
/* Once its fields are known. */
void ww_dat_kind(struct ww_dat_event *e);
/* Names of functions, once a record needs one. */
int ww_dat_symbols(struct ww_dat *d, struct ww_error *err);
/* Adds the line of c's record. */
int ww_dat_line(struct ww_dat *d, const struct ww_dat_cpu *c, struct ww_str *s,
		struct ww_error *err);

/* dattext.c: its lines as text. fd as above. */
int ww_dat_text(const char *name, int fd, bool owned, struct ww_text **out, struct ww_error *err);
bool ww_dat_looks(const uint8_t *p, size_t n);

#endif
