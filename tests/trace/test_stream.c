/* SPDX-License-Identifier: MIT */
/* The stream forms say what the file says, however they arrive, and say when they broke. */
#include "../part.h"
#include "common.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

/* A small trace with all kinds of records. */
static void write_all(struct ww_writer *w)
{
	static const int64_t lo[] = {90, 190, 290}, hi[] = {100, 200, 200 + 90};
	static const int64_t codes[] = {249, WW_MISSING, -1, WW_OVER, 0, 123456789012};
	struct ww_mark m = {.t = {WW_TIME_MIN, 150}, .kind = "label", .text = "q\"\xc3\xa9\n"};
	struct ww_gap g = {.t = {200, WW_TIME_MAX}, .source = 1, .lost = -1, .reason = "unplugged"};
	struct ww_anchor a = {50, 40, 1700000000000000000, 3, -1, 0, -1};

	add_meter(w, "meter", 2);
	add_serial(w, "port", 10);
	OK(ww_writer_meta(w, "bench.host", "h", err));
	OK(ww_writer_anchor(w, &a, err));
	OK(ww_writer_samples(w, 1, 2, lo, hi, codes, err));
	OK(ww_writer_bytes(w, 2, (struct ww_interval){100, 900}, (const uint8_t *)"A\0\xff", 3,
			   err));
	OK(ww_writer_commit(w, err));
	OK(ww_writer_samples(w, 1, 1, lo + 2, hi + 2, codes + 4, err));
	OK(ww_writer_mark(w, &m, err));
	OK(ww_writer_gap(w, &g, err));
}

/* Every record and description as text, to compare two traces. */
static void tell(struct ww_trace *t, char *buf, size_t cap)
{
	size_t n = 0;
	struct ww_interval s = ww_trace_span(t);

#define SAY(...) n += (size_t)snprintf(buf + n, cap - n, __VA_ARGS__)
	SAY("span %lld %lld host %s\n", (long long)s.lo_ns, (long long)s.hi_ns,
	    ww_trace_meta(t, "bench.host"));
	for (size_t i = 0; i < ww_trace_source_count(t); i++) {
		const struct ww_source_info *o = ww_trace_source(t, i);
		struct ww_cursor *c;
		struct ww_batch b;

		SAY("source %u %s %s %s %s %lld\n", o->id, o->name, o->model, o->serial, o->role,
		    (long long)o->transport.char_ns);
		OK(ww_cursor_open(t, o->id, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err));
		while (ww_cursor_next(c, &b, NULL) > 0)
			for (size_t k = 0; k < b.n; k++) {
				SAY("%lld %lld", (long long)b.lo_ns[k], (long long)b.hi_ns[k]);
				for (size_t h = 0; h < b.channels; h++)
					SAY(" %lld", (long long)b.codes[h][k]);
				if (b.data)
					SAY(" %02x", b.data[k]);
				SAY("\n");
			}
		ww_cursor_close(c);
	}
	for (size_t i = 0; i < ww_trace_channel_count(t); i++)
		SAY("channel %s %g\n", ww_trace_channel(t, i)->name, ww_trace_channel(t, i)->scale);
	for (size_t i = 0; i < ww_trace_mark_count(t); i++)
		SAY("mark %lld %lld %s %s\n", (long long)ww_trace_mark(t, i)->t.lo_ns,
		    (long long)ww_trace_mark(t, i)->t.hi_ns, ww_trace_mark(t, i)->kind,
		    ww_trace_mark(t, i)->text);
	for (size_t i = 0; i < ww_trace_gap_count(t); i++)
		SAY("gap %lld %lld %s\n", (long long)ww_trace_gap(t, i)->t.hi_ns,
		    (long long)ww_trace_gap(t, i)->lost, ww_trace_gap(t, i)->reason);
	SAY("anchors %zu %lld\n", ww_trace_anchor_count(t),
	    ww_trace_anchor_count(t) ? (long long)ww_trace_anchor(t, 0)->real_ns : 0);
#undef SAY
	assert_true(n < cap);
}

static char truth[8192];
static uint8_t stream[2][65536];
static size_t stream_n[2];

