#include "store/topology/topology_array.h"

#include "store/topology/topology.h"

void topology_arrays_describe(uint32_t relation, uint32_t node_count, uint64_t edge_count,
                              const struct edge_widths *width,
                              struct topology_array out[TOPOLOGY_ARRAY_COUNT])
{
    out[TOPOLOGY_ROW_START] = (struct topology_array){.name = "row_start",
                                                      .element_size = sizeof(uint64_t),
                                                      .shift = TOPOLOGY_CHUNK_SHIFT,
                                                      .count = (uint64_t)node_count + 1};
    out[TOPOLOGY_NEIGHBOR] = (struct topology_array){.name = "neighbor",
                                                     .element_size = sizeof(uint32_t),
                                                     .shift = TOPOLOGY_CHUNK_SHIFT,
                                                     .count = edge_count};
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const enum edge_column column = (enum edge_column)c;
        out[TOPOLOGY_FIRST_COLUMN + c] =
            (struct topology_array){.name = edge_column[c].name,
                                    .element_size = edge_column_bytes(column, width->of[c]),
                                    .shift = topology_column_shift(column, width->of[c]),
                                    .count = width->of[c] ? edge_count : 0};
    }
    out[TOPOLOGY_WEIGHT_SUM] =
        (struct topology_array){.name = "weight_sum",
                                .element_size = sizeof(float),
                                .shift = TOPOLOGY_CHUNK_SHIFT,
                                .count = width->of[EDGE_WEIGHT] ? node_count : 0};
    for (int a = 0; a < TOPOLOGY_ARRAY_COUNT; a++)
        out[a].relation = relation;
}

void topology_arrays_describe_held(uint32_t relation, uint32_t row_count, uint64_t edge_count,
                                   const struct edge_widths *width,
                                   struct topology_array out[TOPOLOGY_HELD_ARRAY_COUNT])
{
    topology_arrays_describe(relation, row_count, edge_count, width, out);
    /* the sums are over whole rows, which this part does not have */
    out[TOPOLOGY_WEIGHT_SUM].count = 0;
    out[TOPOLOGY_ROW_NODE] = (struct topology_array){.name = "row_node",
                                                     .element_size = sizeof(uint32_t),
                                                     .relation = relation,
                                                     .shift = TOPOLOGY_CHUNK_SHIFT,
                                                     .count = row_count};
}

void topology_arrays_sum_weights(const struct topology_arrays *from, float *out)
{
    const float *weight = from->columns.data[EDGE_WEIGHT];
    for (uint32_t row = 0; row < from->node_count; row++) {
        double sum = 0.0;
        bool has_loop = false;
        for (uint64_t e = from->row_start[row]; e < from->row_start[row + 1]; e++) {
            sum += (double)weight[e];
            has_loop |= from->neighbor[e] == from->first_node + row;
        }
        out[row] = (float)(has_loop ? sum : sum + 1);
    }
}
