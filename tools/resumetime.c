/* SPDX-License-Identifier: MIT */
#include "resumetime.h"

static const struct tool_command commands[] = {
	{"act", resumetime_act, "do one action by hand, such as a press of the power button"},
	{"beat", resumetime_beat, "write the heartbeat: runs on the machine under test"},
	{"bisect-step", resumetime_bisect_step, "good, bad or skip, for git bisect run"},
	{"compare", resumetime_compare,
	 "two builds, boards or kernels: what moved, and is it sure"},
	{"kernlog", resumetime_kernlog, "suspends in kernel logs and ftrace: phases, devices, why"},
	{"loopback", resumetime_loopback, "measure the serial path itself: a wire from TX to RX"},
	{"record", resumetime_record, "watch the heartbeat, or run cycles of suspend and resume"},
	{"report", resumetime_report, "latencies of the cycles in a trace, with uncertainties"},
	{"vet", resumetime_vet, "callbacks of drivers with delays that someone wrote"},
	{NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
	return tool_main(argc, argv, "resumetime", "how long a machine takes to sleep and to wake",
			 commands);
}
