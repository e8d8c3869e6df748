/*
 * log_relay - shows on stderr what a child process writes to its log for people: warnings and
 * progress.
 *
 * On a terminal it draws one line in place from the start: the stage, the seconds it has taken, and
 * its last progress message, cut to the width. Elsewhere each progress message is a line.
 */
#ifndef PIPELINES_SHARED_LOG_RELAY_H
#define PIPELINES_SHARED_LOG_RELAY_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_RELAY_TEXT_SIZE = 256 };

struct log_relay {
    const char *path;  /* of the log; borrowed */
    const char *stage; /* printed before each line; borrowed */
    uint64_t at;       /* the log has been read up to this byte */
    bool progress;     /* show progress lines too */
    bool on_terminal;  /* stderr is a terminal */
    int64_t started_ms;
    char last[LOG_RELAY_TEXT_SIZE];
};

/* Shows the new complete lines of the log. */
void log_relay_run(struct log_relay *relay);
/* Removes the line that is drawn in place. */
void log_relay_end(struct log_relay *relay);

#endif
