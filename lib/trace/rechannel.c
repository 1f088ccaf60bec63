/* SPDX-License-Identifier: MIT */
/* A channel's resolution and accuracy may be known only once its meter has answered. */
#include "trace/writer.h"

int ww_writer_refine(struct ww_writer *w, const struct ww_channel_info *info, struct ww_error *err)
{
	struct ww_channel_info c = *info;
	int rc;

	if (w->failed.code)
		return ww_fail(err, w->failed.code, "%s", w->failed.text);
	if (c.id < 1 || c.id > w->channels || c.source < 1 || c.source > w->sources)
		return ww_fail(err, -EINVAL, "%s: there is no channel %u of source %u", w->path,
			       c.id, c.source);
	c.name = c.name ? c.name : "";
	c.quantity = c.quantity ? c.quantity : "";
	c.unit = c.unit ? c.unit : "";
	if (c.scale == 0.0)
		c.scale = 1.0;
	rc = w->ops->channel(w, &c, err);
	if (rc < 0 && w->failed.code == 0)
		ww_fail(&w->failed, rc, "%s: writing failed before", w->path);
	return rc;
}
