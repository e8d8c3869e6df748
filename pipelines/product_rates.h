/*
 * product_rates - how fast the BLAS multiplies on this machine, with each processor type it could take.
 *
 * The type is fixed when the library is loaded, so each is measured in a child of its own: this program
 * again, with OPENBLAS_CORETYPE set. One core, tiles as a step has them, the best of some, a few
 * milliseconds each: enough to tell 5 %, for doctor to show that the rule in stages/plan/core_type.h holds here.
 */
#ifndef PIPELINES_PRODUCT_RATES_H
#define PIPELINES_PRODUCT_RATES_H

#include "common/base/error.h"

enum { PRODUCT_RATE_COUNT = 4, PRODUCT_CORE_SIZE = 24 };

struct product_rates {
    struct {
        char core[PRODUCT_CORE_SIZE];
        double gigaflops;
    } type[PRODUCT_RATE_COUNT];
    int count;
    char pick[PRODUCT_CORE_SIZE]; /* what OpenBLAS takes when it is not told */
};

/* Fails: when a child cannot be started or does not answer. */
MUST_CHECK enum error_code product_rates_measure(struct product_rates *out, struct error *err);

/* The child's part: prints "<core> <gigaflops>". */
MUST_CHECK enum error_code product_rates_print(struct error *err);
/* The argument that makes `graphmill doctor` do the child's part. */
extern const char product_rates_argument[];

#endif
