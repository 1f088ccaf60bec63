/* SPDX-License-Identifier: MIT */
/* A typed line becomes a mark, or a reading of a meter that has only a display. */
#ifndef TOOLS_TYPED_H
#define TOOLS_TYPED_H

#include "recording.h"

/* ctx: a struct recording. cut: the line was longer than what is kept. */
void typed_take(void *ctx, char *line, bool cut);
/* How to say which meter is meant, where several are typed. */
void typed_say_several(const struct recording *r);

#endif
