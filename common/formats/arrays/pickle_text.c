/* pickle_text - reads the texts and bytes of a pickle (pickle_machine.h). */
#include "common/base/memory.h"
#include "common/formats/arrays/pickle_machine.h"

#include <string.h>

enum { TEXTS_MAX = 1 << 20 };

static enum error_code keep_text(struct pickle_machine *m, size_t size, struct error *err)
{
    struct pickle_arrays *out = m->out;
    uint32_t place = 0;
    if (out->text_size + size + 1 > TEXTS_MAX)
        return pickle_machine_refuse(m, m->begin, "a dictionary of arrays", "over 1 MiB of texts",
                                     err);
    enum error_code rc = pickle_machine_add(m, PICKLE_TEXT, &place, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&out->texts, &out->text_capacity, out->text_size + size + 1,
                         "texts of a pickle", err);
    if (rc == ERROR_NONE)
        rc = pickle_machine_take(m, out->texts + out->text_size, size, err);
    if (rc != ERROR_NONE)
        return rc;
    out->value[place].first = out->text_size;
    out->value[place].size = size;
    out->text_size += size;
    out->texts[out->text_size++] = '\0';
    return pickle_machine_push(m, place, err);
}

/* Decodes bytes that protocol 2 writes as a text: each is a character below 256, which from 128 on
 * takes two bytes of UTF-8. It consumes the complete characters of piece[at, got), at least one. */
static enum error_code decode_some(struct pickle_machine *m, uint64_t *left, struct error *err)
{
    uint8_t *piece = m->piece;
    size_t out = m->at, at = m->at;
    const size_t begin = m->at;
    const size_t end = *left < m->got - m->at ? m->at + (size_t)*left : m->got;
    while (at < end) {
        const uint8_t byte = piece[at];
        if (byte < 0x80) {
            piece[out++] = byte;
            at++;
            continue;
        }
        if (at + 1 == m->got)
            break; /* its second byte is in the next piece */
        if ((byte != 0xc2 && byte != 0xc3) || at + 1 == end || (piece[at + 1] & 0xc0) != 0x80)
            return pickle_machine_refuse(m, m->base + at, "bytes written as a text (latin1)",
                                         "another character, as of a long text", err);
        piece[out++] = (uint8_t)((byte & 3) << 6 | (piece[at + 1] & 0x3f));
        at += 2;
    }
    *left -= at - begin;
    m->at = at;
    return pickle_machine_keep(m, piece + begin, out - begin, err);
}

/* Refills the piece when its last byte is the first half of a character. */
static enum error_code refill(struct pickle_machine *m, struct error *err)
{
    const size_t kept = m->got - m->at;
    size_t more = 0;
    memmove(m->piece, m->piece + m->at, kept);
    m->base += m->at;
    m->at = 0;
    m->got = kept;
    const enum error_code rc =
        m->source->read(m->source->context, m->piece + kept, PICKLE_PIECE_BYTES - kept, &more, err);
    m->got += more;
    return rc == ERROR_NONE && more == 0 ? pickle_machine_ended(m, err) : rc;
}

static enum error_code keep_bytes(struct pickle_machine *m, uint64_t size, bool is_text,
                                  struct error *err)
{
    uint32_t place = 0;
    const uint64_t first = m->source->scratch_size;
    enum error_code rc = pickle_machine_add(m, PICKLE_BYTES, &place, err);
    while (rc == ERROR_NONE && size > 0) {
        rc = pickle_machine_fill(m, err);
        if (rc == ERROR_NONE && is_text) {
            const size_t at = m->at;
            rc = decode_some(m, &size, err);
            if (rc == ERROR_NONE && m->at == at)
                rc = refill(m, err);
            continue;
        }
        if (rc != ERROR_NONE)
            break;
        const size_t part = size < m->got - m->at ? (size_t)size : m->got - m->at;
        rc = pickle_machine_keep(m, m->piece + m->at, part, err);
        m->at += part;
        size -= part;
    }
    if (rc != ERROR_NONE)
        return rc;
    m->out->value[place].first = first;
    m->out->value[place].size = m->source->scratch_size - first;
    return pickle_machine_push(m, place, err);
}

enum error_code pickle_text_take(struct pickle_machine *m, size_t width, bool is_text,
                                 struct error *err)
{
    uint64_t size = 0;
    const enum error_code rc = pickle_machine_take_number(m, width, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    return is_text && size <= PICKLE_TEXT_MAX ? keep_text(m, (size_t)size, err)
                                              : keep_bytes(m, size, is_text, err);
}
