/*
 * progress - how far a long piece of work has come, told by whoever does it to whoever shows it.
 *
 * Libraries do not print; a program that wants to show something names a function, which is called for every
 * piece of work (some hundred kilobytes), and does most of the time nothing.
 */
#ifndef COMMON_BASE_PROGRESS_H
#define COMMON_BASE_PROGRESS_H

#include <stdint.h>

/* `what` is done to `done` of `total` (0: not known), in bytes or other pieces. */
typedef void (*progress_reporter)(const char *what, uint64_t done, uint64_t total);

/* Set before there are other threads. NULL: nobody is told. */
void progress_report_to(progress_reporter reporter);
void progress_note(const char *what, uint64_t done, uint64_t total);

#endif
