/* SPDX-License-Identifier: MIT */
/* What is opened: traces as before, and of anything else a sentence that helps. */
#include "imported.h"

#include <sys/stat.h>
#include <sys/wait.h>

static void refuse(const char *text, size_t n, const char *part)
{
	const char *path = write_file("bad", text, n);
	struct ww_error why = {0};
	struct ww_trace *t;
	int rc = ww_import_open(path, NULL, &t, &why);

	if (rc >= 0)
		fail_msg("taken: %.40s", text);
	assert_int_equal(rc, why.code);
	if (!strstr(why.text, part) || !strstr(why.text, "bad"))
		fail_msg("'%s' does not say '%s'", why.text, part);
}

#define REFUSE(text, part) refuse(text, sizeof(text) - 1, part)

static void other_kinds(void **state)
{
	(void)state;
	REFUSE("\x1f\x8b\x08\x00 rest", "gzip");
	REFUSE("\x28\xb5\x2f\xfd rest", "zstd");
	REFUSE("PK\x03\x04 rest", "ZIP");
	REFUSE("\xff\xfet\0,\0W\0\n\0", "UTF-16");
	REFUSE("t_s,W\n0,1\n\0\0\n", "binary");
	REFUSE("{\"power\": 12.5}", "JSON");
	REFUSE("[1,2,3]", "JSON");
	REFUSE("<html>", "HTML");
	REFUSE("\x1b\x1b\x1b\x1b\x01\x01\x01\x01v\x05", "SML");
	REFUSE("Dear reader,\nthese are words.\n", "no rows of numbers");
	REFUSE("name,colour\ncat,black\n", "no rows of numbers");
	REFUSE("t_s,temperature\n0,20.5\n1,20.6\n", "--columns");
	REFUSE("t_s,power_W\n", "no rows of numbers");
	REFUSE("\n\n\n", "no rows of numbers");
	REFUSE("\xef\xbb\xbf", "no rows of numbers");
	REFUSE("t_s,power_W\n0,1\na,b\nc,d\ne,f\n", "3 of 4 lines cannot be read");
}

static void names(void **state)
{
	struct ww_error why = {0};
	struct ww_trace *t;
	char path[160];

	(void)state;
	assert_int_equal(ww_import_open(at("nowhere"), NULL, &t, &why), -ENOENT);
	ww_error_clear(&why);
	assert_int_equal(ww_import_open(folder, NULL, &t, &why), -EISDIR);
	ww_error_clear(&why);
	assert_true(ww_import_open("/dev/zero", NULL, &t, &why) < 0);
	assert_non_null(strstr(why.text, "binary"));
	ww_error_clear(&why);
	assert_true(ww_import_open("/dev/null", NULL, &t, &why) < 0);
	ww_error_clear(&why);
	snprintf(path, sizeof(path), "%s", write_file("secret", "t_s,W\n0,1\n", 10));
	chmod(path, 0);
	if (geteuid() != 0) {
		assert_int_equal(ww_import_open(path, NULL, &t, &why), -EACCES);
		assert_non_null(strstr(why.text, "Permission"));
	}
	assert_non_null(strstr(
		import_error("t_s,W\n0,1\n",
			     &(struct ww_import_options){.size = sizeof(struct ww_import_options),
							 .format = "nonsense"}),
		"no format 'nonsense'"));
	assert_non_null(strstr(import_error("t_s,W\n0,1\n", &(struct ww_import_options){0}),
			       "without their size"));
	assert_non_null(strstr(
		import_error("t_s,W\n0,1\n",
			     &(struct ww_import_options){.size = sizeof(struct ww_import_options),
							 .rate_hz = NAN}),
		"rate"));
}

