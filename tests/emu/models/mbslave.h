/* SPDX-License-Identifier: MIT */
/*
 * The line side of a Modbus RTU slave, shared by models: frames end with 3.5 characters
 * of silence, bad or foreign frames get no answer, nothing is heard while it answers.
 * Bytes of the host take their time on the wire.
 */
#ifndef MBSLAVE_H
#define MBSLAVE_H

#include "../emu.h"

#define MB_FRAME 256

/* Faults of the line that any slave may have; each is one word of emu_setup.fault. */
#define MB_FAULTS                                                                                  \
	"crc silent mute exception slow late noise short another wrongfn echo halfduplex babble "  \
	"drop sluggish"

struct mb_slave {
	struct emu_setup s;
	uint8_t address;
	uint8_t general; /* answered as well; 0: none */
	int64_t char_ns;
	int64_t turn_ns;      /* from the end of the request to the answer */
	int64_t turn_more_ns; /* by chance up to so much longer */
	bool born;
	int64_t born_ns;  /* first byte of the host */
	int64_t heard_ns; /* end of the last character from the host */
	int64_t idle_ns;  /* silence before the frame at hand */
	uint8_t in[MB_FRAME];
	size_t n;
	bool spoilt; /* the frame at hand is too long, or began during an answer */
	uint8_t rep[MB_FRAME];
	size_t rep_n;
	int64_t rep_ns;	 /* when the answer leaves */
	int64_t free_ns; /* until when the line is busy with it */
	int64_t babble_ns;
	unsigned requests; /* that were for this slave */
};

/*
 * What the meter does with a request: req[0] is the function, n bytes without address and
 * CRC. The answer goes to rep (rep[0] the function); its length, 0: stays silent.
 */
typedef size_t mb_answer(void *ctx, int64_t now_ns, const uint8_t *req, size_t n, uint8_t *rep);

uint16_t mb_crc(const uint8_t *p, size_t n);
void mb_slave_init(struct mb_slave *m, const struct emu_setup *s, long baud, int64_t turn_ns,
		   int64_t turn_more_ns);
bool mb_slave_fault(const struct mb_slave *m, const char *name);
void mb_slave_host(struct mb_slave *m, int64_t now_ns, const uint8_t *p, size_t n,
		   const struct emu_out *out);
int64_t mb_slave_due(const struct mb_slave *m);
void mb_slave_tick(struct mb_slave *m, int64_t now_ns, const struct emu_out *out, mb_answer *answer,
		   void *ctx);
size_t mb_exception(uint8_t *rep, uint8_t function, uint8_t code);

#endif
