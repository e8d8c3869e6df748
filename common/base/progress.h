/*
 * progress - reports the progress of long work from the code that does it to the program that shows
 * it.
 *
 * Libraries do not print. A program that wants to show progress sets a function; it is called for
 * every piece of work (some hundred kilobytes), and should do nothing most of the time.
 */
#ifndef COMMON_BASE_PROGRESS_H
#define COMMON_BASE_PROGRESS_H

#include <stdint.h>

/* Reports that `what` is done to `done` of `total` (0: not known), in bytes or other pieces. */
typedef void (*progress_reporter)(const char *what, uint64_t done, uint64_t total);

/* Sets the function, before other threads exist. NULL: none. */
void progress_report_to(progress_reporter reporter);
void progress_note(const char *what, uint64_t done, uint64_t total);

#endif