/* Traces, closed and as streams, go through as they did. */
static void traces(void **state)
{
	static const char stream[] =
		"{\"type\":\"wakewatt\",\"format\":1}\n"
		"{\"type\":\"source\",\"id\":1,\"kind\":0,\"name\":\"m\"}\n"
		"{\"type\":\"channel\",\"id\":1,\"source\":1,\"name\":\"power\",\"unit\":\"W\"}\n"
		"{\"type\":\"sample\",\"source\":1,\"t\":[1,2],\"codes\":[5]}\n{\"type\":\"end\"}"
		"\n";
	struct ww_writer *w;
	struct ww_trace *t;

	(void)state;
	OK(ww_writer_open(at("a.wwt"), NULL, &w, err));
	OK(ww_writer_source(w, &(struct ww_source_info){.name = "m"}, err));
	OK(ww_import_open(at("a.wwt"), NULL, &t, err));
	assert_int_equal(ww_trace_state(t), WW_TRACE_LIVE);
	assert_null(ww_import_name(t));
	assert_null(ww_import_note(t, 0));
	ww_trace_close(t);
	OK(ww_writer_close(w, err));
	OK(ww_import_open(at("a.wwt"), NULL, &t, err));
	assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
	ww_trace_close(t);
	OK(ww_import_open(write_file("s", stream, sizeof(stream) - 1), NULL, &t, err));
	check_rows(t, "power", 1, (const double[]){2e-9}, (const double[]){5});
	ww_trace_close(t);
}

/* Through a pipe: the first bytes tell what it is, and none of them is lost. */
static void through_pipe(const char *text, size_t n, const char *channel_name)
{
	int p[2], rc, status;
	pid_t child;

	assert_int_equal(pipe(p), 0);
	child = fork();
	if (child == 0) {
		struct ww_trace *t;

		dup2(p[0], STDIN_FILENO);
		close(p[0]);
		close(p[1]);
		rc = ww_import_open("-", NULL, &t, NULL);
		while (rc == 0 && ww_trace_state(t) == WW_TRACE_LIVE)
			rc = ww_trace_refresh(t, NULL) < 0;
		_exit(rc != 0 || ww_trace_channel_count(t) != 1 ||
		      strcmp(ww_trace_channel(t, 0)->name, channel_name) != 0 ||
		      ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, NULL) != 2);
	}
	close(p[0]);
	for (size_t i = 0; i < n; i++) /* byte by byte, as slow programs write */
		assert_int_equal(write(p[1], text + i, 1), 1);
	close(p[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void pipes(void **state)
{
	static const char stream[] =
		"{\"type\":\"wakewatt\",\"format\":1}\n"
		"{\"type\":\"source\",\"id\":1,\"kind\":0,\"name\":\"m\"}\n"
		"{\"type\":\"channel\",\"id\":1,\"source\":1,\"name\":\"x\",\"unit\":\"W\"}\n"
		"{\"type\":\"sample\",\"source\":1,\"t\":[1,2],\"codes\":[5]}\n"
		"{\"type\":\"sample\",\"source\":1,\"t\":[3,4],\"codes\":[5]}\n{\"type\":\"end\"}"
		"\n";
	static const char csv[] = "t_s,power_W\n0,1\n1,2\n";

	(void)state;
	through_pipe(stream, sizeof(stream) - 1, "x");
	through_pipe(csv, sizeof(csv) - 1, "power");
}

/* Files made to hurt: an answer in bounded time and memory. */
static void hostile(void **state)
{
	size_t n = 5u << 20;
	char *text = malloc(n);

	(void)state;
	assert_non_null(text);
	memset(text, '1', n); /* one endless number */
	refuse(text, n, "longer than");
	memset(text, ',', n); /* millions of columns */
	refuse(text, n, "longer than");
	for (size_t i = 0; i < n; i++)
		text[i] = i % 2 ? ',' : '1';
	memcpy(text, "t_s,W\n0,1\n", 10);
	refuse(text, n, "a line of");
	memset(text, '"', n);
	refuse(text, n, "longer than");
	memset(text, '\n', n);
	refuse(text, n, "longer than");
	free(text);
}

static void formats(void **state)
{
	size_t n = 0;

	(void)state;
	for (; ww_import_format_at(n); n++) {
		assert_true(strlen(ww_import_format_at(n)->name) > 0);
		assert_true(strlen(ww_import_format_at(n)->what) > 10);
	}
	assert_true(n >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(other_kinds),
					   cmocka_unit_test(names),
					   cmocka_unit_test(traces),
					   cmocka_unit_test(pipes),
					   cmocka_unit_test(hostile),
					   cmocka_unit_test(formats)};

	return cmocka_run_group_tests_name("import open", tests, make_folder, remove_folder);
}
