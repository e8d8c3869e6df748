#include "common/math/bf16_product.h"

#include "common/base/error.h"

enum { LANES = 16, MOST_ROWS = 128 /* of one kernel */, TABLE_BYTES = 16 << 20 };

/* The shape that a kernel is generated for. */
struct kernel_shape {
    size_t rows, cols, depth;
    size_t left_stride, right_width, c_stride;
    bool add;
};

/* --- the library --- */

#if defined(HAS_LIBXSMM)

#include <libxsmm.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

static libxsmm_blasint blas_int(size_t value)
{
    must(value <= INT_MAX);
    return (libxsmm_blasint)value;
}

/* The library's matrices are column-major. So its c is our c^T, its a is the right operand, in
 * pairs, and its b is the left operand. It caches the kernels that it has generated, and finds one
 * again in 20 ns. */
static libxsmm_bsmmfunction kernel_of(const struct kernel_shape *shape)
{
    const libxsmm_blasint right_width = blas_int(shape->right_width);
    const libxsmm_blasint left_stride = blas_int(shape->left_stride);
    const libxsmm_blasint c_stride = blas_int(shape->c_stride);
    const float alpha = 1, beta = shape->add ? 1 : 0;
    const int flags = LIBXSMM_GEMM_FLAG_VNNI_A, prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
    return libxsmm_bsmmdispatch(blas_int(shape->cols), blas_int(shape->rows),
                                blas_int(shape->depth), &right_width, &left_stride, &c_stride,
                                &alpha, &beta, &flags, &prefetch);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *hindrance = "it was not asked";

static bool can_map(size_t bytes, int protection)
{
    void *pages = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return false;
    (void)munmap(pages, bytes);
    return true;
}

/* Starts the library for this instruction set. Without the instruction the library would use
 * kernels with other instructions and other bits. So would a lower LIBXSMM_TARGET in the
 * environment; the call that names the target overrides it. */
static void start(void)
{
    const struct kernel_shape probe = {.rows = 1,
                                       .cols = LANES,
                                       .depth = BF16_DEPTH_UNIT,
                                       .left_stride = BF16_DEPTH_UNIT,
                                       .right_width = LANES,
                                       .c_stride = LANES};
    hindrance = "the processor has no avx512_bf16";
    if (cpu_level_of_host() < CPU_BF16)
        return;
    hindrance = CPU_LEVEL_VARIABLE " names a level below bf16";
    if (cpu_level() < CPU_BF16)
        return;
    /* The library checks neither condition, and would end the process. */
    hindrance = "the system forbids memory that is written and executed";
    if (!can_map(1, PROT_READ | PROT_WRITE | PROT_EXEC))
        return;
    hindrance = "there is no memory for libxsmm's table of kernels";
    if (!can_map(TABLE_BYTES, PROT_READ | PROT_WRITE))
        return;
    libxsmm_init();
    libxsmm_set_target_archid(LIBXSMM_X86_AVX512_CPX);
    hindrance = kernel_of(&probe) ? NULL : "libxsmm makes no kernel of it";
}

const char *bf16_product_hindrance(void)
{
    (void)pthread_once(&once, start);
    return hindrance;
}

const char *bf16_product_version(void)
{
#define TEXT_OF(number) #number
#define DOTTED(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
    return "libxsmm " DOTTED(LIBXSMM_VERSION_MAJOR, LIBXSMM_VERSION_MINOR, LIBXSMM_VERSION_UPDATE);
}

static void multiply(const struct kernel_shape *shape, const bf16 *left, const bf16 *right,
                     float *c)
{
    const libxsmm_bsmmfunction kernel = kernel_of(shape);
    must(kernel);
    kernel(right, left, c);
}

#else

const char *bf16_product_hindrance(void)
{
    return "this build has no library for it";
}

const char *bf16_product_version(void)
{
    return "no library";
}

static void multiply(const struct kernel_shape *shape, const bf16 *left, const bf16 *right,
                     float *c)
{
    (void)shape, (void)left, (void)right, (void)c;
}

#endif

bool bf16_product_is_possible(void)
{
    return !bf16_product_hindrance();
}

/* Computes all rows of c for one panel of columns. */
static void multiply_panel(struct kernel_shape shape, size_t row_count, const bf16 *left,
                           const bf16 *right, float *c)
{
    shape.rows = MOST_ROWS;
    for (size_t row = 0; row < row_count; row += shape.rows) {
        while (shape.rows > row_count - row)
            shape.rows /= 2;
        multiply(&shape, left + row * shape.left_stride, right, c + row * shape.c_stride);
    }
}

void bf16_product(struct bf16_left a, struct bf16_right b, bool add, float *c, size_t c_stride)
{
    must(a.depth == b.depth && a.depth > 0);
    must(bf16_product_is_possible());
    const size_t panel_depth = bf16_padded_depth(b.depth);
    struct kernel_shape shape = {.left_stride = a.stride ? a.stride : panel_depth,
                                 .depth = a.stride ? a.depth + a.depth % 2 : panel_depth,
                                 .c_stride = c_stride,
                                 .add = add};
    for (size_t at = 0; at < b.cols; at += shape.right_width) {
        shape.right_width = bf16_panel_width(at, b.cols);
        shape.cols = b.cols - at < shape.right_width ? b.cols - at : shape.right_width;
        multiply_panel(shape, a.rows, a.value, b.value + at * panel_depth, c + at);
    }
}
