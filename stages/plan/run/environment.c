#include "stages/plan/run/environment.h"

#include "common/files/checksum.h"
#include "common/math/bf16_product.h"
#include "common/math/blas.h"
#include "common/nn/operators/partial_sums.h"
#include "common/numbers/cpu_level.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "compiler unknown"
#endif

static const char *c_library(void)
{
#if defined(__GLIBC__)
    return gnu_get_libc_version();
#else
    return "unknown";
#endif
}

/* Returns the length of "OpenBLAS 0.3.21" in "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...". */
static int name_and_version(const char *text)
{
    const size_t name = strcspn(text, " ");
    return (int)(name + (text[name] ? 1 + strcspn(text + name + 1, " ") : 0));
}

void environment_text(bool portable, const char *core, char text[ENVIRONMENT_TEXT_SIZE])
{
    (void)snprintf(text, ENVIRONMENT_TEXT_SIZE,
                   "graphmill %s\nkernels %d%s%s\nsums %d %d %d %d\n%.*s %s\n%s\nglibc %s\n%s\n",
                   GRAPHMILL_VERSION, KERNELS_VERSION, portable ? "" : " ",
                   portable ? "" : cpu_level_name(cpu_level()), PARTIAL_SUMS_CHAINS,
                   PARTIAL_SUMS_GROUPS, PARTIAL_SUMS_ROWS_LEAST, PARTIAL_SUMS_ROWS_MOST,
                   name_and_version(blas_version()), blas_version(), core, bf16_product_version(),
                   c_library(), COMPILER);
}

/* Returns the line of `text` that starts with the word at `name` [size] and a blank, or "". */
static const char *line_of(const char *text, const char *name, size_t size)
{
    while (*text) {
        if (strncmp(text, name, size) == 0 && text[size] == ' ')
            return text;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return text;
}

void environment_short(const char *text, char out[ENVIRONMENT_SHORT_SIZE])
{
    const char *blas = line_of(text, "OpenBLAS", strlen("OpenBLAS"));
    const size_t before = (size_t)name_and_version(blas);
    const char *core = blas[before] == ' ' ? blas + before + 1 : "";
    (void)snprintf(out, ENVIRONMENT_SHORT_SIZE, "%.*s %016" PRIx64,
                   (int)(strcspn(core, "\n") < 20 ? strcspn(core, "\n") : 20), core,
                   checksum_64(text, strlen(text)));
}

static size_t add_difference(char out[ENVIRONMENT_DIFFERENCE_SIZE], size_t at, const char *theirs,
                             const char *here)
{
    const int theirs_size = (int)strcspn(theirs, "\n"), here_size = (int)strcspn(here, "\n");
    if (at >= ENVIRONMENT_DIFFERENCE_SIZE - 1)
        return at;
    const int size = snprintf(out + at, ENVIRONMENT_DIFFERENCE_SIZE - at, "%s%.*s, here %.*s",
                              at ? "; " : "", theirs_size, theirs_size ? theirs : "",
                              here_size ? here_size : 4, here_size ? here : "none");
    return at + (size > 0 ? (size_t)size : 0);
}

bool environment_difference(const char *theirs, const char *here,
                            char out[ENVIRONMENT_DIFFERENCE_SIZE])
{
    size_t at = 0;
    out[0] = '\0';
    if (strcmp(theirs, here) == 0)
        return false;
    for (const char *line = theirs; *line;) {
        const size_t size = strcspn(line, "\n");
        const char *other = line_of(here, line, strcspn(line, " \n"));
        if (strcspn(other, "\n") != size || memcmp(line, other, size) != 0)
            at = add_difference(out, at, line, other);
        line += size;
        line += *line == '\n';
    }
    if (at == 0) /* lines that only this process has */
        (void)snprintf(out, ENVIRONMENT_DIFFERENCE_SIZE, "other facts than here");
    return true;
}
