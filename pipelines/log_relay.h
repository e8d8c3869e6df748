/*
 * log_relay - shows on stderr what a child writes into its log for people: warnings, and how far it is.
 */
#ifndef PIPELINES_LOG_RELAY_H
#define PIPELINES_LOG_RELAY_H

#include <stdbool.h>
#include <stdint.h>

struct log_relay {
    const char *path;  /* of the log; borrowed */
    const char *stage; /* stands before each line; borrowed */
    uint64_t at;       /* what is before this byte has been seen */
    bool progress;     /* show lines of progress too */
};

/* Shows what is new, whole lines only. */
void log_relay_run(struct log_relay *relay);

#endif
