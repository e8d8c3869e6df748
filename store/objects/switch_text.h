/*
 * switch_text - the stored form of a ref (a switch in the code): one line with its value and a
 * checksum.
 *
 *   60 54 v1:8d6f0b2c51aa9e37
 *   ----- -- ----------------
 *   value |  first 16 hexadecimal digits of the XXH3-128 of key, a NUL and value
 *         version of this format
 *
 * A ref is the only object in a store that is overwritten. Only the checksum shows that a value is
 * torn, overwritten or that of another key. The value comes first, for people to read.
 */
#ifndef STORE_OBJECTS_SWITCH_TEXT_H
#define STORE_OBJECTS_SWITCH_TEXT_H

#include "common/base/error.h"

#include <stddef.h>

/* The sizes of a value, and of a whole line with its line feed and a NUL. */
enum { SWITCH_VALUE_MAX = 4095, SWITCH_LINE_SIZE = SWITCH_VALUE_MAX + 22 };

/* `value` is at most SWITCH_VALUE_MAX bytes. */
void switch_text_encode(const char *key, const char *value, char line[SWITCH_LINE_SIZE]);
/* Reads the value of a line. Fails: ERROR_CORRUPT for a malformed line, the line of another key, or
 * a value that does not fit `size`. */
MUST_CHECK enum error_code switch_text_decode(const char *key, const char *line, char *value,
                                              size_t size, struct error *err);

#endif
