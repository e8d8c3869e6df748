#include "pipelines/store/product_rates.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/math/blas.h"
#include "pipelines/shared/child_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char product_rates_argument[] = "--measure-products";

/* The shapes of one tile of a layer: rows times weights, and the gradient of the weights. */
enum { ROWS = 512, INPUT = 200, OUTPUT = 256, REPEATS = 12 };

static double least_seconds(enum blas_form form, struct matrix_view a, struct matrix_view b,
                            float *c, size_t c_stride)
{
    double least = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double before = clock_seconds();
        blas_product(form, a, b, false, c, c_stride);
        const double seconds = clock_seconds() - before;
        if (repeat == 0 || seconds < least)
            least = seconds;
    }
    return least;
}

enum error_code product_rates_print(struct error *err)
{
    enum { X_SIZE = ROWS * INPUT, W_SIZE = OUTPUT * INPUT, Y_SIZE = ROWS * OUTPUT };
    float *value = NULL;
    const enum error_code rc =
        memory_new(&value, (size_t)X_SIZE + W_SIZE + Y_SIZE + W_SIZE, "products to time", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < (size_t)X_SIZE + W_SIZE; i++)
        value[i] = (float)(i % 17) / 17 - 0.5F;
    const struct matrix_view x = matrix_view_of(value, ROWS, INPUT);
    const struct matrix_view w = matrix_view_of(value + X_SIZE, OUTPUT, INPUT);
    float *y = value + X_SIZE + W_SIZE;
    const double seconds =
        least_seconds(BLAS_NT, x, w, y, OUTPUT) +
        least_seconds(BLAS_TN, matrix_view_of(y, ROWS, OUTPUT), x, y + Y_SIZE, INPUT);
    printf("%s %.1f\n", blas_core_name(), 2 * 2.0 * ROWS * INPUT * OUTPUT / seconds * 1e-9);
    memory_free(value);
    return ERROR_NONE;
}

/* Measures one processor type in a child process; for `core` "" the one that OpenBLAS chooses. */
static enum error_code run_child(const char *core, char name[PRODUCT_CORE_SIZE], double *gigaflops,
                                 struct error *err)
{
    struct child_command command = {0};
    char line[CHILD_TEXT_SIZE];
    int status = 0;
    if (setenv("OPENBLAS_CORETYPE", core, 1) != 0)
        return error_set_errno(err, ERROR_NO_MEMORY, "OPENBLAS_CORETYPE");
    child_add(&command, "/proc/self/exe");
    child_add(&command, "doctor");
    child_add(&command, product_rates_argument);
    enum error_code rc = child_run(&command, NULL, line, &status, err);
    char *blank = strchr(line, ' ');
    if (rc != ERROR_NONE)
        return rc;
    if (status != 0 || !blank)
        return error_set(err, ERROR_IO, "timing products for '%s' ended with status %d", core,
                         status);
    *blank = '\0';
    *gigaflops = strtod(blank + 1, NULL);
    (void)text_copy(name, PRODUCT_CORE_SIZE, line);
    return ERROR_NONE;
}

/* Returns whether OpenBLAS used `core`. A type that it does not know, or this processor does not
 * support, gives the default type, and is left out. */
static bool is_known(const struct product_rates *rates, const char *core)
{
    for (int i = 0; i < rates->count; i++)
        if (strcmp(rates->type[i].core, core) == 0)
            return true;
    return false;
}

static enum error_code measure_all(struct product_rates *out, struct error *err)
{
    static const char *const cores[PRODUCT_RATE_COUNT] = {"", "Haswell", "Zen", "SkylakeX"};
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < PRODUCT_RATE_COUNT; i++) {
        char name[PRODUCT_CORE_SIZE];
        double gigaflops = 0;
        rc = run_child(cores[i], name, &gigaflops, err);
        if (rc != ERROR_NONE || is_known(out, name))
            continue;
        (void)text_copy(out->type[out->count].core, PRODUCT_CORE_SIZE, name);
        out->type[out->count++].gigaflops = gigaflops;
    }
    if (rc == ERROR_NONE)
        (void)text_copy(out->pick, sizeof out->pick, out->type[0].core);
    return rc;
}

enum error_code product_rates_measure(struct product_rates *out, struct error *err)
{
    char own[PRODUCT_CORE_SIZE] = "";
    const char *set = getenv("OPENBLAS_CORETYPE");
    const bool was_set = set != NULL;
    *out = (struct product_rates){0};
    if (set)
        (void)text_copy(own, sizeof own, set);
    const enum error_code rc = measure_all(out, err);
    if (was_set)
        (void)setenv("OPENBLAS_CORETYPE", own, 1);
    else
        (void)unsetenv("OPENBLAS_CORETYPE");
    return rc;
}
