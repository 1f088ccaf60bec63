/* SPDX-License-Identifier: MIT */
/*
 * Runs in the DUT: plugs a USB device that never answers into vhci-hcd, which
 * refuses to suspend while something is connected to it (-EBUSY). Every request
 * is refused too (USB/IP protocol: RET_SUBMIT with a status, RET_UNLINK), so
 * that the kernel soon gives up asking. Runs until it is killed: the unplug.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <arpa/inet.h>

static int refuse(int fd)
{
	uint32_t h[12];
	size_t n = 0;
	char skip[512];

	while (n < sizeof(h)) {
		ssize_t got = read(fd, (char *)h + n, sizeof(h) - n);

		if (got <= 0)
			return -1;
		n += (size_t)got;
	}
	/* SUBMIT with data to the device: take the data off the line. */
	if (ntohl(h[0]) == 1 && h[3] == 0)
		for (uint32_t left = ntohl(h[6]); left;) {
			ssize_t got = read(fd, skip, left < sizeof(skip) ? left : sizeof(skip));

			if (got <= 0)
				return -1;
			left -= (uint32_t)got;
		}
	h[0] = htonl(ntohl(h[0]) == 1 ? 3 : 4);
	h[2] = h[3] = h[4] = 0;
	memset(h + 5, 0, sizeof(h) - 20);
	h[5] = htonl((uint32_t)-32); /* EPIPE: stalled */
	return write(fd, h, sizeof(h)) == (ssize_t)sizeof(h) ? 0 : -1;
}

int main(void)
{
	FILE *f = fopen("/sys/devices/platform/vhci_hcd.0/attach", "w");
	int fds[2];

	if (!f || socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) {
		perror("busyusb");
		return 1;
	}
	/* port, socket, device, speed 2: full */
	if (fprintf(f, "0 %d 65537 2", fds[0]) < 0 || fclose(f)) {
		perror("busyusb: attach");
		return 1;
	}
	puts("busyusb: connected");
	fflush(stdout);
	while (!refuse(fds[1]))
		;
	return 0;
}
