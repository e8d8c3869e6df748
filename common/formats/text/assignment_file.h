/*
 * assignment_file - the part of each node as text: line i is the part of node i.
 *
 * DGL's partition tools and ParMETIS write and read this format, one file for each node type
 * ("<ntype>.txt"). A part is a decimal number from 0. A carriage return before the line feed and a
 * last line without a line feed are accepted, empty lines are not.
 */
#ifndef COMMON_FORMATS_TEXT_ASSIGNMENT_FILE_H
#define COMMON_FORMATS_TEXT_ASSIGNMENT_FILE_H

#include "common/base/error.h"

#include <stdint.h>

/* Reads part [node_count], each below `part_count`. Fails: ERROR_NOT_FOUND; ERROR_IO; ERROR_INPUT
 * naming file:line and the expected and found values. */
MUST_CHECK enum error_code assignment_file_read(const char *path, uint32_t part_count,
                                                uint32_t *part, uint32_t node_count,
                                                struct error *err);
/* Writes part [node_count]; the file appears completely or not at all. */
MUST_CHECK enum error_code assignment_file_write(const char *path, const uint32_t *part,
                                                 uint32_t node_count, struct error *err);

#endif
