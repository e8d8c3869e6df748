/*
 * report_page - a run, or several beside each other, as one page of HTML that needs nothing but itself.
 *
 *     result      scores by split, the classes
 *     learning    curves by round and by snapshot
 *     graph       the dataset, degrees, the partition
 *     work        who did what when, time and bytes by stage, what was mended
 *     again       settings, versions, commands
 *
 * A section is a function of report_sections.h and a file of its own.
 */
#ifndef PIPELINES_REPORT_REPORT_PAGE_H
#define PIPELINES_REPORT_REPORT_PAGE_H

#include "common/base/error.h"
#include "pipelines/report/report_run.h"

/* Stands at the beginning of each page. */
#define REPORT_PAGE_MARK "name=generator content=graphmill"

/* Writes the page of run[0], or of run [count] beside each other, to `path`, which is replaced whole.
 * Fails: ERROR_IO, ERROR_NO_SPACE, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code report_page_write(const char *path, struct report_run *const *run,
                                             int count, struct error *err);
/* report.html in the folder of a run: read, written, closed. For whoever holds its folder; a failure costs nothing but the
 * page. Fails: as report_run_open() and report_page_write(). */
MUST_CHECK enum error_code report_page_make(const char *folder, const char *run_id,
                                            struct error *err);

#endif
