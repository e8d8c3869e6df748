#include "store/backends/body_reader.h"

#include <string.h>

static enum error_code next_pieces(struct body_reader *r, struct error *err)
{
    const enum error_code rc = r->body->next(r->body->context, r->offset, r->piece, &r->count, err);
    r->at = r->used = 0;
    for (size_t i = 0; rc == ERROR_NONE && i < r->count; i++)
        r->offset += r->piece[i].size;
    must(rc != ERROR_NONE || r->count);
    return rc;
}

enum error_code body_reader_read(void *context, void *to, size_t size, struct error *err)
{
    struct body_reader *r = context;
    enum error_code rc = ERROR_NONE;
    for (uint8_t *out = to; size;) {
        if (r->at == r->count)
            rc = next_pieces(r, err);
        if (rc != ERROR_NONE)
            return rc;
        const struct object_piece *piece = &r->piece[r->at];
        const size_t left = piece->size - r->used, taken = left < size ? left : size;
        if (taken)
            memcpy(out, (const uint8_t *)piece->data + r->used, taken);
        out += taken;
        size -= taken;
        r->used += taken;
        if (r->used == piece->size) {
            r->at++;
            r->used = 0;
        }
    }
    return ERROR_NONE;
}
