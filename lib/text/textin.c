// SPDX-License-Identifier: MIT
#include "text/textin.h"

void ww_text_close(struct ww_text *t)
{
	if (t)
		t->close(t);
}
