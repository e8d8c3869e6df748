/*
 * product_rates - measures how fast the BLAS multiplies matrices on this machine with each
 * processor type that it supports.
 *
 * The library fixes the type when it is loaded, so each type is measured in a child process: this
 * program again, with OPENBLAS_CORETYPE set. It uses one core and tiles as a training step has
 * them, and takes the best of several runs of a few milliseconds. That resolves 5 %, which is
 * enough for doctor to show that the rule in stages/plan/run/core_type.h holds here.
 */
#ifndef PIPELINES_STORE_PRODUCT_RATES_H
#define PIPELINES_STORE_PRODUCT_RATES_H

#include "common/base/error.h"

enum { PRODUCT_RATE_COUNT = 4, PRODUCT_CORE_SIZE = 24 };

struct product_rates {
    struct {
        char core[PRODUCT_CORE_SIZE];
        double gigaflops;
    } type[PRODUCT_RATE_COUNT];
    int count;
    char pick[PRODUCT_CORE_SIZE]; /* the type that OpenBLAS chooses by itself */
};

/* Measures all types. Fails: when a child cannot be started or does not answer. */
MUST_CHECK enum error_code product_rates_measure(struct product_rates *out, struct error *err);

/* Does the work of the child: measures one type and prints "<core> <gigaflops>". */
MUST_CHECK enum error_code product_rates_print(struct error *err);
/* The argument with which `graphmill doctor` does the work of the child. */
extern const char product_rates_argument[];

#endif
