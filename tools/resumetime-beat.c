/* SPDX-License-Identifier: MIT */
/* resumetime beat: the same heartbeat as ttybeat, for a DUT that has these programs. */
#define TTYBEAT_MAIN resumetime_beat
#include "ttybeat.c" /* NOLINT(bugprone-suspicious-include): one file is all a DUT needs */
