/*
 * options - one table describes all options of a program: the parser and --help use it.
 */
#ifndef COMMON_BASE_OPTIONS_H
#define COMMON_BASE_OPTIONS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_TEXT,        /* const char * */
    OPTION_INT,         /* int64_t, within least..most */
    OPTION_INT_OR_AUTO, /* int64_t, or 0 for "auto", which is below `least` */
    OPTION_BYTES,       /* uint64_t: "512M" */
    OPTION_FLAG,        /* bool, no value */
    OPTION_LIST,        /* struct option_list: may be repeated */
};

enum { OPTION_LIST_MAX = 64 };

struct option_list {
    int count;
    const char *item[OPTION_LIST_MAX];
};

struct option_spec {
    const char *name; /* "threads" for --threads; NULL ends the table */
    enum option_type type;
    size_t offset;            /* offset of the value in the program's struct */
    const char *default_text; /* the default as a user would type it; NULL: zero */
    int64_t least, most;      /* of OPTION_INT */
    const char *value_name;   /* "FILE", for --help */
    const char *help;
};

/* Fills `values` with the table's defaults, then from argv; strings are borrowed from both. Words
 * that are no options, and all after "--", go to *rest in order. --help is not handled here: see
 * options_want_help(). Fails: ERROR_USAGE; for an unknown option the message has the nearest known
 * one. */
MUST_CHECK enum error_code options_parse(const struct option_spec *specs, int argc, char **argv,
                                         void *values, struct option_list *rest, struct error *err);
/* Returns whether --help or -h is among the arguments before "--". */
bool options_want_help(int argc, char **argv);
/* Prints the table to stdout, indented by two spaces. */
void options_print_help(const struct option_spec *specs);

#endif
