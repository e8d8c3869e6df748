/*
 * format_detect - recognises the format of an input for `ingest.format: auto`.
 *
 *   a folder with a sign of a format      that format; two signs of different formats are refused
 *   a file whose first bytes are known    the format that reads them (common/formats/bytes/file_kind.c)
 *   a file with an ending of a format     that format
 *   a file that is known, and not read    refused
 *   any other file                        a table of edges
 *
 * Signs and endings are in the rows of format_list.h.
 */
#ifndef STAGES_PLAN_SETTINGS_FORMAT_DETECT_H
#define STAGES_PLAN_SETTINGS_FORMAT_DETECT_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stdint.h>

enum { FORMAT_SEEN_SIZE = 320 };

/* Sets *format to the index of the row (dataset_format.h) for the file or folder `path`, and `seen`
 * to what shows it, in a few words. Fails: ERROR_INPUT if nothing, or more than one thing, shows
 * the format; ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code format_detect(const char *path, int64_t *format,
                                         char seen[FORMAT_SEEN_SIZE], struct error *err);
/* Sets *out to a copy of the settings in which the recognised format replaces `auto`, checked as if
 * the user had written it. Without `auto`, `seen` is "". Owns: *out is the caller's, also after a
 * failure: memory_free(). */
MUST_CHECK enum error_code format_settle(const struct pipeline_settings *settings,
                                         struct pipeline_settings **out,
                                         char seen[FORMAT_SEEN_SIZE], struct error *err);

#endif
