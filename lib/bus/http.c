/* SPDX-License-Identifier: MIT */
/*
 * A web server that is asked one thing at a time. libcurl does it, our loop drives it:
 * its sockets are watched, its time-outs are our timers, names are resolved in a thread
 * of libcurl's. A server that is gone or mute is no lost port but an answer "0\nwhy".
 */
#include "bus/portimpl.h"

#ifdef WW_WITH_CURL
#include <curl/curl.h>
#endif

#if defined(WW_WITH_CURL) && LIBCURL_VERSION_NUM >= 0x075700

#include <stdio.h>
#include <sys/epoll.h>

#define BODY_MAX   65536
#define HEADER_MAX 16384
#define PATH_LEN   1024
#define CONNECT_MS 2000
#define TOTAL_NS   (5 * WW_NS_PER_S)

struct http {
	struct ww_port *port;
	CURLM *multi;
	CURL *easy;
	struct curl_slist *json; /* headers of a POST */
	struct ww_timer *timer;
	struct sock *socks;
	char base[512];
	char url[512 + PATH_LEN];
	char why[CURL_ERROR_SIZE];
	struct ww_str body;
	size_t headers;
	int64_t sent_ns;
	bool global, busy, broken, too_long;
	bool work; /* something is ready: */
	curl_socket_t fd;
	int flags;
};

struct sock {
	struct http *h;
	struct sock *next;
	curl_socket_t fd;
	struct ww_watch *watch;
};

/* ------------------------------------------------- what libcurl asks our loop */

static void turn(struct http *h, curl_socket_t fd, int flags)
{
	struct ww_port *p = h->port;

	h->work = true;
	h->fd = fd;
	h->flags = flags;
	/* Ends in http_pump(), where the port may be closed by who gets the answer. */
	ww_port_pump(p);
}

static void on_socket(void *ctx, uint32_t events)
{
	const struct sock *s = ctx;
	int flags = 0;

	if (events & (EPOLLIN | EPOLLPRI | EPOLLHUP))
		flags |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		flags |= CURL_CSELECT_OUT;
	if (events & EPOLLERR)
		flags |= CURL_CSELECT_ERR;
	turn(s->h, s->fd, flags);
}

static void on_timeout(void *ctx, int64_t now_ns, int64_t late_ns)
{
	(void)now_ns;
	(void)late_ns;
	turn(ctx, CURL_SOCKET_TIMEOUT, 0);
}

static void forget(struct http *h, curl_socket_t fd)
{
	for (struct sock **s = &h->socks; *s; s = &(*s)->next) {
		struct sock *gone = *s;

		if (gone->fd != fd)
			continue;
		*s = gone->next;
		ww_watch_free(gone->watch);
		free(gone);
		return;
	}
}

static struct sock *known(struct http *h, curl_socket_t fd)
{
	struct sock *s = h->socks;