static int set_up(void **state)
{
	struct ww_writer *w;
	struct ww_trace *t;

	if (make_folder(state) != 0)
		return -1;
	OK(ww_writer_open(at("file.wwt"), NULL, &w, err));
	write_all(w);
	OK(ww_writer_close(w, err));
	OK(ww_trace_open(at("file.wwt"), &t, err));
	tell(t, truth, sizeof(truth));
	ww_trace_close(t);
	for (int form = 0; form < 2; form++) {
		int fd = open(at(form ? "bin" : "jsonl"), O_RDWR | O_CREAT, 0644);
		struct ww_writer_options o = {.size = sizeof(o), .form = 1 + form, .fd = fd};

		OK(ww_writer_open(NULL, &o, &w, err));
		write_all(w);
		OK(ww_writer_close(w, err));
		stream_n[form] = (size_t)pread(fd, stream[form], sizeof(stream[form]), 0);
		close(fd);
	}
	return 0;
}

static void test_files(void **state)
{
	static const char *const names[] = {"jsonl", "bin"};
	char got[8192];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct ww_trace *t;

		OK(ww_trace_open(at(names[i]), &t, err));
		assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
		tell(t, got, sizeof(got));
		assert_string_equal(got, truth);
		ww_trace_close(t);
	}
}

/* Put a pipe in the place of standard input. @return its end for writing */
static int pipe_to_stdin(void)
{
	int p[2];

	assert_int_equal(pipe(p), 0);
	dup2(p[0], 0);
	close(p[0]);
	return p[1];
}

/* Cut in two at every byte, with a look in between. */
static void test_every_split(void **state)
{
	char got[8192];

	(void)state;
	for (int form = 0; form < 2; form++)
		for (size_t cut = 8; cut < stream_n[form]; cut += TEST_PART) {
			int fd = pipe_to_stdin();
			struct ww_trace *t;

			assert_int_equal(write(fd, stream[form], cut), (long long)cut);
			OK(ww_trace_open("-", &t, err));
			OK(ww_trace_refresh(t, err));
			assert_int_equal(ww_trace_state(t), WW_TRACE_LIVE);
			assert_int_equal(ww_trace_refresh(t, NULL), 0);
			assert_int_equal(write(fd, stream[form] + cut, stream_n[form] - cut),
					 (long long)(stream_n[form] - cut));
			close(fd);
			while (ww_trace_state(t) == WW_TRACE_LIVE)
				OK(ww_trace_refresh(t, err));
			assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
			tell(t, got, sizeof(got));
			assert_string_equal(got, truth);
			ww_trace_close(t);
		}
}

/* A stream that ends early is unclosed; what came before is there. */
static void test_cut(void **state)
{
	(void)state;
	for (int form = 0; form < 2; form++)
		for (size_t n = 200; n + 5 < stream_n[form]; n += 37 * TEST_PART) {
			int fd = pipe_to_stdin();
			struct ww_trace *t;

			assert_int_equal(write(fd, stream[form], n), (long long)n);
			close(fd);
			OK(ww_trace_open("-", &t, err));
			while (ww_trace_state(t) == WW_TRACE_LIVE)
				OK(ww_trace_refresh(t, err));
			assert_int_equal(ww_trace_state(t), WW_TRACE_UNCLOSED);
			ww_trace_close(t);
		}
}

/* A byte changed in a binary stream is found; nothing crashes in either form. */
static void test_damage(void **state)
{
	(void)state;
	for (int form = 0; form < 2; form++)
		for (size_t i = 8; i < stream_n[form]; i += (form ? 3u : 7u) * TEST_PART) {
			struct ww_error why = {0};
			struct ww_trace *t;
			int fd = pipe_to_stdin(), rc = 0;

			stream[form][i] ^= 0x15;
			assert_int_equal(write(fd, stream[form], stream_n[form]),
					 (long long)stream_n[form]);
			stream[form][i] ^= 0x15;
			close(fd);
			if (ww_trace_open("-", &t, &why) < 0)
				continue;
			while (ww_trace_state(t) == WW_TRACE_LIVE && rc >= 0)
				rc = ww_trace_refresh(t, &why);
			if (form)
				assert_int_not_equal(ww_trace_state(t), WW_TRACE_CLOSED);
			if (rc < 0)
				assert_true(strncmp(why.text, "-: ", 3) == 0);
			ww_trace_close(t);
		}
}

