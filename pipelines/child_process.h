/*
 * child_process - stage programs as children: found beside this program, stderr in a log file.
 */
#ifndef PIPELINES_CHILD_PROCESS_H
#define PIPELINES_CHILD_PROCESS_H

#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>
#include <sys/types.h>

enum { CHILD_ARGUMENT_MAX = 160, CHILD_TEXT_SIZE = 512 };

struct child_command {                            /* {0} is empty */
    const char *argument[CHILD_ARGUMENT_MAX + 1]; /* borrowed, NULL-terminated */
    int count;
};

void child_add(struct child_command *command, const char *argument);
/* Adds "--name" and, unless NULL, `value`. */
void child_add_option(struct child_command *command, const char *name, const char *value);

/* The stage program's path: beside this program, else found through PATH. */
MUST_CHECK enum error_code child_program(const char *stage, char path[FILE_PATH_SIZE],
                                         struct error *err);

/* Starts argument[0]; stderr is appended to `log_path` (NULL: ours), stdout goes to `stdout_fd` (-1:
 * ours). The child gets SIGTERM when we die. */
MUST_CHECK enum error_code child_start(const struct child_command *command, const char *log_path,
                                       int stdout_fd, pid_t *pid, struct error *err);
/* Starts, waits, and gives the first line of its stdout. *status: exit status, or 128 + signal. A stop
 * signal is passed on. */
MUST_CHECK enum error_code child_run(const struct child_command *command, const char *log_path,
                                     char line[CHILD_TEXT_SIZE], int *status, struct error *err);
/* Exit status of waitpid's word, or 128 + signal. */
int child_status(int wait_word);
/* The last line in a log that says error, without its time; or "". */
void child_last_error(const char *log_path, char text[CHILD_TEXT_SIZE]);
/* The error that an exit status stands for (the reverse of error_exit_status). */
enum error_code child_error_code(int status);

#endif
