/* SPDX-License-Identifier: MIT */
#include "control/packet.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
};

static int address(const struct ww_act *a, union address *out, socklen_t *n, struct ww_error *err)
{
	*out = (union address){
		.in4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)a->port)}};
	*n = sizeof(out->in4);
	if (inet_pton(AF_INET, a->host, &out->in4.sin_addr) == 1)
		return 0;
	*out = (union address){
		.in6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)a->port)}};
	*n = sizeof(out->in6);
	if (inet_pton(AF_INET6, a->host, &out->in6.sin6_addr) == 1)
		return 0;
	return ww_fail(err, -EINVAL,
		       "%s: option host=%s: expected a numeric address, such as that of the DUT's "
		       "network for all, 192.168.1.255",
		       a->text, a->host);
}

static int open_socket(const struct ww_act *a, const union address *to, struct ww_error *err)
{
	int fd = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return ww_fail(err, -errno, "%s: socket: %s", a->text, strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on));
	if (*a->device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, a->device,
				     (socklen_t)strlen(a->device)) < 0) {
		int code = errno;

		close(fd);
		return ww_fail(err, -code, "%s: option dev=%s: %s", a->text, a->device,
			       code == ENODEV ? "no such network interface" : strerror(code));
	}
	return fd;
}

int ww_packet_check(const struct ww_act *a, struct ww_error *err)
{
	union address to;
	socklen_t n;
	int rc = address(a, &to, &n, err);

	if (rc == 0)
		rc = open_socket(a, &to, err);
	if (rc >= 0)
		close(rc);
	return rc < 0 ? rc : 0;
}

int ww_packet_send(const struct ww_act *a, struct ww_loop *loop, struct ww_interval *sent,
		   struct ww_error *err)
{
	union address to;
	socklen_t n;
	int rc = address(a, &to, &n, err), fd, code;
	ssize_t k;

	if (rc < 0)
		return rc;
	fd = open_socket(a, &to, err);
	if (fd < 0)
		return fd;
	sent->lo_ns = ww_loop_now(loop);
	k = sendto(fd, a->packet, a->packet_n, MSG_NOSIGNAL, &to.any, n);
	code = errno;
	sent->hi_ns = ww_loop_now(loop);
	close(fd);
	if (k == (ssize_t)a->packet_n)
		return 0;
	return ww_fail(err, k < 0 ? -code : -EIO,
		       "%s: the packet cannot be sent to %s: %s (option host= is the address for "
		       "all of the DUT's network, dev= the interface that leads there)",
		       a->text, a->host, k < 0 ? strerror(code) : "cut short");
}
