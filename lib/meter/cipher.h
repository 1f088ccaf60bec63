/* SPDX-License-Identifier: MIT */
/* AES, block by block, of nettle. Without it the meters that need it are left out. */
#ifndef WW_METER_CIPHER_H
#define WW_METER_CIPHER_H

#include "base/base.h"

#ifdef WW_WITH_NETTLE
#define WW_CIPHER 1
#else
#define WW_CIPHER 0
#endif

/* n bytes, whole blocks of 16; key of 16 or 32 bytes. */
void ww_aes_encrypt(const uint8_t *key, size_t key_n, uint8_t *to, const uint8_t *from, size_t n);
void ww_aes_decrypt(const uint8_t *key, size_t key_n, uint8_t *to, const uint8_t *from, size_t n);

#endif
