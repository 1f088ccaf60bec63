// SPDX-License-Identifier: GPL-2.0
/*
 * A device that takes its time to resume: it is registered last, so it is
 * resumed last, after the UART; tasks thaw only when it is done.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/pm_wakeup.h>
#include <linux/reboot.h>

static unsigned int resume_ms = 400;
module_param(resume_ms, uint, 0644);
MODULE_PARM_DESC(resume_ms, "how long the device takes to resume");

static bool wakes;
module_param(wakes, bool, 0644);
MODULE_PARM_DESC(wakes, "the device wakes the machine while it is being suspended");

static bool resets;
module_param(resets, bool, 0644);
MODULE_PARM_DESC(resets, "the machine is reset while the device resumes");

static struct platform_device *pdev;

static int latethaw_suspend(struct device *dev)
{
	if (wakes)
		pm_wakeup_hard_event(dev);
	return 0;
}

static int latethaw_resume(struct device *dev)
{
	if (resume_ms)
		msleep(resume_ms);
	if (resets)
		emergency_restart();
	return 0;
}

static const struct dev_pm_ops latethaw_ops = {
	.suspend = latethaw_suspend,
	.resume = latethaw_resume,
};

static struct platform_driver latethaw_driver = {
	.driver =
		{
			.name = "latethaw",
			.pm = &latethaw_ops,
		},
};

static int __init latethaw_init(void)
{
	int err = platform_driver_register(&latethaw_driver);

	if (err)
		return err;
	pdev = platform_device_register_simple("latethaw", -1, NULL, 0);
	if (IS_ERR(pdev)) {
		platform_driver_unregister(&latethaw_driver);
		return PTR_ERR(pdev);
	}
	device_init_wakeup(&pdev->dev, true);
	return 0;
}
module_init(latethaw_init);

static void __exit latethaw_exit(void)
{
	platform_device_unregister(pdev);
	platform_driver_unregister(&latethaw_driver);
}
module_exit(latethaw_exit);

MODULE_DESCRIPTION("A device with a slow resume");
MODULE_LICENSE("GPL");