	while (s && s->fd != fd)
		s = s->next;
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->h = h;
	s->fd = fd;
	s->next = h->socks;
	h->socks = s;
	return s;
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
	uint32_t events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
			  (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
	struct http *h = ctx;
	struct sock *s;
	int rc;

	(void)easy;
	(void)of_socket;
	if (what == CURL_POLL_REMOVE) {
		forget(h, fd);
		return 0;
	}
	s = known(h, fd);
	if (!s) {
		h->broken = true;
		return 0;
	}
	rc = s->watch ? ww_watch_events(s->watch, events)
		      : ww_loop_watch(h->port->loop, fd, events, on_socket, s, &s->watch, NULL);
	if (rc < 0)
		h->broken = true;
	return 0;
}

static int want_timeout(CURLM *multi, long ms, void *ctx)
{
	struct http *h = ctx;
	int64_t now = ww_loop_now(h->port->loop);

	(void)multi;
	ww_timer_set(h->timer, ms < 0 ? WW_TIME_MAX : now + ms * WW_NS_PER_MS, 0);
	return 0;
}

/* --------------------------------------------------------- what a server says */

static size_t on_body(char *p, size_t one, size_t n, void *ctx)
{
	struct http *h = ctx;

	n *= one;
	if (h->body.n + n > BODY_MAX) {
		h->too_long = true;
		return 0;
	}
	ww_str_addn(&h->body, p, n);
	return h->body.bad ? 0 : n;
}

static size_t on_header(char *p, size_t one, size_t n, void *ctx)
{
	struct http *h = ctx;

	(void)p;
	n *= one;
	h->headers += n;
	if (h->headers > HEADER_MAX) {
		h->too_long = true;
		return 0;
	}
	return n;
}

/* The connection stands; what the server measures for this answer is not older. */
static int on_ready(void *ctx, char *ip, char *local, int port, int local_port)
{
	struct http *h = ctx;

	(void)ip;
	(void)local;
	(void)port;
	(void)local_port;
	h->sent_ns = ww_loop_now(h->port->loop);
	return CURL_PREREQFUNC_OK;
}

/* Without its milliseconds: the same reason in the same words, and the kernel's own. */
static void add_words(struct ww_str *out, const char *why, long os)
{
	const char *after = strstr(why, " after "), *rest = after ? after + 7 : why;
	char text[CURL_ERROR_SIZE];

	rest += strspn(rest, "0123456789");
	if (after && strncmp(rest, " milliseconds", 13) == 0)
		snprintf(text, sizeof(text), "%.*s", (int)(after - why), why);
	else if (after && strncmp(rest, " ms: ", 5) == 0)
		snprintf(text, sizeof(text), "%.*s: %s", (int)(after - why), why,
			 os ? strerror((int)os) : rest + 5);
	else
		snprintf(text, sizeof(text), "%s", why);
	ww_str_plain(out, text);
}

static void why_not(struct http *h, CURLcode rc, struct ww_str *out)
{
	const char *why = h->why[0] ? h->why : curl_easy_strerror(rc);
	long os = 0;

	curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &os);

	if (h->too_long)
		ww_str_addf(out, "its answer is longer than %d bytes: no plug answers so",
			    BODY_MAX);
	else if (rc == CURLE_UNSUPPORTED_PROTOCOL || rc == CURLE_WEIRD_SERVER_REPLY)
		ww_str_add(out, "what answers there is no web server");
	else if (rc == CURLE_PEER_FAILED_VERIFICATION)
		ww_str_addf(out,
			    "%s: its certificate is not one that this machine trusts "
			    "(?insecure=1 takes it)",
			    why);
	else
		add_words(out, why, rc == CURLE_COULDNT_CONNECT ? os : 0);
}

static void answer(struct http *h, CURLcode rc)
{
	struct ww_interval t = {h->sent_ns, ww_loop_now(h->port->loop)};
	struct ww_str out = {0};
	char *where = NULL;
	long status = 0;

	curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(h->easy, CURLINFO_REDIRECT_URL, &where);
	if (rc != CURLE_OK || h->broken || status < 200) {
		ww_str_add(&out, "0\n");
		if (h->broken)
			ww_str_add(&out, "no memory, or no descriptor left");
		else
			why_not(h, rc, &out);
	} else if (where) {
		ww_str_addf(&out, "0\nit sends us on (%ld) to ", status);
		ww_str_plain(&out, where);
		ww_str_add(&out, ": where that is the meter, name it instead");
	} else {
		ww_str_addf(&out, "%ld\n", status);
		ww_str_addn(&out, h->body.p ? h->body.p : "", h->body.n);
	}
	/* Memory for the next answer is not kept where this one was large. */
	ww_str_free(&h->body);
	curl_multi_remove_handle(h->multi, h->easy);
	h->busy = false;
	/* Last: it may be followed by the next question, or by the end of us. */
	if (out.bad)
		ww_port_message(h->port, t, (const uint8_t *)"0\nno memory", 11);
	else
		ww_port_message(h->port, t, (const uint8_t *)out.p, out.n);
	ww_str_free(&out);
}

