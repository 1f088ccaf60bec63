// SPDX-License-Identifier: MIT
/* Kernel text from files: what a file is, is told by its content. */
#include "import/bytein.h"
#include "import/dat.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES  64u /* tell what it is; a pipe may have no more for a long time */
#define PACKED_MOST 3	/* times over */

struct filetext {
	struct ww_text base;
	struct ww_bytein *in;
};

static int64_t file_fill(struct ww_bytein *in, uint8_t *to, size_t cap, struct ww_error *err)
{
	ssize_t got;

	do
		got = read(in->fd, to, cap);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return ww_fail(err, -errno, "%s: cannot be read: %s", in->name, strerror(errno));
	return got;
}

static int fail_open(const char *path, int code, struct ww_error *err)
{
	if (code == EACCES || code == EPERM)
		return ww_fail(err, -code,
			       "%s: %s: read it as root into a file of yours, or into -", path,
			       strerror(code));
	return ww_fail(err, -code, "%s: %s", path, strerror(code));
}

static int check_type(const char *path, const struct stat *st, struct ww_error *err)
{
	if (S_ISDIR(st->st_mode))
		return ww_fail(err, -EISDIR, "%s: a folder; name the file in it", path);
	if (S_ISBLK(st->st_mode))
		return ww_fail(err, -EINVAL, "%s: a disk, no file with text", path);
	if (S_ISSOCK(st->st_mode))
		return ww_fail(err, -EINVAL,
			       "%s: a socket; `resumetime record --console unix:%s` records it",
			       path, path);
	return 0;
}

/* fd, and whether it is ours to close. */
static int open_file(const char *path, struct ww_bytein *in, struct ww_error *err)
{
	struct stat st;
	int rc;

	if (strcmp(path, "-") == 0) {
		in->fd = STDIN_FILENO;
		return 0;
	}
	if (stat(path, &st) != 0)
		return fail_open(path, errno, err);
	rc = check_type(path, &st, err);
	if (rc < 0)
		return rc;
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (in->fd < 0)
		return fail_open(path, errno, err);
	in->owned = true;
	in->seekable = S_ISREG(st.st_mode);
	if (isatty(in->fd))
		return ww_fail(err, -EINVAL,
			       "%s: a serial port; `resumetime record --console %s` records it, "
			       "with the time of each byte",
			       path, path);
	/* O_NONBLOCK was for a port without a carrier. */
	if (fcntl(in->fd, F_SETFL, 0) != 0)
		return fail_open(path, errno, err);
	if (in->seekable)
		posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

static int filetext_next(struct ww_text *t, const uint8_t **data, size_t *n, const int64_t **lo,
			 const int64_t **hi, struct ww_error *err)
{
	struct filetext *f = (struct filetext *)t;

	*lo = *hi = NULL;
	return ww_bytein_next(f->in, data, n, err);
}

static void filetext_close(struct ww_text *t)
{
	struct filetext *f = (struct filetext *)t;

	ww_bytein_free(f->in);
	free(t->name);
	free(f);
}

/* Takes `in`. */
static int filetext_new(struct ww_bytein *in, struct ww_text **out, struct ww_error *err)
{
	struct filetext *f = calloc(1, sizeof(*f));

	if (f)
		f->base.name = strdup(in->name);
	if (!f || !f->base.name) {
		free(f);
		return ww_fail_nomem(err);
	}
	f->base.next = filetext_next;
	f->base.close = filetext_close;
	f->in = in;
	*out = &f->base;
	return 0;
}

/* A file without a name, which goes with its descriptor. */
static int scratch(const char *name, struct ww_error *err)
{
	static const char *const folders[] = {"/var/tmp", "/tmp"};
	int fd = -1;

	for (size_t i = 0; i < WW_COUNTOF(folders) && fd < 0; i++)
		fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = memfd_create("wakewatt", MFD_CLOEXEC);
	if (fd < 0)
		return ww_fail(err, -errno, "%s: no place to unpack it to: %s", name,
			       strerror(errno));
	return fd;
}

/* All bytes of `in` into a file that can be read anywhere. */
static int spool(struct ww_bytein *in, struct ww_error *err)
{
	int fd = scratch(in->name, err), rc = 1;
	const uint8_t *p;
	size_t n;

	if (fd < 0)
		return fd;
	while (rc == 1) {
		rc = ww_bytein_next(in, &p, &n, err);
		while (rc == 1 && n > 0) {
			ssize_t put = write(fd, p, n);

			if (put < 0 && errno != EINTR)
				rc = ww_fail(err, -errno, "%s: no room to unpack it: %s", in->name,
					     strerror(errno));
			p += put > 0 ? put : 0;
			n -= put > 0 ? (size_t)put : 0;
		}
	}
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* trace-cmd's: its data lie all over the file. */
static int open_dat(struct ww_bytein *in, struct ww_text **out, struct ww_error *err)
{
	int fd = in->fd, rc;

	if (in->seekable) {
		in->owned = false;
		rc = ww_dat_text(in->name, fd, true, out, err);
	} else {
		fd = spool(in, err);
		rc = fd < 0 ? fd : ww_dat_text(in->name, fd, true, out, err);
	}
	if (rc == 0)
		ww_bytein_free(in);
	return rc;
}

static bool is_page(const struct ww_bytein *in)
{
	const char *p = (const char *)in->buf, *end = p + in->n;

	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || (unsigned char)*p >= 0x80))
		p++;
	return end - p > 14 &&
	       (strncasecmp(p, "<!doctype html", 14) == 0 || strncasecmp(p, "<html", 5) == 0);
}

