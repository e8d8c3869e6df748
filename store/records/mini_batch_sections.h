/*
 * mini_batch_sections - versions and names of sections of a mini-batch, for the two files that write and read them.
 */
#ifndef STORE_RECORDS_MINI_BATCH_SECTIONS_H
#define STORE_RECORDS_MINI_BATCH_SECTIONS_H

enum { MINI_BATCH_WITHOUT_FORM = 3, MINI_BATCH_WITHOUT_POSITIONS = 4, MINI_BATCH_VERSION = 5 };

/* The packed arrays, and so the elements of "width". */
enum { PACKED_NODE, PACKED_ROW_LENGTH, PACKED_NEIGHBOR, PACKED_DEGREE, PACKED_COUNT };

static const char weight_sum[] = "weight_sum", form_name[] = "form", edge_factor[] = "edge_factor",
                  seed_weight[] = "seed_weight", seed_of[] = "seed_of",
                  position_width[] = "position_width", edge_position[] = "edge_position";

static const char *const packed_name[PACKED_COUNT] = {"node", "row_length", "neighbor", "degree"};

#endif
