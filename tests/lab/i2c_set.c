/* SPDX-License-Identifier: MIT */
/*
 * Writes registers of a chip on an I2C bus, as i2cset does, and tells between which times
 * of CLOCK_BOOTTIME: i2c_set /dev/i2c-0 0x40 REG VALUE [REG VALUE...]. Values are of 16
 * bits, the upper byte first.
 */
#include <fcntl.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int fd = argc > 4 ? open(argv[1], O_RDWR) : -1;
	long long before;

	/* The kernel's driver has the address, too. */
	if (fd < 0 || ioctl(fd, I2C_SLAVE_FORCE, strtol(argv[2], NULL, 0)) < 0) {
		perror("i2c_set");
		return 1;
	}
	before = now();
	for (int i = 3; i + 1 < argc; i += 2) {
		unsigned v = (unsigned)strtol(argv[i + 1], NULL, 0) & 0xffff;
		union i2c_smbus_data data = {.word = (uint16_t)(v >> 8 | v << 8)};
		struct i2c_smbus_ioctl_data io = {.read_write = I2C_SMBUS_WRITE,
						  .command = (uint8_t)strtol(argv[i], NULL, 0),
						  .size = I2C_SMBUS_WORD_DATA,
						  .data = &data};

		if (ioctl(fd, I2C_SMBUS, &io) < 0) {
			perror("i2c_set");
			return 1;
		}
	}
	printf("%lld %lld\n", before, now());
	return 0;
}