/* A whole file through a pipe. */
static void test_database(void **state)
{
	static uint8_t file[1 << 18];
	char got[8192];
	int fd = open(at("file.wwt"), O_RDONLY), out;
	ssize_t n = read(fd, file, sizeof(file)), half = n / 2;
	struct ww_trace *t;
	pid_t pid;

	(void)state;
	close(fd);
	out = pipe_to_stdin();
	pid = fork();
	if (pid == 0) {
		if (write(out, file, (size_t)half) != half ||
		    write(out, file + half, (size_t)(n - half)) != n - half)
			_exit(1);
		_exit(0);
	}
	close(out);
	OK(ww_trace_open("-", &t, err));
	while (ww_trace_state(t) == WW_TRACE_LIVE) {
		struct pollfd p = {.fd = ww_trace_fd(t), .events = POLLIN};

		poll(&p, 1, 1000);
		OK(ww_trace_refresh(t, err));
	}
	assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
	tell(t, got, sizeof(got));
	assert_string_equal(got, truth);
	ww_trace_close(t);
	waitpid(pid, NULL, 0);
}

/* The reader of a stream goes away: an error with words, not a signal. */
static void test_epipe(void **state)
{
	int p[2];
	struct ww_error why = {0};
	struct ww_writer_options o = {.size = sizeof(o), .form = WW_FORM_JSONL};
	struct ww_writer *w;

	(void)state;
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(pipe(p), 0);
	o.fd = p[1];
	OK(ww_writer_open(NULL, &o, &w, err));
	add_meter(w, "meter", 1);
	close(p[0]);
	assert_int_equal(ww_writer_commit(w, &why), -EPIPE);
	assert_non_null(strstr(why.text, "reader has gone away"));
	ww_error_clear(&why);
	assert_int_equal(ww_writer_close(w, &why), -EPIPE);
	close(p[1]);
}

/* What a person or another program would write by hand. */
static void test_by_hand(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *words;
	} cases[] = {{"{\"type\":\"wakewatt\",\"format\":1}\n{\"type\":\"source\",\"name\":\"m\"}\n"
		      "{\"type\":\"channel\",\"source\":1,\"name\":\"power\",\"unit\":\"W\"}\n\n"
		      "{\"type\":\"sample\",\"source\":1,\"t\":[1,2],\"codes\":[7]}\n"
		      "{\"type\":\"novelty\",\"x\":{}}\n{\"type\":\"end\"}",
		      0, ""},
		     {"{\"type\":\"wakewatt\",\"format\":9}\n", -EINVAL, "form 9"},
		     {"{\"type\":\"mark\"}\n", -EINVAL, "line 1: not a stream of wakewatt"},
		     {"{\"type\":\"wakewatt\",\"format\":1}\n{\"type\":\n", -EBADMSG,
		      "line 2: not valid JSON"},
		     {"{\"type\":\"wakewatt\",\"format\":1}\n{\"type\":\"sample\",\"source\":4}\n",
		      -EBADMSG, "line 2: a sample of 0 codes does not fit source 4"}};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct ww_error why = {0};
		struct ww_trace *t;
		FILE *f = fopen(at("hand"), "w");

		fputs(cases[i].text, f);
		fclose(f);
		assert_int_equal(ww_trace_open(at("hand"), &t, &why), cases[i].rc);
		if (!strstr(why.text, cases[i].words))
			fail_msg("%s", why.text);
		if (cases[i].rc == 0) {
			assert_int_equal(ww_trace_rows(t, 1, 0, 5, NULL), 1);
			ww_trace_close(t);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_files),
					   cmocka_unit_test(test_every_split),
					   cmocka_unit_test(test_cut),
					   cmocka_unit_test(test_damage),
					   cmocka_unit_test(test_database),
					   cmocka_unit_test(test_epipe),
					   cmocka_unit_test(test_by_hand)};

	return cmocka_run_group_tests_name("stream", tests, set_up, remove_folder);
}
