/*
 * child_process - stage programs as child processes. A stage program lies beside this program; its
 * stderr goes to a log file.
 *
 * No child outlives the driver: the kernel kills the child when the driver ends, for whatever
 * reason. A child may therefore be killed at any moment; the next run removes its unfinished files.
 */
#ifndef PIPELINES_SHARED_CHILD_PROCESS_H
#define PIPELINES_SHARED_CHILD_PROCESS_H

#include "common/base/error.h"
#include "common/files/file.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_ARGUMENT_MAX = 160, CHILD_TEXT_SIZE = 512, CHILD_STOP_MS = 5000 };

struct child_command {                            /* {0} is empty */
    const char *argument[CHILD_ARGUMENT_MAX + 1]; /* borrowed, NULL-terminated */
    int count;
    struct log_relay *relay; /* its lines are shown while child_run() waits; NULL: none are */
};

void child_add(struct child_command *command, const char *argument);
/* Adds "--name" and, unless it is NULL, `value`. */
void child_add_option(struct child_command *command, const char *name, const char *value);

/* Writes the path of the stage program, which lies beside this program. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code child_program(const char *stage, char path[FILE_PATH_SIZE],
                                         struct error *err);

/* Starts argument[0]. Its stderr is appended to the file `log_path`, or goes to our stderr when
 * log_path is NULL or cannot be written. Its stdout goes to `stdout_fd`, or to our stdout for -1.
 * SIGTERM and SIGINT are blocked in the child at its start (common/base/stop_signal.h). Fails:
 * ERROR_IO when no process can be made. */
MUST_CHECK enum error_code child_start(const struct child_command *command, const char *log_path,
                                       int stdout_fd, pid_t *pid, struct error *err);
/* Starts the child, waits for it, and stores the first line of its stdout in `line`. *status is the
 * exit status, or 128 + signal. A stop signal is passed on to the child, and a child that has not
 * ended CHILD_STOP_MS later is killed. */
MUST_CHECK enum error_code child_run(const struct child_command *command, const char *log_path,
                                     char line[CHILD_TEXT_SIZE], int *status, struct error *err);

/* Returns the exit status in the wait status of waitpid(), or 128 + signal. */
int child_status(int wait_word);
/* Writes "was killed by signal 9 (Killed)", or "ended with status 74". */
void child_status_text(int status, char text[CHILD_TEXT_SIZE]);
/* Returns the error code for a status; it is the reverse of error_exit_status(). A crash is
 * ERROR_BUG, any other signal ERROR_UNAVAILABLE. */
enum error_code child_error_code(int status);

/* Returns the size of a log in bytes; 0 when there is no log. */
uint64_t child_log_end(const char *log_path);
/* Writes the last error in a log from byte `from` on, as a sentence without time, program and
 * source position. A log without a line of level error gives its last line; an empty one gives "it
 * said nothing". */
void child_last_words(const char *log_path, uint64_t from, char text[CHILD_TEXT_SIZE]);
/* Writes the last progress line in a log from byte `from` on, without time, level and program; ""
 * when there is none. */
void child_progress(const char *log_path, uint64_t from, char *text, size_t size);

#endif
