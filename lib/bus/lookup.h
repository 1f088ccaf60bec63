/* SPDX-License-Identifier: MIT */
/*
 * A name resolved by glibc's own threads while the loop goes on. A name server may keep
 * its answer for ever: who asked may go away before.
 */
#ifndef WW_BUS_LOOKUP_H
#define WW_BUS_LOOKUP_H

#include "base/base.h"

#include <netdb.h>

struct ww_lookup;

int ww_lookup_new(const char *host, const char *port, struct ww_lookup **out, struct ww_error *err);
/* EAI_INPROGRESS, 0 and the list (freeaddrinfo()), or another EAI_ error. */
int ww_lookup_result(struct ww_lookup *l, struct addrinfo **list);
/* At any moment. May be NULL. */
void ww_lookup_free(struct ww_lookup *l);

#endif
