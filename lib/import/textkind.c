// SPDX-License-Identifier: MIT
/* Files that people give where kernel text is wanted, and what they can do about it. */
#include "import/bytein.h"

static const struct {
	const char *magic;
	size_t n;
	const char *what;
} kinds[] = {
	{"SQLite format 3", 15,
	 "a database, as recordings are, and no text: ask for the report of the recording"},
	{"WWSTREAM", 8,
	 "a stream of a recording and no text: store it with `wwtrace import`, then ask for the "
	 "report of the recording"},
	{"PERFILE2", 8,
	 "a recording of perf: turn it into text with `perf script -i FILE > trace.txt`"},
	{"LPKSHHRH", 8,
	 "a journal in its binary form: turn it into text with `journalctl -k -o short-monotonic "
	 "--file FILE > log.txt`"},
	{"BZh", 3, "packed by bzip2: unpack it first, or bzcat it into -"},
	{"\x04\x22\x4d\x18", 4, "packed by lz4: unpack it first, or lz4cat it into -"},
	{"PK\x03\x04", 4, "a ZIP archive: unpack it first"},
	{"Rar!", 4, "a RAR archive: unpack it first"},
	{"7z\xbc\xaf\x27\x1c", 6, "a 7z archive: unpack it first"},
	{"%PDF", 4, "a PDF: save its text"},
	{"\x89PNG", 4, "a picture: the text itself is wanted"},
	{"\xff\xd8\xff", 3, "a picture: the text itself is wanted"},
	{"\xd4\xc3\xb2\xa1", 4, "a capture of packets, no log of a kernel"},
	{"\x0a\x0d\x0d\x0a", 4, "a capture of packets, no log of a kernel"},
	{"KDUMP   ", 8,
	 "a dump of a kernel's memory: `crash` or `vmcore-dmesg` reads the log out of it"},
};

/* Trace packets of Perfetto: field 1 with its length, one after the other. */
static bool is_perfetto(const uint8_t *p, size_t n)
{
	size_t at = 0;
	int packets = 0;
	bool binary = false;

	while (at < n && p[at] == 0x0a && packets < 3) {
		uint64_t len = 0;
		unsigned shift = 0;

		for (at++; at < n && shift < 35; shift += 7) {
			len |= (uint64_t)(p[at] & 0x7f) << shift;
			if (!(p[at++] & 0x80))
				break;
		}
		if (len == 0 || len > n - at)
			return packets > 1 && binary;
		for (size_t i = 0; i < len; i++)
			binary |= p[at + i] < 7;
		at += (size_t)len;
		packets++;
	}
	return packets > 1 && binary;
}

const char *ww_text_kind(const uint8_t *p, size_t n)
{
	if (n >= 18 && memcmp(p,
			      "\x7f"
			      "ELF",
			      4) == 0) {
		/* e_type in the file's own order of bytes: 4 is a core */
		unsigned type = p[5] == 2 ? p[17] : p[16];

		return type == 4 ? "a core file: `crash` or `vmcore-dmesg` reads a kernel's log "
				   "out of one"
				 : "a program, no log";
	}
	for (size_t i = 0; i < WW_COUNTOF(kinds); i++)
		if (n >= kinds[i].n && memcmp(p, kinds[i].magic, kinds[i].n) == 0)
			return kinds[i].what;
	if (is_perfetto(p, n))
		return "a trace of Perfetto: turn it into text with `traceconv systrace FILE "
		       "trace.txt`";
	return NULL;
}
