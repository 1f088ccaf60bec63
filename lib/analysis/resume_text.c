/* SPDX-License-Identifier: MIT */
/* The boot loader's text on a line: where it begins, and where it hands over. */
#include "analysis/resume.h"

#include <ctype.h>
#include <regex.h>

#define LINE_MAX_BYTES 512

/*
 * What boot loaders print last before they jump, in lower case: U-Boot and its SPL,
 * barebox, coreboot, TF-A, Xen, the decompressor of Arm kernels, CFE, RedBoot, Apex,
 * and boot ROMs that resume straight into the sleeping kernel.
 */
static const char *const handoff_words[] = {
	"starting kernel",
	"booting kernel",
	"booting the kernel",
	"uncompressing linux",
	"decompressing linux",
	"jumping to",
	"jump to",
	"jumping",
	"booting linux",
	"loading linux",
	"resuming",
	"resume to",
	"resume from",
	"waking up",
	"wakeup",
	"wake up",
	"wake vector",
	"waking vector",
	"entry point",
	"exit boot services",
	"exiting boot",
	"entering kernel",
	"executing",
	"starting program",
	"starting linux",
	"transferring control",
	"passing control",
	"returning to os",
	"return to kernel",
	"boot kernel",
	"go!",
};

/* Lines of a running kernel or its user space: the hand-over lies behind. */
static bool kernel_line(const char *s)
{
	static const char *const heads[] = {"pm:",
					    "acpi:",
					    "linux version",
					    "freezing",
					    "restarting tasks",
					    "oom killer",
					    "enabling non-boot"};

	if (*s == '<' && isdigit((unsigned char)s[1]) && s[2] == '>')
		s += 3;
	if (*s == '[') {
		s += 1 + strspn(s + 1, " ");
		if (isdigit((unsigned char)*s))
			return true;
	}
	for (size_t i = 0; i < WW_COUNTOF(heads); i++)
		if (strncmp(s, heads[i], strlen(heads[i])) == 0)
			return true;
	return false;
}

static bool hands_over(const char *line, const char *lower, const void *regex)
{
	if (regex)
		return regexec(regex, line, 0, NULL, 0) == 0;
	for (size_t i = 0; i < WW_COUNTOF(handoff_words); i++)
		if (strstr(lower, handoff_words[i]))
			return true;
	return false;
}

static int64_t text_gap(const struct ww_window *w, size_t a, size_t b)
{
	return w->lo[b] - w->hi[a];
}

/*
 * First byte of the boot loader's text. What the kernel printed before it slept comes
 * before the wake where that was seen, else before the first long silence.
 */
static size_t first_text(const struct ww_window *w, size_t from, size_t until, int64_t until_ns,
			 const struct ww_interval *wake)
{
	size_t prev = SIZE_MAX, found = SIZE_MAX;
	int64_t longest = 0;

	for (int pass = 0; pass < 2; pass++) {
		prev = from;
		for (size_t i = from; i < until && i < w->n && w->lo[i] <= until_ns; i++) {
			if (w->cls[i] != WW_CL_TEXT)
				continue;
			if (ww_iv_ok(*wake)) {
				if (w->hi[i] >= wake->lo_ns)
					return i;
				continue;
			}
			if (pass == 0 && text_gap(w, prev, i) > longest)
				longest = text_gap(w, prev, i);
			if (pass == 1 && found == SIZE_MAX && 4 * text_gap(w, prev, i) >= longest)
				found = i;
			prev = i;
		}
		/* The sleep itself came after the last text: none of it is the boot loader's. */
		if (pass == 0 && until < w->n && 20 * longest < text_gap(w, prev, until))
			return SIZE_MAX;
	}
	return found;
}

int ww_text_events(const struct ww_window *w, size_t from, size_t until, int64_t until_ns,
		   const struct ww_interval *wake, const void *regex, struct ww_interval *firmware,
		   struct ww_interval *handoff, struct ww_error *err)
{
	char line[LINE_MAX_BYTES] = "", lower[LINE_MAX_BYTES] = "";
	size_t start = first_text(w, from, until, until_ns, wake), n = 0, last = SIZE_MAX;
	bool said = false;
	size_t i;

	(void)err;
	*firmware = *handoff = WW_INTERVAL_NONE;
	if (start == SIZE_MAX)
		return 0;
	*firmware = ww_window_t(w, start);
	for (i = start;; i++) {
		bool end = i >= until || i >= w->n || w->lo[i] > until_ns;

		if (!end && w->cls[i] != WW_CL_TEXT)
			continue;
		if (!end && w->data[i] != '\n' && w->data[i] != '\r' && n < sizeof(line) - 1) {
			line[n] = w->data[i] ? (char)w->data[i] : ' ';
			lower[n] = (char)tolower((unsigned char)line[n]);
			n++;
			last = i;
			continue;
		}
		line[n] = lower[n] = '\0';
		/* A kernel that speaks first is no firmware. */
		if (n && kernel_line(lower)) {
			if (!said)
				*firmware = WW_INTERVAL_NONE;
			if (!regex)
				break;
		}
		said |= n > 0;
		/* The message ends with its last letter, or with the newline after it. */
		if (n && hands_over(line, lower, regex))
			*handoff = (struct ww_interval){w->lo[last], end ? w->hi[last] : w->hi[i]};
		n = 0;
		if (end)
			break;
	}
	return 0;
}

static bool contains(const struct ww_window *w, size_t from, size_t to, const char *words)
{
	size_t n = strlen(words);

	for (size_t i = from; i + n <= to; i++)
		if (memcmp(w->data + i, words, n) == 0)
			return true;
	return false;
}

bool ww_text_boots(const struct ww_window *w, int64_t after_ns, int64_t until_ns)
{
	static const char *const words[] = {"[    0.000000]", "Linux version ",
					    "Booting Linux on physical CPU"};
	size_t from = 0, to;

	while (from < w->n && w->hi[from] < after_ns)
		from++;
	for (to = from; to < w->n && w->lo[to] <= until_ns; to++)
		;
	for (size_t i = 0; i < WW_COUNTOF(words); i++)
		if (contains(w, from, to, words[i]))
			return true;
	return false;
}
