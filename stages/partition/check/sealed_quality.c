#include "stages/partition/check/sealed_quality.h"

#include "store/topology/topology.h"

/* Adds a relation, a chunk of edges at a time. */
static void add_relation(struct partition_quality *quality, const struct part_measure *measure,
                         uint32_t relation, const struct topology_part *rows)
{
    const uint64_t chunk = UINT64_C(1) << TOPOLOGY_CHUNK_SHIFT;
    for (uint64_t e = 0; e < rows->edge_count; e += chunk) {
        const uint64_t left = rows->edge_count - e;
        partition_quality_add_edges(quality, measure, relation, topology_neighbor(rows, e),
                                    left < chunk ? left : chunk);
    }
}

enum error_code sealed_quality_add(const struct part_writer *writer,
                                   const struct partition_book *book, const bool *standing,
                                   struct partition_quality *quality, struct error *err)
{
    struct topology topology = {0};
    enum error_code rc = ERROR_NONE;
    int first = 0;
    while (first < book->part_count && !standing[first])
        first++;
    if (first == book->part_count)
        return ERROR_NONE;
    rc = topology_open(writer->store, book, &topology, err);
    for (int p = first; p < book->part_count && rc == ERROR_NONE; p++) {
        const struct part_measure measure = part_writer_measure(writer, p);
        if (!standing[p])
            continue;
        rc = topology_open_part(&topology, p, err);
        if (rc == ERROR_NONE)
            partition_quality_begin(quality, &measure);
        for (uint32_t r = 0; r < topology_relations(&topology) && rc == ERROR_NONE; r++)
            add_relation(quality, &measure, r, topology_rows(&topology, p, r));
    }
    topology_close(&topology);
    return rc;
}
