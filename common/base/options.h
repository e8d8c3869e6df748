/*
 * options - one table says every option of a program: command line and --help come from it.
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
    OPTION_INT_OR_AUTO, /* the same, or 0 for "auto", which is below `least` */
    OPTION_BYTES,       /* uint64_t: "512M" */
    OPTION_FLAG,        /* bool, no value */
    OPTION_LIST,        /* struct option_list: may be given several times */
};

enum { OPTION_LIST_MAX = 64 };

struct option_list {
    int count;
    const char *item[OPTION_LIST_MAX];
};

struct option_spec {
    const char *name; /* "threads" for --threads; NULL ends the table */
    enum option_type type;
    size_t offset;            /* where in the program's struct the value goes */
    const char *default_text; /* as it would be typed; NULL: stays zero */
    int64_t least, most;      /* of OPTION_INT */
    const char *value_name;   /* "FILE", for --help */
    const char *help;
};

/* Fills `values` from the table's defaults, then from argv; strings are borrowed from both. What is no
 * option, and all behind "--", is gathered in *rest in order. --help is not handled here: see
 * options_want_help().
 * Fails: ERROR_USAGE, for an unknown option with the nearest known one. */
MUST_CHECK enum error_code options_parse(const struct option_spec *specs, int argc, char **argv,
                                         void *values, struct option_list *rest, struct error *err);
/* True when --help or -h stands among the arguments before "--". */
bool options_want_help(int argc, char **argv);
/* Prints the table to stdout, two spaces in. */
void options_print_help(const struct option_spec *specs);

#endif
