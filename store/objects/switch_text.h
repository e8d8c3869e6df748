/*
 * switch_text - how a switch lies in storage: one line, its value and a checksum.
 *
 *   60 54 v1:8d6f0b2c51aa9e37
 *   ----- -- ----------------
 *   value |  first 16 hexadecimal digits of the XXH3-128 of key, a NUL and value
 *         version of this format
 *
 * A switch is the one thing in a store that is written over, so nothing else tells a good one from a torn or
 * overwritten one, or from that of another key. The value stands first, to be read by people.
 */
#ifndef STORE_OBJECTS_SWITCH_TEXT_H
#define STORE_OBJECTS_SWITCH_TEXT_H

#include "common/base/error.h"

#include <stddef.h>

/* Of a value, and of a whole line with its line feed and a NUL. */
enum { SWITCH_VALUE_MAX = 4095, SWITCH_LINE_SIZE = SWITCH_VALUE_MAX + 22 };

/* `value` is at most SWITCH_VALUE_MAX bytes. */
void switch_text_encode(const char *key, const char *value, char line[SWITCH_LINE_SIZE]);
/* Fails: ERROR_CORRUPT for a line that is none, or of another key, or whose value does not fit `size`. */
MUST_CHECK enum error_code switch_text_decode(const char *key, const char *line, char *value,
                                              size_t size, struct error *err);

#endif