/*
 * A page of systrace has its text behind megabytes of script, more than is looked at to tell
 * what a text is: it begins where ftrace's own head does. Another page is text as it stands.
 */
static int enter_page(struct ww_bytein *in, struct ww_error *err)
{
	static const char mark[] = "# tracer:";
	const size_t n = sizeof(mark) - 1;
	off_t base = 0;

	for (;;) {
		const char *hit = memmem(in->buf, in->n, mark, n);
		ssize_t got;

		if (hit) {
			in->at = (size_t)(hit - (const char *)in->buf);
			base += (off_t)in->n;
			break;
		}
		if (in->n >= n) {
			base += (off_t)(in->n - n + 1);
			in->n = 0;
		}
		got = pread(in->fd, in->buf + in->n, WW_BYTEIN_PIECE - in->n, base + (off_t)in->n);
		if (got < 0)
			return ww_fail(err, -errno, "%s: cannot be read: %s", in->name,
				       strerror(errno));
		in->n += (size_t)got;
		if (in->n < n) {
			base = 0;
			in->n = 0;
			break;
		}
	}
	in->eof = false;
	if (lseek(in->fd, base, SEEK_SET) < 0)
		return ww_fail(err, -errno, "%s: %s", in->name, strerror(errno));
	return 0;
}

/* Unpacks, and looks at what is there then. */
static int open_content(struct ww_bytein **in, struct ww_text **out, struct ww_error *err)
{
	const char *kind;
	int rc, packed = 0;

	do {
		rc = ww_bytein_peek(*in, HEAD_BYTES, err);
		if (rc == 0)
			rc = ww_bytein_unpack(in, err);
	} while (rc == 1 && ++packed < PACKED_MOST);
	if (rc == 0 && packed > 0)
		rc = ww_bytein_peek(*in, HEAD_BYTES, err);
	if (rc < 0)
		return rc;
	if ((*in)->n == 0)
		return ww_fail(err, -ENODATA, "%s: empty: there is no text in it", (*in)->name);
	kind = rc == 1 ? "packed again and again" : ww_text_kind((*in)->buf, (*in)->n);
	if (kind)
		return ww_fail(err, -EINVAL, "%s: %s", (*in)->name, kind);
	if (ww_dat_looks((*in)->buf, (*in)->n))
		return open_dat(*in, out, err);
	if ((*in)->seekable && is_page(*in))
		rc = enter_page(*in, err);
	else
		rc = ww_bytein_utf16(in, err);
	if (rc < 0)
		return rc;
	return filetext_new(*in, out, err);
}

int ww_text_open(const char *path, struct ww_text **out, struct ww_error *err)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	struct ww_bytein *in = ww_bytein_new(name, NULL);
	int rc;

	if (!in)
		return ww_fail_nomem(err);
	in->fill = file_fill;
	rc = open_file(path, in, err);
	if (rc == 0)
		rc = open_content(&in, out, err);
	if (rc < 0)
		ww_bytein_free(in);
	return rc;
}
