/*
 * Blocking. An entry costs one row of b, so those rows must come from the first cache. b is packed
 * panel by panel, PANEL_FLOATS at a time. For each panel every row of `a` adds its entries that
 * fall into the panel to accumulators in registers. Panels are at most BLOCK_VECTORS vectors wide,
 * which fixes the number of accumulators, and as many rows high as fit.
 *
 * If rows of b are used only a few times, packing costs more than it saves: then one panel has all
 * rows of b in place. Rows in bf16 are always packed, which converts them to floats.
 *
 * The accumulators are for AVX-512. Other processors have the same blocks, with loops over a row of
 * a block.
 */
#include "common/math/sparse_product.h"

#include "common/base/error.h"
#include "common/math/vector.h"
#include "common/numbers/cpu_kernel.h"
#include "common/numbers/cpu_level.h"

#include <string.h>
#if CPU_LEVEL_X86
#include <immintrin.h>
#endif

enum { LANES = 16, BLOCK_VECTORS = 8, PANEL_FLOATS = 8192, ROWS_AT_ONCE = 512 };

/* Packing pays from this many entries for each row of b. */
enum { PACKED_USES_MIN = 8 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* If the columns do not fill the last vector, it begins earlier and overlaps the one before; both
 * compute the same sums. So the remainder needs no narrower code. */
struct panel {
    const float *base;      /* row `first` */
    size_t stride;          /* distance between rows in floats */
    size_t first, end;      /* rows of b */
    size_t column, columns; /* columns of b */
};

/* The position in each row of `a`. */
struct progress {
    const struct sparse_entry *next[ROWS_AT_ONCE], *end[ROWS_AT_ONCE];
};

CPU_INLINE size_t vectors_of(size_t columns)
{
    return (columns + LANES - 1) / LANES;
}

#if CPU_LEVEL_X86
/* The accumulators are named variables and not an array, because only then do both compilers keep
 * them in registers. */
#define EACH_VECTOR(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define PLACE(i)        (c + ((i) < vectors - 1 ? (size_t)(i)*LANES : last))
#define DECLARE(i)      lanes sum##i = {0};
#define LOAD(i)                                                                                    \
    if ((i) < vectors)                                                                             \
        memcpy(&sum##i, PLACE(i), sizeof(lanes));
#define ADD(i)                                                                                     \
    if ((i) < vectors) {                                                                           \
        lanes term;                                                                                \
        memcpy(&term, b + ((i) < vectors - 1 ? (size_t)(i)*LANES : from_last), sizeof term);       \
        sum##i = fused(value, term, sum##i);                                                       \
    }
#define STORE(i)                                                                                   \
    if ((i) < vectors)                                                                             \
        memcpy(PLACE(i), &sum##i, sizeof(lanes));

CPU_AVX512_CODE CPU_INLINE lanes fused(float factor, lanes b, lanes sum)
{
    return (lanes)_mm512_fmadd_ps(_mm512_set1_ps(factor), (__m512)b, (__m512)sum);
}

CPU_AVX512_CODE CPU_INLINE void add_entries(const struct panel *panel, struct progress *progress,
                                            size_t rows, bool fresh, float *c, size_t c_stride,
                                            const bool packed, const size_t vectors)
{
    const size_t last = panel->columns - LANES, first = panel->first, end_row = panel->end;
    const float *const base = panel->base;
    const size_t stride = packed ? vectors * LANES : panel->stride;
    const size_t from_last = packed ? stride - LANES : last;
    for (size_t row = 0; row < rows; row++, c += c_stride) {
        const struct sparse_entry *entry = progress->next[row], *const end = progress->end[row];
        EACH_VECTOR(DECLARE)
        if (!fresh) {
            EACH_VECTOR(LOAD)
        }
        for (; entry < end && entry->column < end_row; entry++) {
            const float value = entry->value;
            const float *b = base + (entry->column - first) * stride;
            EACH_VECTOR(ADD)
        }
        progress->next[row] = entry;
        EACH_VECTOR(STORE)
    }
}

CPU_AVX512_CODE CPU_INLINE void add_panel(const struct panel *panel, struct progress *progress,
                                          size_t rows, bool fresh, float *c, size_t c_stride,
                                          const bool packed)
{
    _Static_assert(BLOCK_VECTORS == 8, "one case for each width");
    switch (vectors_of(panel->columns)) {
    case 1:
        add_entries(panel, progress, rows, fresh, c, c_stride, packed, 1);
        break;
    case 2:
        add_entries(panel, progress, rows, fresh, c, c_stride, packed, 2);
        break;
    case 3:
        add_entries(panel, progress, rows, fresh, c, c_stride, packed, 3);
        break;
    case 4:
        add_entries(panel, progress, rows, fresh, c, c_stride, packed, 4);
        break;
    case 5:
        add_entries(panel, progress, rows, fresh, c, c_stride, packed, 5);
        break;
    case 6:
        add_entries(panel, progress, rows, fresh, c, c_stride, packed, 6);
        break;
    case 7:
        add_entries(panel, progress, rows, fresh, c, c_stride, packed, 7);
        break;
    default:
        add_entries(panel, progress, rows, fresh, c, c_stride, packed, 8);
    }
}

CPU_AVX512_CODE
static void add_packed_avx512(const struct panel *panel, struct progress *progress, size_t rows,
                              bool fresh, float *c, size_t c_stride)
{
    add_panel(panel, progress, rows, fresh, c, c_stride, true);
}

CPU_AVX512_CODE
static void add_in_place_avx512(const struct panel *panel, struct progress *progress, size_t rows,
                                bool fresh, float *c, size_t c_stride)
{
    add_panel(panel, progress, rows, fresh, c, c_stride, false);
}
#endif

/* Does the same without accumulators: if there are no vectors of their size, compilers put them
 * into memory. The columns from `head` on end where the row of the panel does, so some of them may
 * be computed twice. */
CPU_KERNEL(add_in_loops,
           (const struct panel *panel, struct progress *progress, size_t rows, bool fresh, float *c,
            size_t c_stride, size_t head),
           (panel, progress, rows, fresh, c, c_stride, head))
{
    const size_t tail = panel->columns - head;
    const size_t skipped = panel->stride - panel->columns;
    for (size_t row = 0; row < rows; row++, c += c_stride) {
        const struct sparse_entry *entry = progress->next[row], *const end = progress->end[row];
        if (fresh)
            vector_zero(c, panel->columns);
        for (; entry < end && entry->column < panel->end; entry++) {
            const float *b = panel->base + (entry->column - panel->first) * panel->stride;
            vector_add_scaled(c, b, entry->value, head);
            vector_add_scaled(c + head, b + head + skipped, entry->value, tail);
        }
        progress->next[row] = entry;
    }
}

static void add_packed(const struct panel *panel, struct progress *progress, size_t rows,
                       bool fresh, float *c, size_t c_stride)
{
#if CPU_LEVEL_X86
    if (cpu_level() >= CPU_AVX512) {
        add_packed_avx512(panel, progress, rows, fresh, c, c_stride);
        return;
    }
#endif
    add_in_loops(panel, progress, rows, fresh, c, c_stride, panel->stride - LANES);
}

static void add_in_place(const struct panel *panel, struct progress *progress, size_t rows,
                         bool fresh, float *c, size_t c_stride)
{
#if CPU_LEVEL_X86
    if (cpu_level() >= CPU_AVX512) {
        add_in_place_avx512(panel, progress, rows, fresh, c, c_stride);
        return;
    }
#endif
    add_in_loops(panel, progress, rows, fresh, c, c_stride, panel->columns);
}

CPU_KERNEL(copy_as_floats, (float *to, const bf16 *from, size_t count), (to, from, count))
{
    bf16_to_floats(to, from, count);
}

/* Copies `count` columns of b from element `at` on, as floats. */
static void copy_columns(float *to, struct rows_view b, size_t at, size_t count)
{
    const void *from = precision_at(b.precision, b.value, at);
    if (b.precision == PRECISION_BF16)
        copy_as_floats(to, from, count);
    else
        memcpy(to, from, count * sizeof *to);
}

/* Packs rows of b from `first` on into `room`, in the columns from panel->column on. */
static void pack(struct panel *panel, struct rows_view b, float room[PANEL_FLOATS])
{
    const size_t width = vectors_of(panel->columns) * LANES;
    float *to = room;
    for (size_t row = panel->first; row < panel->end; row++, to += width) {
        const size_t at = row * b.stride + panel->column;
        copy_columns(to, b, at, width - LANES);
        copy_columns(to + width - LANES, b, at + panel->columns - LANES, LANES);
    }
    panel->base = room;
    panel->stride = width;
}

static void use_in_place(struct panel *panel, struct rows_view b)
{
    panel->base = (const float *)b.value + panel->first * b.stride + panel->column;
    panel->stride = b.stride;
}

/* Starts at most ROWS_AT_ONCE rows of `a` from `first` on. Returns the number of their entries. */
static size_t start_rows(const struct sparse_matrix *a, size_t first, size_t rows,
                         struct progress *progress)
{
    size_t entries = 0;
    for (size_t row = 0; row < rows; row++) {
        progress->next[row] = a->entry + a->row_start[first + row];
        progress->end[row] = a->entry + a->row_end[first + row];
        entries += a->row_end[first + row] - a->row_start[first + row];
    }
    return entries;
}

/* Computes the panel's columns of c for some rows of `a`. */
static void add_block(const struct sparse_matrix *a, size_t first, size_t rows, struct panel *panel,
                      struct rows_view b, bool add, float *c, size_t c_stride)
{
    struct progress progress;
    _Alignas(sizeof(lanes)) float room[PANEL_FLOATS];
    const bool packs = start_rows(a, first, rows, &progress) >= PACKED_USES_MIN * b.rows ||
                       b.precision == PRECISION_BF16;
    const size_t height = packs ? PANEL_FLOATS / (vectors_of(panel->columns) * LANES) : b.rows;
    for (size_t k = 0; k < b.rows; k += height) {
        panel->first = k;
        panel->end = b.rows - k < height ? b.rows : k + height;
        float *const to = c + first * c_stride + panel->column;
        if (packs) {
            pack(panel, b, room);
            add_packed(panel, &progress, rows, k == 0 && !add, to, c_stride);
        } else {
            use_in_place(panel, b);
            add_in_place(panel, &progress, rows, k == 0 && !add, to, c_stride);
        }
    }
    panel->base = NULL; /* the room does not outlive this function */
}

/* Computes c with less than a vector of columns. */
CPU_KERNEL(narrow_product,
           (const struct sparse_matrix *a, struct rows_view b, bool add, float *c, size_t c_stride),
           (a, b, add, c, c_stride))
{
    for (size_t row = 0; row < a->rows; row++, c += c_stride) {
        if (!add)
            vector_zero(c, b.cols);
        for (uint32_t e = a->row_start[row]; e < a->row_end[row]; e++) {
            const size_t at = a->entry[e].column * b.stride;
            if (b.precision == PRECISION_BF16)
                vector_add_scaled_bf16(c, (const bf16 *)b.value + at, a->entry[e].value, b.cols);
            else
                vector_add_scaled(c, (const float *)b.value + at, a->entry[e].value, b.cols);
        }
    }
}

void sparse_product(const struct sparse_matrix *a, struct rows_view b, bool add, float *c,
                    size_t c_stride)
{
    const size_t vectors = vectors_of(b.cols);
    const size_t blocks = (vectors + BLOCK_VECTORS - 1) / BLOCK_VECTORS;
    struct panel panel;
    must(a->cols == b.rows && b.rows > 0);
    if (b.cols < LANES) {
        narrow_product(a, b, add, c, c_stride);
        return;
    }
    for (size_t first = 0; first < a->rows; first += ROWS_AT_ONCE) {
        const size_t rows = a->rows - first < ROWS_AT_ONCE ? a->rows - first : ROWS_AT_ONCE;
        for (size_t block = 0; block < blocks; block++) {
            panel.column = vectors * block / blocks * LANES;
            const size_t end = vectors * (block + 1) / blocks * LANES;
            panel.columns = (end < b.cols ? end : b.cols) - panel.column;
            add_block(a, first, rows, &panel, b, add, c, c_stride);
        }
    }
}
