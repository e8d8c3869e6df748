/*
 * mini_batch_sections - versions and names of sections of a mini-batch, and functions that read
 * them, for the files that write and read mini-batches.
 */
#ifndef STORE_RECORDS_BATCH_MINI_BATCH_SECTIONS_H
#define STORE_RECORDS_BATCH_MINI_BATCH_SECTIONS_H

#include "store/records/batch/mini_batch.h"

enum {
    MINI_BATCH_WITHOUT_FORM = 3,
    MINI_BATCH_WITHOUT_POSITIONS = 4,
    MINI_BATCH_WITHOUT_SHAPE = 5,
    MINI_BATCH_WITHOUT_ENDS = 6,
    MINI_BATCH_VERSION = 7,
    MINI_BATCH_OF_RELATIONS = 32, /* read, but no longer written */
};

/* The packed arrays, in the order of "width". PACKED_ROW exists only with "shape". */
enum { PACKED_NODE, PACKED_ROW_LENGTH, PACKED_NEIGHBOR, PACKED_DEGREE, PACKED_ROW, PACKED_COUNT };

static const char *const packed_name[PACKED_COUNT] = {"node", "row_length", "neighbor", "degree",
                                                      "row"};

#define SECTION_SHAPE          "shape"
#define SECTION_ENDS           "ends"
#define SECTION_HOP_END        "hop_end"
#define SECTION_ROW_COUNT      "row_count"
#define SECTION_IS_NEW         "is_new"
#define SECTION_WEIGHT_SUM     "weight_sum"
#define SECTION_BACK           "back"
#define SECTION_END_WIDTH      "end_width"
#define SECTION_END_DEGREE     "end_degree"
#define SECTION_FORM           "form"
#define SECTION_EDGE_FACTOR    "edge_factor"
#define SECTION_SEED_WEIGHT    "seed_weight"
#define SECTION_SEED_OF        "seed_of"
#define SECTION_SEED_TIME      "seed_time"
#define SECTION_POSITION_WIDTH "position_width"
#define SECTION_EDGE_POSITION  "edge_position"

/* A record that is being read. */
struct batch_reading {
    const struct record_view *view;
    struct mini_batch *out;
    bool lists_rows;
    uint32_t width[PACKED_COUNT];
};

/* An array of a record: `count` values of `width` bits, with room for more elements before and
 * after. */
struct packed_array {
    const char *name;
    uint32_t width;
    uint64_t count, before, after;
};

/* Finds the words of a packed section, borrowed. Fails: ERROR_CORRUPT for another length, and for
 * bits behind the values. */
MUST_CHECK enum error_code batch_reading_find(const struct batch_reading *reading, const char *name,
                                              uint64_t count, unsigned width, const uint64_t **out,
                                              struct error *err);
/* Unpacks the values of a section into the batch's memory. It allocates no more than the section's
 * bits justify. */
MUST_CHECK enum error_code batch_reading_unpack(const struct batch_reading *reading,
                                                const struct packed_array *array, uint32_t **out,
                                                struct error *err);
/* Copies an unpacked section of `count` elements into the batch's memory. Fails: ERROR_CORRUPT for
 * another number of elements. */
MUST_CHECK enum error_code batch_reading_keep(const struct batch_reading *reading, const char *name,
                                              enum element_type type, uint64_t count,
                                              const void **out, struct error *err);

/* Reads types, relations, form and hops: all counts but those of rows and edges. Fails like
 * mini_batch_decode(), as do the next two. */
MUST_CHECK enum error_code batch_reading_shape(struct batch_reading *reading, struct error *err);
/* Reads the rows; the widths must be read. */
MUST_CHECK enum error_code batch_reading_rows(struct batch_reading *reading, struct error *err);
/* Reads the neighbours; the rows must be read. */
MUST_CHECK enum error_code batch_reading_edges(struct batch_reading *reading, struct error *err);

#endif
