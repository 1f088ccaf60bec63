/* SPDX-License-Identifier: MIT */
/*
 * Models of meters, written from their fact sheets and never from the drivers. A
 * model is a pure state machine like a driver, seen from the other side: what the
 * host sends goes in, what the meter answers comes out at a time. The unit tests
 * run it in virtual time (meterbench.h), wwemu serves it on a pseudo-terminal, a
 * socket or as a web server, and the virtual machine as a USB device.
 *
 * Models include nothing of lib/.
 */
#ifndef EMU_H
#define EMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_NEVER INT64_MAX
#define EMU_MS	  INT64_C(1000000)
#define EMU_S	  INT64_C(1000000000)

/* How it is wired; what a message is stands in lib/meter/meter.h. */
enum emu_wire { EMU_STREAM, EMU_PACKETS, EMU_HID, EMU_TMC, EMU_HTTP };

/* The load it measures, and what is wrong with it. */
struct emu_setup {
	double volts, amps, pf, hz; /* power is volts * amps * pf */
	double wh;		    /* in its register when it is switched on */
	double amps_per_s;	    /* the load grows; 0 steady */
	const char *fault;	    /* of the model's own list; NULL or "" none */
	const char *serial;	    /* NULL: the model's own */
	unsigned address;	    /* Modbus; 0: 1 */
	uint32_t seed;		    /* of faults that come at random */
};

struct emu_out {
	void *ctx;
	/* n bytes (one message) leave the meter at at_ns >= now; calls are in order of time. */
	void (*send)(void *ctx, int64_t at_ns, const void *p, size_t n);
	/* The meter closes the connection at at_ns, after what it has sent. May be NULL. */
	void (*hangup)(void *ctx, int64_t at_ns);
};

struct emu_usb {
	uint16_t vid, pid;
	const char *maker, *product, *serial;
	uint8_t interface;     /* number of its interface; lower ones are there, and useless */
	uint8_t class_;	       /* 0xff vendor, 3 HID, 0xfe test and measurement */
	uint8_t ep_in, ep_out; /* 0x81, 0x01 */
	uint8_t bulk;	       /* 1: bulk, 0: interrupt */
	uint16_t packet;       /* largest */
};

struct emu_model {
	const char *name;   /* as the driver's: "pzem004t" */
	const char *faults; /* "crc silent slow ...", for --help and for tests that try them all */
	enum emu_wire wire;
	struct emu_usb usb; /* vid 0: none */
	long baud;	    /* of its line; 0: no pace */
	size_t state_size;
	/*
	 * state is zeroed memory. 0, or -1: no such fault. A state that begins with a copy of
	 * *s has its load changed there by wwemu; others are made anew when the load changes.
	 */
	int (*init)(void *state, const struct emu_setup *s);
	/* The host has sent this. On EMU_HTTP: "GET /path" or "POST /path\nbody"; the answer
	 * is sent as "200\nbody". */
	void (*host)(void *state, int64_t now_ns, const uint8_t *p, size_t n,
		     const struct emu_out *out);
	/* When tick() wants to be called; EMU_NEVER. May be NULL with tick. */
	int64_t (*due)(const void *state);
	void (*tick)(void *state, int64_t now_ns, const struct emu_out *out);
	/* What it measures at now_ns, for tests: volts, amps, watts, register in Wh. */
	void (*truth)(const void *state, int64_t now_ns, double out[4]);
	/* A new connection (EMU_HTTP: none). What of the last one is half done is forgotten. May
	 * be NULL. */
	void (*opened)(void *state, int64_t now_ns);
};

/* Every model there is; ends with NULL. */
extern const struct emu_model *const emu_models[];
const struct emu_model *emu_find(const char *name);
/* The load of a setup at now_ns. */
double emu_amps(const struct emu_setup *s, int64_t now_ns);
double emu_watts(const struct emu_setup *s, int64_t now_ns);
/* 0..2^32-1, from *seed. */
uint32_t emu_random(uint32_t *seed);
/* Does `list`, words with blanks between them, hold `word`? */
bool emu_has(const char *list, const char *word);

#endif
