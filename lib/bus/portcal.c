/* SPDX-License-Identifier: MIT */
#include "bus/portcal.h"
#include "bus/portimpl.h"
#include "bus/sysfs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD	  "wakewatt port 1\n"
#define DELAY_NS  (10 * WW_NS_PER_S) /* longer ones are nonsense */
#define BYTES_MAX INT64_C(1000000000)

/* ------------------------------------------------------------------------ text */

static void put(struct ww_str *s, const struct ww_portcal *c)
{
	ww_str_addf(s,
		    HEAD "adapter=%s\ndriver=%s\nbaud=%lld\nlatency_ms=%lld\nbytes=%lld\n"
			 "delay_min_ns=%lld\ndelay_max_ns=%lld\nmeasured=%s\nend\n",
		    c->adapter, c->driver, (long long)c->baud, (long long)c->latency_ms,
		    (long long)c->bytes, (long long)c->delay_min_ns, (long long)c->delay_max_ns,
		    c->date);
}

/* The line "key=value" at *at; moves on behind it. */
static bool line(const char **at, const char *end, const char *key, char *out, size_t n)
{
	const char *p = *at, *eol = memchr(p, '\n', (size_t)(end - p));
	size_t k = strlen(key);

	if (!eol || (size_t)(eol - p) <= k || memcmp(p, key, k) != 0 || p[k] != '=')
		return false;
	p += k + 1;
	if ((size_t)(eol - p) >= n || p == eol)
		return false;
	memcpy(out, p, (size_t)(eol - p));
	out[eol - p] = '\0';
	*at = eol + 1;
	return strlen(out) == (size_t)(eol - p);
}

static bool number(const char **at, const char *end, const char *key, int64_t lo, int64_t hi,
		   int64_t *out)
{
	char text[24], *stop;
	long long v;

	if (!line(at, end, key, text, sizeof(text)))
		return false;
	errno = 0;
	v = strtoll(text, &stop, 10);
	*out = v;
	return !errno && !*stop && v >= lo && v <= hi;
}

static bool is_date(const char *d)
{
	static const char form[] = "0000-00-00";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == '0' ? d[i] < '0' || d[i] > '9' : d[i] != form[i])
			return false;
	return true;
}

int ww_portcal_parse(const char *text, size_t n, struct ww_portcal *out)
{
	const char *at = text + sizeof(HEAD) - 1, *end = text + n;

	memset(out, 0, sizeof(*out));
	if (n < sizeof(HEAD) || memcmp(text, HEAD, sizeof(HEAD) - 1) != 0)
		return -EBADMSG;
	if (!line(&at, end, "adapter", out->adapter, sizeof(out->adapter)) ||
	    !line(&at, end, "driver", out->driver, sizeof(out->driver)) ||
	    !number(&at, end, "baud", 1, INT32_MAX, &out->baud) ||
	    !number(&at, end, "latency_ms", -1, 255, &out->latency_ms) ||
	    !number(&at, end, "bytes", 1, BYTES_MAX, &out->bytes) ||
	    !number(&at, end, "delay_min_ns", 0, DELAY_NS, &out->delay_min_ns) ||
	    !number(&at, end, "delay_max_ns", 0, DELAY_NS, &out->delay_max_ns) ||
	    !line(&at, end, "measured", out->date, sizeof(out->date)) || !is_date(out->date))
		return -EBADMSG;
	if ((size_t)(end - at) != 4 || memcmp(at, "end\n", 4) != 0)
		return -EBADMSG;
	return out->delay_min_ns <= out->delay_max_ns ? 0 : -EBADMSG;
}

/* ------------------------------------------------------------------------ files */

static bool folder(char *out, size_t n)
{
	const char *own = getenv("WAKEWATT_STATE"), *xdg = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int k = -1;

	if (own && *own)
		k = snprintf(out, n, "%s", own);
	else if (xdg && *xdg == '/')
		k = snprintf(out, n, "%s/wakewatt", xdg);
	else if (home && *home == '/')
		k = snprintf(out, n, "%s/.local/state/wakewatt", home);
	return k > 0 && (size_t)k < n;
}

static bool path_of(const struct ww_portcal *c, char *out, size_t n)
{
	char dir[PATH_MAX], name[288];
	int k;

	if (!folder(dir, sizeof(dir)))
		return false;
	snprintf(name, sizeof(name), "%s_%s_%lld_%lld", c->adapter, c->driver, (long long)c->baud,
		 (long long)c->latency_ms);
	/* A serial number may hold anything. */
	for (char *p = name; *p; p++)
		if (!strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.",
			    *p))
			*p = '-';
	k = snprintf(out, n, "%s/port_%s", dir, name);
	return k > 0 && (size_t)k < n;
}

/* Like mkdir -p; what is there is enough. */
static void make_folders(const char *path)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s", path);
	for (char *p = dir + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(dir, 0755);
		*p = '/';
	}
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno != EINTR)
			return -errno;
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return 0;
}

