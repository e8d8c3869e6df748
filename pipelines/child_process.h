/*
 * child_process - stage programs as children: found beside this program, stderr in a log file.
 *
 * No child outlives the driver: the kernel kills it when the driver is gone, however that ended. A program may be
 * killed at any moment, and what it left half made is swept up by the next run.
 */
#ifndef PIPELINES_CHILD_PROCESS_H
#define PIPELINES_CHILD_PROCESS_H

#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_ARGUMENT_MAX = 160, CHILD_TEXT_SIZE = 512, CHILD_STOP_MS = 5000 };

struct child_command {                            /* {0} is empty */
    const char *argument[CHILD_ARGUMENT_MAX + 1]; /* borrowed, NULL-terminated */
    int count;
    struct log_relay *relay; /* shown while child_run() waits; NULL: nothing */
};

void child_add(struct child_command *command, const char *argument);
/* Adds "--name" and, unless NULL, `value`. */
void child_add_option(struct child_command *command, const char *name, const char *value);

/* The stage program's path, beside this program. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code child_program(const char *stage, char path[FILE_PATH_SIZE],
                                         struct error *err);

/* Starts argument[0]; stderr is appended to `log_path` (NULL, or one that cannot be written: ours), stdout goes
 * to `stdout_fd` (-1: ours). It begins with SIGTERM and SIGINT held back (common/base/stop_signal.h).
 * Fails: ERROR_IO when there is no process for it. */
MUST_CHECK enum error_code child_start(const struct child_command *command, const char *log_path,
                                       int stdout_fd, pid_t *pid, struct error *err);
/* Starts, waits, and gives the first line of its stdout. *status: exit status, or 128 + signal. A stop
 * signal is passed on; a child that does not heed it is killed after CHILD_STOP_MS. */
MUST_CHECK enum error_code child_run(const struct child_command *command, const char *log_path,
                                     char line[CHILD_TEXT_SIZE], int *status, struct error *err);

/* Exit status of waitpid's word, or 128 + signal. */
int child_status(int wait_word);
/* "was killed by signal 9 (Killed)", or "ended with status 74". */
void child_status_text(int status, char text[CHILD_TEXT_SIZE]);
/* The error that a status stands for (the reverse of error_exit_status): a crash is ERROR_BUG, another
 * signal ERROR_UNAVAILABLE. */
enum error_code child_error_code(int status);

/* Where a log ends now; 0 when there is none. */
uint64_t child_log_end(const char *log_path);
/* The last error in a log from byte `from` on, as a sentence: without time, program and place in the source. With no
 * line that says error, the last line; with none, "it said nothing". */
void child_last_words(const char *log_path, uint64_t from, char text[CHILD_TEXT_SIZE]);
/* The last line of progress in a log from byte `from` on, without time, level and program; "" when there is none. */
void child_progress(const char *log_path, uint64_t from, char *text, size_t size);

#endif
