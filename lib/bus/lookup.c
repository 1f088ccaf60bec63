/* SPDX-License-Identifier: MIT */
#include "bus/lookup.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>

/*
 * Owned by who asked and by the C library, which cannot be stopped once it has begun:
 * whoever is through with it last frees it.
 */
struct ww_lookup {
	struct gaicb cb;
	struct addrinfo hints;
	_Atomic int owners;
	char host[256], port[32];
};

static void release(struct ww_lookup *l)
{
	if (atomic_fetch_sub(&l->owners, 1) > 1)
		return;
	if (l->cb.ar_result)
		freeaddrinfo(l->cb.ar_result);
	free(l);
}

/* Done, failed or cancelled; on a thread of the C library. */
static void on_done(union sigval v)
{
	release(v.sival_ptr);
}

int ww_lookup_new(const char *host, const char *port, struct ww_lookup **out, struct ww_error *err)
{
	struct ww_lookup *l = calloc(1, sizeof(*l));
	struct gaicb *list[1];
	struct sigevent done = {.sigev_notify = SIGEV_THREAD};
	int rc;

	if (!l)
		return ww_fail_nomem(err);
	if (strlen(host) >= sizeof(l->host) || strlen(port) >= sizeof(l->port)) {
		free(l);
		return ww_fail(err, -EINVAL, "%s: the name is too long", host);
	}
	memcpy(l->host, host, strlen(host) + 1);
	memcpy(l->port, port, strlen(port) + 1);
	l->hints.ai_socktype = SOCK_STREAM;
	l->cb.ar_name = l->host;
	l->cb.ar_service = l->port;
	l->cb.ar_request = &l->hints;
	atomic_init(&l->owners, 2);
	list[0] = &l->cb;
	done.sigev_notify_function = on_done;
	done.sigev_value.sival_ptr = l;
	rc = getaddrinfo_a(GAI_NOWAIT, list, 1, &done);
	if (rc != 0) {
		free(l);
		return ww_fail(err, -EAGAIN, "%s: %s", host, gai_strerror(rc));
	}
	*out = l;
	return 0;
}

int ww_lookup_result(struct ww_lookup *l, struct addrinfo **list)
{
	int rc = gai_error(&l->cb);

	*list = NULL;
	if (rc != 0)
		return rc;
	*list = l->cb.ar_result;
	l->cb.ar_result = NULL;
	return *list ? 0 : EAI_NONAME;
}

void ww_lookup_free(struct ww_lookup *l)
{
	if (!l)
		return;
	gai_cancel(&l->cb);
	release(l);
}
