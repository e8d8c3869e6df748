#include "common/formats/bytes/read_ahead.h"

#include "common/base/memory.h"
#include "common/base/progress.h"

#include <pthread.h>
#include <string.h>

/* Enough pieces for either side to run for a while before it waits for the other. */
enum { PIECE_COUNT = 8, PIECE_BYTES = 1 << 17, WORTH_BYTES = 1 << 20 };

struct piece {
    size_t size, taken;
    uint64_t done; /* bytes of the compressed file up to the end of this piece */
    enum error_code rc;
    struct error err; /* the failure after its bytes */
    char bytes[PIECE_BYTES];
};

struct read_ahead {
    struct byte_source *source;
    pthread_t thread;
    /* The lock protects `filled`, `emptied` and `is_closing`. The pieces need no lock: those from
     * `emptied` to `filled` belong to the reader, the others to the thread that fills them. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t filled, emptied; /* number of pieces so far; piece i is in piece[i % PIECE_COUNT] */
    bool is_closing;
    bool at_end; /* the reader has read everything */
    struct piece piece[PIECE_COUNT];
};

bool read_ahead_is_worth(const struct byte_source *source)
{
    return byte_source_is_packed(source) && byte_source_size(source) >= WORTH_BYTES;
}

/* Returns whether a piece is the last: it is not full, or reading failed. */
static bool is_last(const struct piece *piece)
{
    return piece->rc != ERROR_NONE || piece->size < PIECE_BYTES;
}

static void fill(struct byte_source *source, struct piece *piece)
{
    size_t got = 1;
    piece->size = piece->taken = 0;
    piece->rc = ERROR_NONE;
    while (piece->rc == ERROR_NONE && got && piece->size < PIECE_BYTES) {
        piece->rc = byte_source_read(source, piece->bytes + piece->size, PIECE_BYTES - piece->size,
                                     &got, &piece->err);
        piece->size += got;
    }
    piece->done = byte_source_done(source);
}

static void *fill_pieces(void *context)
{
    struct read_ahead *ahead = context;
    bool goes_on = true;
    (void)pthread_mutex_lock(&ahead->lock);
    while (goes_on) {
        while (ahead->filled - ahead->emptied == PIECE_COUNT && !ahead->is_closing)
            (void)pthread_cond_wait(&ahead->changed, &ahead->lock);
        if (ahead->is_closing)
            break;
        struct piece *piece = &ahead->piece[ahead->filled % PIECE_COUNT];
        (void)pthread_mutex_unlock(&ahead->lock);
        fill(ahead->source, piece);
        goes_on = !is_last(piece);
        (void)pthread_mutex_lock(&ahead->lock);
        ahead->filled++;
        (void)pthread_cond_signal(&ahead->changed);
    }
    (void)pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

enum error_code read_ahead_open(struct byte_source *source, struct read_ahead **out,
                                struct error *err)
{
    struct read_ahead *ahead = NULL;
    const enum error_code rc = memory_new(&ahead, 1, "reading ahead", err);
    *out = NULL;
    if (rc != ERROR_NONE)
        return rc;
    ahead->source = source;
    byte_source_keep_quiet(source);
    (void)pthread_mutex_init(&ahead->lock, NULL);
    (void)pthread_cond_init(&ahead->changed, NULL);
    if (pthread_create(&ahead->thread, NULL, fill_pieces, ahead) != 0) {
        (void)pthread_cond_destroy(&ahead->changed);
        (void)pthread_mutex_destroy(&ahead->lock);
        memory_free(ahead);
        return error_set(err, ERROR_NO_MEMORY, "no thread to unpack %s", byte_source_name(source));
    }
    *out = ahead;
    return ERROR_NONE;
}

void read_ahead_close(struct read_ahead *ahead)
{
    if (!ahead)
        return;
    (void)pthread_mutex_lock(&ahead->lock);
    ahead->is_closing = true;
    (void)pthread_cond_signal(&ahead->changed);
    (void)pthread_mutex_unlock(&ahead->lock);
    (void)pthread_join(ahead->thread, NULL);
    (void)pthread_cond_destroy(&ahead->changed);
    (void)pthread_mutex_destroy(&ahead->lock);
    memory_free(ahead);
}

/* Waits for the next piece. */
static struct piece *wait_for_piece(struct read_ahead *ahead)
{
    (void)pthread_mutex_lock(&ahead->lock);
    while (ahead->filled == ahead->emptied)
        (void)pthread_cond_wait(&ahead->changed, &ahead->lock);
    (void)pthread_mutex_unlock(&ahead->lock);
    return &ahead->piece[ahead->emptied % PIECE_COUNT];
}

static void give_back(struct read_ahead *ahead)
{
    (void)pthread_mutex_lock(&ahead->lock);
    ahead->emptied++;
    (void)pthread_cond_signal(&ahead->changed);
    (void)pthread_mutex_unlock(&ahead->lock);
}

enum error_code read_ahead_read(struct read_ahead *ahead, void *out, size_t size, size_t *got,
                                struct error *err)
{
    *got = 0;
    if (ahead->at_end || size == 0)
        return ERROR_NONE;
    struct piece *piece = wait_for_piece(ahead);
    const size_t left = piece->size - piece->taken;
    if (left == 0) { /* only the last piece may be empty */
        if (piece->rc != ERROR_NONE && err)
            *err = piece->err;
        ahead->at_end = piece->rc == ERROR_NONE;
        return piece->rc;
    }
    *got = size < left ? size : left;
    memcpy(out, piece->bytes + piece->taken, *got);
    piece->taken += *got;
    if (piece->taken < piece->size || is_last(piece))
        return ERROR_NONE;
    progress_note(byte_source_name(ahead->source), piece->done, byte_source_size(ahead->source));
    give_back(ahead);
    return ERROR_NONE;
}
