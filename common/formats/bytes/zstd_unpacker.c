#include "common/formats/bytes/zstd_unpacker.h"

#include "common/base/memory.h"

#include <zstd.h>

enum { WINDOW_LOG_MAX = 27, SKIPPABLE_FIRST = 0x50, SKIPPABLE_LAST = 0x5f };

struct zstd_unpacker {
    ZSTD_DCtx *context;
};

bool zstd_unpacker_is_magic(const uint8_t data[ZSTD_MAGIC_SIZE])
{
    const bool is_frame = data[0] == 0x28 && data[1] == 0xb5 && data[2] == 0x2f && data[3] == 0xfd;
    const bool is_skippable = data[0] >= SKIPPABLE_FIRST && data[0] <= SKIPPABLE_LAST &&
                              data[1] == 0x2a && data[2] == 0x4d && data[3] == 0x18;
    return is_frame || is_skippable;
}

enum error_code zstd_unpacker_new(struct zstd_unpacker **out, struct error *err)
{
    _Static_assert(ZSTD_WINDOW_MAX == 1 << WINDOW_LOG_MAX, "one limit, said twice");
    enum error_code rc = memory_new(out, 1, "an unpacker", err);
    if (rc != ERROR_NONE)
        return rc;
    (*out)->context = ZSTD_createDCtx();
    if ((*out)->context &&
        !ZSTD_isError(ZSTD_DCtx_setParameter((*out)->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
        return ERROR_NONE;
    zstd_unpacker_free(*out);
    *out = NULL;
    return error_set(err, ERROR_NO_MEMORY, "no memory to unpack zstd");
}

void zstd_unpacker_free(struct zstd_unpacker *unpacker)
{
    if (!unpacker)
        return;
    (void)ZSTD_freeDCtx(unpacker->context);
    memory_free(unpacker);
}

const char *zstd_unpacker_step(struct zstd_unpacker *unpacker, struct zstd_piece *piece,
                               bool *is_between)
{
    ZSTD_inBuffer in = {.src = piece->in, .size = piece->in_left};
    ZSTD_outBuffer out = {.dst = piece->out, .size = piece->out_left};
    const size_t result = ZSTD_decompressStream(unpacker->context, &out, &in);
    piece->in += in.pos;
    piece->in_left -= in.pos;
    piece->out += out.pos;
    piece->out_left -= out.pos;
    *is_between = result == 0;
    return ZSTD_isError(result) ? ZSTD_getErrorName(result) : NULL;
}
