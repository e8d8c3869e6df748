#include "stages/ingest/build/edges/spool_walk.h"

uint16_t visited_type(const struct edge_columns_view *columns, uint64_t edge)
{
    const uint16_t *type = columns->data[EDGE_TYPE];
    return type ? type[edge] : 0;
}

enum error_code spool_walk(struct edge_spool *spool, edge_visitor visit, void *context,
                           struct error *err)
{
    struct spool_piece piece = {0};
    enum error_code rc = spool_piece_init(&piece, spool, err);
    if (rc == ERROR_NONE)
        rc = edge_spool_finish(spool, err);
    do {
        if (rc == ERROR_NONE)
            rc = edge_spool_read(spool, &piece, err);
        const struct edge_columns_view columns = edge_columns_read(&piece.columns, 0);
        for (size_t i = 0; rc == ERROR_NONE && i < piece.count; i++) {
            const struct visited_edge edge = {piece.source[i], piece.target[i],
                                              edge_columns_time(&columns, i),
                                              visited_type(&columns, i)};
            if (edge.source != edge.target)
                rc = visit(context, &edge, err);
        }
    } while (rc == ERROR_NONE && piece.count > 0);
    spool_piece_release(&piece);
    return rc;
}