static void http_pump(struct ww_port *p)
{
	struct http *h = p->impl;
	CURLcode rc = CURLE_OK;
	bool done = false;
	int running, left;
	CURLMsg *m;

	if (!h->work)
		return;
	h->work = false;
	if (curl_multi_socket_action(h->multi, h->fd, h->flags, &running) != CURLM_OK)
		h->broken = true;
	while ((m = curl_multi_info_read(h->multi, &left))) {
		if (m->msg != CURLMSG_DONE)
			continue;
		done = true;
		rc = m->data.result;
	}
	if (h->busy && (done || h->broken))
		answer(h, rc);
}

/* ------------------------------------------------------------------- asking */

static int http_message(struct ww_port *p, const uint8_t *data, size_t n, struct ww_error *err)
{
	struct http *h = p->impl;
	const uint8_t *end = memchr(data, '\n', n);
	size_t line = end ? (size_t)(end - data) : n, skip = end && data[0] == 'P' ? 5 : 4;

	if (h->busy)
		return ww_fail(err, -EBUSY, "%s: asked again before it has answered", p->place);
	if (line < skip || line - skip >= PATH_LEN || memchr(data, '\0', line) ||
	    memcmp(data, skip == 5 ? "POST " : "GET ", skip) != 0)
		return ww_fail(err, -EINVAL, "%s: no request", p->place);
	snprintf(h->url, sizeof(h->url), "%s%.*s", h->base, (int)(line - skip),
		 (const char *)data + skip);
	if (curl_easy_setopt(h->easy, CURLOPT_URL, h->url) != CURLE_OK)
		return ww_fail_nomem(err);
	if (skip == 5) {
		curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->json);
		curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(n - line - 1));
		if (curl_easy_setopt(h->easy, CURLOPT_COPYPOSTFIELDS, end + 1) != CURLE_OK)
			return ww_fail_nomem(err);
	} else {
		curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, NULL);
		curl_easy_setopt(h->easy, CURLOPT_HTTPGET, 1L);
	}
	h->why[0] = '\0';
	h->headers = 0;
	h->too_long = h->broken = false;
	h->sent_ns = ww_loop_now(p->loop);
	/* Does nothing yet but to set the timer: no answer comes from inside of here. */
	if (curl_multi_add_handle(h->multi, h->easy) != CURLM_OK)
		return ww_fail_nomem(err);
	h->busy = true;
	return 0;
}

static void http_close(struct ww_port *p)
{
	struct http *h = p->impl;

	if (!h)
		return;
	if (h->busy)
		curl_multi_remove_handle(h->multi, h->easy);
	curl_easy_cleanup(h->easy);
	if (h->multi)
		curl_multi_cleanup(h->multi);
	while (h->socks)
		forget(h, h->socks->fd);
	ww_timer_free(h->timer);
	curl_slist_free_all(h->json);
	ww_str_free(&h->body);
	if (h->global)
		curl_global_cleanup();
	free(h);
	p->impl = NULL;
}

static const struct ww_port_ops http_ops = {
	.pump = http_pump,
	.message = http_message,
	.close = http_close,
};

/* ------------------------------------------------------------------ opening */

/* Only what is a number needs no name server. */
static bool is_numeric(const char *url)
{
	const char *host = strstr(url, "://") + 3;
	size_t n = strcspn(host, ":/");

	return *host == '[' || strspn(host, "0123456789.") == n;
}

static int take_url(struct http *h, const char *url, struct ww_error *err)
{
	size_t n = strlen(url), scheme = strncmp(url, "https://", 8) == 0 ? 8 : 7;
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);

	while (n > scheme && url[n - 1] == '/')
		n--;
	if (strchr(url, '@'))
		return ww_fail(err, -EINVAL,
			       "http: a login does not stand before the host: write "
			       "http://HOST?user=NAME&password=WORD");
	if ((strncmp(url, "http://", 7) != 0 && scheme == 7) || n == scheme ||
	    n >= sizeof(h->base) || !ww_is_plain(url, n) || strchr(url, ' '))
		return ww_fail(err, -EINVAL, "%s: expected http://HOST or https://HOST",
			       h->port->place);
	snprintf(h->base, sizeof(h->base), "%.*s", (int)n, url);
	if (v->version_num < 0x075700 || (!(v->features & CURL_VERSION_ASYNCHDNS)))
		return is_numeric(h->base)
			       ? 0
			       : ww_fail(err, -ENOTSUP,
					 "%s: this libcurl %s would wait for the name server and "
					 "hold up all else: write the numeric address",
					 h->port->place, v->version);
	return 0;
}

