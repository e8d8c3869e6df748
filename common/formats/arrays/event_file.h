/*
 * event_file - writes scalars for TensorBoard: records of TFRecord, each of them a Protocol Buffers
 * message Event.
 *
 *   record   u64 length, u32 masked CRC-32C of it, the bytes, u32 masked CRC-32C of them; little
 *            endian
 *   Event    wall_time = 1 (double), step = 2 (int64), file_version = 3 "brain.Event:2" in the
 *            first, summary = 5
 *   Summary  value = 1 {tag = 1, simple_value = 2 (float)}
 *
 * Equal scalars give equal bytes, because there is no time of day: wall_time is the step, so
 * TensorBoard's relative axis counts steps. Format: tensorflow/core/lib/io/record_writer.h,
 * tensorflow/core/util/event.proto, framework/summary.proto.
 */
#ifndef COMMON_FORMATS_ARRAYS_EVENT_FILE_H
#define COMMON_FORMATS_ARRAYS_EVENT_FILE_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { EVENT_TAG_MAX = 64 };

struct event_file { /* {0} is empty and may be released */
    uint8_t *bytes; /* [size] */
    size_t size, capacity;
};

/* Adds one scalar; before the first it adds the record with the version of the file. `tag` has less
 * than EVENT_TAG_MAX bytes. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code event_file_add(struct event_file *file, const char *tag, int64_t step,
                                          float value, struct error *err);
void event_file_release(struct event_file *file);
/* Return the CRC-32C (Castagnoli) of bytes, and its masked form in records: rotated by 15 bits,
 * plus a constant. */
uint32_t event_file_crc(const void *bytes, size_t size);
uint32_t event_file_mask(uint32_t crc);

#endif