static int replace(const char *path, const char *text, size_t n)
{
	char draft[PATH_MAX + 16];
	int fd, rc;

	snprintf(draft, sizeof(draft), "%s.%ld", path, (long)getpid());
	fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, n);
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	close(fd);
	if (rc == 0 && rename(draft, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(draft);
	return rc;
}

int ww_portcal_store(const struct ww_portcal *c, char *path, size_t n, struct ww_error *err)
{
	struct ww_portcal again;
	struct ww_str s = {0};
	char file[PATH_MAX];
	int rc;

	if (!*c->adapter)
		return ww_fail(err, -ENOTSUP, "not stored: this port has no adapter to know again");
	if (!path_of(c, file, sizeof(file)))
		return ww_fail(
			err, -ENOENT,
			"not stored: neither WAKEWATT_STATE, XDG_STATE_HOME nor HOME says where");
	put(&s, c);
	if (s.bad) {
		rc = ww_fail_nomem(err);
	} else if (ww_portcal_parse(s.p, s.n, &again) < 0) {
		rc = ww_fail(err, -EINVAL, "not stored: the figures make no sense");
	} else {
		make_folders(file);
		rc = replace(file, s.p, s.n);
		if (rc < 0)
			ww_fail(err, rc, "%s: %s", file, strerror(-rc));
	}
	ww_str_free(&s);
	if (path)
		snprintf(path, n, "%s", file);
	return rc;
}

void ww_usb_adapter(unsigned vid, unsigned pid, const char *serial, int interface, char *out,
		    size_t n)
{
	snprintf(out, n, "usb:%04x:%04x:%.100s:%d", vid, pid, serial, interface);
	for (char *p = out; *p; p++)
		if (*p < ' ')
			*p = '-';
}

/* The interface below which a tty lies, and the name of its device: "1-2.3:1.0". */
static int interface_of(const struct ww_tty_info *info, char *name, size_t n)
{
	char path[WW_SYSFS_PATH + 8], real[PATH_MAX], *at;
	int64_t number = 0;

	*name = '\0';
	snprintf(path, sizeof(path), "%s/device", info->dir);
	if (!realpath(path, real))
		return 0;
	for (at = strrchr(real, '/'); at && at != real; at = strrchr(real, '/')) {
		if (strchr(at, ':') && ww_sysfs_int(real, "bInterfaceNumber", &number)) {
			snprintf(name, n, "%.*s", (int)strcspn(at + 1, ":"), at + 1);
			return (int)number;
		}
		*at = '\0';
	}
	return 0;
}

/* Of a UART; 0x0 is none. */
static bool address_of(const struct ww_tty_info *info, const char *name, char *out, size_t n)
{
	return ww_sysfs_read(info->dir, name, out, n) && *out && strcmp(out, "0x0") != 0;
}

void ww_tty_adapter(const struct ww_tty_info *info, char *out, size_t n)
{
	char where[64], name[64];
	int interface;

	*out = '\0';
	if (*info->vid) {
		interface = interface_of(info, name, sizeof(name));
		ww_usb_adapter((unsigned)strtoul(info->vid, NULL, 16),
			       (unsigned)strtoul(info->pid, NULL, 16),
			       *info->serial ? info->serial : name, interface, out, n);
	} else if (address_of(info, "port", where, sizeof(where)) ||
		   address_of(info, "iomem_base", where, sizeof(where))) {
		snprintf(out, n, "uart:%s", where);
	}
}

int ww_portcal_load(struct ww_portcal *c, struct ww_error *err)
{
	char file[PATH_MAX], text[WW_PORTCAL_TEXT + 1];
	struct ww_portcal found;
	ssize_t n;
	int fd;

	if (!*c->adapter || !path_of(c, file, sizeof(file)))
		return 0;
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n < 0 || (size_t)n > WW_PORTCAL_TEXT || ww_portcal_parse(text, (size_t)n, &found) < 0)
		return ww_fail(err, -EBADMSG,
			       "%s: not what `resumetime loopback` stored, or damaged: not used",
			       file);
	/* Another port's under this one's name: two names may look alike once written. */
	if (strcmp(found.adapter, c->adapter) != 0 || strcmp(found.driver, c->driver) != 0 ||
	    found.baud != c->baud || found.latency_ms != c->latency_ms)
		return ww_fail(err, -EBADMSG, "%s: is of another port or setting: not used", file);
	*c = found;
	return 1;
}

void ww_portcal_use(struct ww_port *p, int64_t baud, bool assumed)
{
	struct ww_transport *t = &p->transport;
	struct ww_portcal c = {.baud = baud, .latency_ms = p->latency_ms};
	struct ww_error err = {0};
	int rc;

	snprintf(c.adapter, sizeof(c.adapter), "%s", p->adapter);
	snprintf(c.driver, sizeof(c.driver), "%s", t->name);
	rc = ww_portcal_load(&c, &err);
	if (rc < 0) {
		/* Told once the port runs: nobody listens yet. */
		snprintf(p->warning, sizeof(p->warning), "%s", err.text);
		return;
	}
	if (rc == 0)
		return;
	if (assumed || c.delay_max_ns > t->delay_max_ns)
		t->delay_max_ns = c.delay_max_ns;
	if (assumed || c.delay_min_ns < t->delay_min_ns)
		t->delay_min_ns = c.delay_min_ns;
	if (t->delay_min_ns > t->delay_max_ns)
		t->delay_min_ns = t->delay_max_ns;
	ww_port_setting(p, "loopback=measured(%s, %lld bytes)", c.date, (long long)c.bytes);
}
