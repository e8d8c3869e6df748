/*
 * report_page - one run, or several next to each other, as one page of HTML without external files.
 *
 *     result      scores by split, the classes
 *     learning    curves by round and by snapshot
 *     graph       the dataset, degrees, the partition
 *     work        what each worker did when, time and bytes by stage, what was repaired
 *     again       settings, versions, commands
 *
 * Each section is a function of report_sections.h in a file of its own.
 */
#ifndef PIPELINES_REPORT_REPORT_PAGE_H
#define PIPELINES_REPORT_REPORT_PAGE_H

#include "common/base/error.h"
#include "pipelines/report/report_run.h"

/* The mark at the beginning of each page, by which made_file.h recognises it. */
#define REPORT_PAGE_MARK "name=generator content=graphmill"

/* Writes the page of run[0], or of run [count] next to each other, to `path`, which is replaced as
 * a whole. Fails: ERROR_IO, ERROR_NO_SPACE, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code report_page_write(const char *path, struct report_run *const *run,
                                             int count, struct error *err);
/* Opens the run, writes report.html into the folder of the run, and closes it. The caller holds the
 * folder; a failure leaves the folder without the page only. Fails: as report_run_open() and
 * report_page_write(). */
MUST_CHECK enum error_code report_page_make(const char *folder, const char *run_id,
                                            struct error *err);

#endif
