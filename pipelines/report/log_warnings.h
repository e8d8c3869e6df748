/*
 * log_warnings - the problems of a run that were repaired on the way: warnings and errors in the
 * logs of its workers.
 */
#ifndef PIPELINES_REPORT_LOG_WARNINGS_H
#define PIPELINES_REPORT_LOG_WARNINGS_H

#include "common/base/error.h"

#include <stddef.h>

enum { LOG_WARNING_SIZE = 400, LOG_WARNINGS_KEPT = 40 };

struct log_warnings {        /* {0} is empty */
    size_t warnings, errors; /* number of lines of each level */
    char line[LOG_WARNINGS_KEPT]
             [LOG_WARNING_SIZE]; /* the first line of each file, without the time of day */
    size_t line_count;
};

/* Reads all files in `folder` whose names end in ".log"; a missing folder counts as empty. Fails:
 * ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code log_warnings_read(const char *folder, struct log_warnings *out,
                                             struct error *err);
/* Adds the lines of one file. */
void log_warnings_add(struct log_warnings *warnings, const char *text, size_t size);

#endif
