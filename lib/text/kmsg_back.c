/* SPDX-License-Identifier: MIT */
/* Links and disks that are back, and tasks as old kernels list them. */
#include "text/kmsg_in.h"

static bool name_char(char c)
{
	return c != ' ' && c != ':' && c != ',';
}

/* The last word before q: the interface. "NIC", "-" and colons stand between. */
static struct ww_slice word_before(const char *p, const char *q)
{
	const char *to;

	for (;;) {
		while (q > p && !name_char(q[-1]))
			q--;
		to = q;
		while (q > p && (name_char(q[-1]) || (q[-1] == ':' && q < to)))
			q--;
		if ((to - q == 3 && memcmp(q, "NIC", 3) == 0) || (to - q == 1 && *q == '-'))
			continue;
		break;
	}
	return (struct ww_slice){q, (size_t)(to - q)};
}

static bool pci_link(const char *p, const char *q)
{
	for (; q - p >= 4; p++)
		if ((p[0] == 'p' || p[0] == 'P') && (p[1] == 'c' || p[1] == 'C') &&
		    ((p[2] == 'i' || p[2] == 'I')) &&
		    (p[3] == 'e' || p[3] == 'E' || p[3] == ':' || p[3] == ' '))
			return true;
	return false;
}

bool ww_km_link(const char *p, size_t n, const char *link, struct ww_pmev *out)
{
	const char *end = p + n, *up = link + 5;
	size_t left = (size_t)(end - up);

	if (WW_KM_IS(up, left, "becomes ready"))
		up = NULL;
	else if (WW_KM_IS(up, left, "is Up") || WW_KM_IS(up, left, "is up"))
		up += 5;
	else if (WW_KM_IS(up, left, "up") || WW_KM_IS(up, left, "Up"))
		up += 2;
	else
		return false;
	if (up && up < end && ((*up >= 'a' && *up <= 'z') || (*up >= 'A' && *up <= 'Z')))
		return false;
	if (pci_link(p, link))
		return false;
	out->device = word_before(p, link);
	if (!out->device.n)
		return false;
	out->kind = WW_PMEV_NET_UP;
	return true;
}

static bool storage(struct ww_pmev *out, const char *name, const char *to)
{
	out->kind = WW_PMEV_STORAGE_UP;
	out->device = (struct ww_slice){name, (size_t)(to - name)};
	return true;
}

bool ww_km_storage(const char *p, size_t n, struct ww_pmev *out)
{
	const char *colon, *end = p + n, *open;

	switch (*p) {
	case 'a':
		if (!WW_KM_IS(p, n, "ata") || !(colon = memchr(p, ':', n)))
			return false;
		n = (size_t)(end - colon);
		return (WW_KM_IS(colon, n, ": SATA link up") ||
			WW_KM_IS(colon, n, ": configured for ")) &&
		       storage(out, p, colon);
	case 's':
		if (!WW_KM_IS(p, n, "sd ") || !(open = ww_km_last(p, n, ": [", 3)))
			return false;
		open += 3;
		colon = memchr(open, ']', (size_t)(end - open));
		if (!colon)
			return false;
		n = (size_t)(end - colon);
		return (WW_KM_IS(colon, n, "] Starting disk") ||
			WW_KM_IS(colon, n, "] Attached SCSI ")) &&
		       storage(out, open, colon);
	case 'n':
		if (!WW_KM_IS(p, n, "nvme nvme") || !(colon = memchr(p, ':', n)))
			return false;
		return n > 20 && memcmp(end - 7, " queues", 7) == 0 && storage(out, p + 5, colon);
	case 'm':
		if (!WW_KM_IS(p, n, "mmc") || !(colon = memchr(p, ':', n)))
			return false;
		return WW_KM_IS(colon, (size_t)(end - colon), ": new ") && storage(out, p, colon);
	default:
		return false;
	}
}

static const char *back_number(const char *p, const char *end, int64_t *v)
{
	const char *q = end;

	while (q > p && q[-1] >= '0' && q[-1] <= '9')
		q--;
	if (q == end || q == p || q[-1] != ' ' || !ww_km_int(q, (size_t)(end - q), v))
		return NULL;
	while (q > p && q[-1] == ' ')
		q--;
	return q;
}

bool ww_km_old_task(const char *p, size_t n, struct ww_pmev *out)
{
	/* "bash            D ffff8800 0  1234      1 0x00000004": the name has 15 columns. */
	const char *end = p + n, *q;
	int64_t stack, pid, parent;

	if (n < 40 || p[15] != ' ' || p[17] != ' ' || !p[16] || !strchr("RSDTtXZPI", p[16]))
		return false;
	q = ww_km_last(p, n, " 0x", 3);
	/* 32 or 64 bits of flags. */
	if (!q || (end - q != 11 && end - q != 19))
		return false;
	while (q > p && q[-1] == ' ')
		q--;
	if (!(q = back_number(p, q, &parent)) || !(q = back_number(p, q, &pid)) ||
	    !back_number(p, q, &stack) || pid > INT32_MAX)
		return false;
	for (n = 15; n && p[n - 1] == ' ';)
		n--;
	if (!n)
		return false;
	out->kind = WW_PMEV_TASK;
	out->task = (struct ww_slice){p, n};
	out->pid = (int32_t)pid;
	return true;
}
