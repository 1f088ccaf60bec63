/* SPDX-License-Identifier: MIT */
/* wwtrace: look into traces and take records out of them. */
#include "common.h"
#include "wwtrace.h"

static const struct tool_command commands[] = {
	{"info", wwtrace_info, "what a trace is: environment, sources, counts"},
	{"dump", wwtrace_dump, "all records in the order of time, for people"},
	{"export", wwtrace_export, "records as CSV or JSON lines, for programs"},
	{"import", wwtrace_import, "store a file of another program as a trace"},
	{"redecode", wwtrace_redecode, "decode once more what meters sent"},
	{0}};

int main(int argc, char **argv)
{
	return tool_main(argc, argv, "wwtrace", "look into traces", commands);
}
