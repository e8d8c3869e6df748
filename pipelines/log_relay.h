/*
 * log_relay - shows on stderr what a child writes into its log for people: warnings, and how far it is.
 *
 * On a terminal one line is drawn over, from the first moment on: the stage, its seconds, and what it said last of how far it is,
 * cut to the width. Elsewhere each thing it says of that is a line.
 */
#ifndef PIPELINES_LOG_RELAY_H
#define PIPELINES_LOG_RELAY_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_RELAY_TEXT_SIZE = 256 };

struct log_relay {
    const char *path;  /* of the log; borrowed */
    const char *stage; /* stands before each line; borrowed */
    uint64_t at;       /* what is before this byte has been seen */
    bool progress;     /* show lines of progress too */
    bool on_terminal;  /* stderr is one */
    int64_t started_ms;
    char last[LOG_RELAY_TEXT_SIZE];
};

/* Shows what is new, whole lines only. */
void log_relay_run(struct log_relay *relay);
/* Takes the line away that is drawn over. */
void log_relay_end(struct log_relay *relay);

#endif