static int multi_setup(struct http *h)
{
	h->multi = curl_multi_init();
	h->easy = curl_easy_init();
	h->json = curl_slist_append(NULL, "Content-Type: application/json");
	if (!h->multi || !h->easy || !h->json)
		return -ENOMEM;
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, want_timeout);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, 1L);
	return 0;
}

static void easy_setup(struct http *h, int64_t timeout_ns)
{
	CURL *e = h->easy;
	long ms = (long)(timeout_ns / WW_NS_PER_MS);

	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	/* Nobody waits for the name server's answer when the time is over. */
	curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	/* A plug is in the same house: no proxy of the environment, no ~/.netrc. */
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	/* The certificates are parsed once, which takes 20 ms: those of a folder each time. */
	if (curl_version_info(CURLVERSION_NOW)->cainfo)
		curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, ms < CONNECT_MS ? ms : (long)CONNECT_MS);
	curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, ms);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, h->why);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, h);
	curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_ready);
	curl_easy_setopt(e, CURLOPT_PREREQDATA, h);
}

static int easy_options(struct http *h, struct ww_uri *options, struct ww_error *err)
{
	const char *user = ww_uri_get(options, "user", NULL);
	const char *password = ww_uri_get(options, "password", NULL);
	int64_t timeout = TOTAL_NS, insecure = 0;

	if (ww_uri_dur(options, "timeout", &timeout, err) < 0 ||
	    ww_uri_int(options, "insecure", 0, 1, &insecure, err) < 0)
		return -EINVAL;
	if (timeout < 100 * WW_NS_PER_MS || timeout > 60 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "%s: timeout: expected 100ms to 60s", h->port->place);
	easy_setup(h, timeout);
	if (insecure) {
		curl_easy_setopt(h->easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(h->easy, CURLOPT_SSL_VERIFYHOST, 0L);
		ww_port_setting(h->port, "insecure");
	}
	if (!user && !password)
		return 0;
	curl_easy_setopt(h->easy, CURLOPT_HTTPAUTH, (long)(CURLAUTH_BASIC | CURLAUTH_DIGEST));
	if (curl_easy_setopt(h->easy, CURLOPT_USERNAME, user ? user : "admin") != CURLE_OK ||
	    curl_easy_setopt(h->easy, CURLOPT_PASSWORD, password ? password : "") != CURLE_OK)
		return ww_fail_nomem(err);
	return 0;
}

int ww_http_open(struct ww_port *p, const char *url, struct ww_uri *options, struct ww_error *err)
{
	struct http *h = calloc(1, sizeof(*h));
	int rc;

	p->ops = &http_ops;
	p->impl = h;
	p->transport.name = "http";
	if (!h)
		return ww_fail_nomem(err);
	h->port = p;
	h->global = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
	rc = h->global ? take_url(h, url, err) : ww_fail_nomem(err);
	if (rc == 0)
		rc = ww_loop_timer(p->loop, on_timeout, h, &h->timer, err);
	if (rc == 0 && multi_setup(h) < 0)
		rc = ww_fail_nomem(err);
	if (rc == 0)
		rc = easy_options(h, options, err);
	if (rc < 0)
		return rc;
	/* There is nothing that a look each millisecond would find. */
	p->tick_ns = WW_NS_PER_S;
	ww_port_setting(p, "delay=unknown(between the question and its answer)");
	return 0;
}

#else

int ww_http_open(struct ww_port *p, const char *url, struct ww_uri *options, struct ww_error *err)
{
	(void)url;
	(void)options;
	return ww_fail(err, -ENOTSUP,
		       "%s: built without libcurl (7.87 or later): install "
		       "libcurl4-openssl-dev, then make",
		       p->place);
}

#endif
