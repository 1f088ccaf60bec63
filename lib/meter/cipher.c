/* SPDX-License-Identifier: MIT */
#include "meter/cipher.h"

#if WW_CIPHER
#include <nettle/aes.h>

void ww_aes_encrypt(const uint8_t *key, size_t key_n, uint8_t *to, const uint8_t *from, size_t n)
{
	union {
		struct aes128_ctx small;
		struct aes256_ctx big;
	} c;

	if (key_n == AES128_KEY_SIZE) {
		aes128_set_encrypt_key(&c.small, key);
		aes128_encrypt(&c.small, n, to, from);
	} else {
		aes256_set_encrypt_key(&c.big, key);
		aes256_encrypt(&c.big, n, to, from);
	}
}

void ww_aes_decrypt(const uint8_t *key, size_t key_n, uint8_t *to, const uint8_t *from, size_t n)
{
	union {
		struct aes128_ctx small;
		struct aes256_ctx big;
	} c;

	if (key_n == AES128_KEY_SIZE) {
		aes128_set_decrypt_key(&c.small, key);
		aes128_decrypt(&c.small, n, to, from);
	} else {
		aes256_set_decrypt_key(&c.big, key);
		aes256_decrypt(&c.big, n, to, from);
	}
}
#else
/* Nobody gets here: a driver that needs it says that it was left out. */
void ww_aes_encrypt(const uint8_t *key, size_t key_n, uint8_t *to, const uint8_t *from, size_t n)
{
	(void)key;
	(void)key_n;
	(void)from;
	memset(to, 0, n);
}

void ww_aes_decrypt(const uint8_t *key, size_t key_n, uint8_t *to, const uint8_t *from, size_t n)
{
	ww_aes_encrypt(key, key_n, to, from, n);
}
#endif
