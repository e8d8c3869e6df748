#include "tests/support/store_faults.h"

#include <pthread.h>
#include <stdlib.h>

struct front {
    const struct store_backend *inner;
    void *state;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_fault_plan plan;
static long failed_count;
static bool has_plan;
static const struct store_backend *next_inner; /* what the open that is under way stands before */

void store_faults_plan(const struct store_fault_plan *new_plan)
{
    (void)pthread_mutex_lock(&lock);
    plan = *new_plan;
    failed_count = 0;
    has_plan = true;
    (void)pthread_mutex_unlock(&lock);
}

long store_faults_end(void)
{
    (void)pthread_mutex_lock(&lock);
    has_plan = false;
    const long count = failed_count;
    (void)pthread_mutex_unlock(&lock);
    return count;
}

static bool is_next_to_fail(void)
{
    bool fails = false;
    (void)pthread_mutex_lock(&lock);
    if (has_plan && plan.passed > 0) {
        plan.passed--;
    } else if (has_plan && plan.count != 0) {
        plan.count -= plan.count > 0;
        failed_count++;
        fails = true;
    }
    (void)pthread_mutex_unlock(&lock);
    return fails;
}

/* The answer of `call`, or the planned failure; `undo` gives back what a call gave that now has failed. */
#define ANSWER(name, call, undo)                                                                   \
    do {                                                                                           \
        if (!is_next_to_fail())                                                                    \
            return call;                                                                           \
        if (plan.after && (call) == ERROR_NONE) {                                                  \
            undo;                                                                                  \
        }                                                                                          \
        return error_set(err, plan.code, "planned failure of %s", name);                           \
    } while (0)

#define FRONT const struct front *f = state

static enum error_code open_front(const char *place, bool make, void **state, struct error *err)
{
    struct front *f = calloc(1, sizeof *f);
    must(f != NULL);
    f->inner = next_inner;
    *state = f;
    return f->inner->open(place, make, &f->state, err);
}

static void close_front(void *state)
{
    struct front *f = state;
    f->inner->close(f->state);
    free(f);
}

static const char *root(const void *state)
{
    FRONT;
    return f->inner->root(f->state);
}

static enum error_code put(void *state, const char *key, const struct store_piece *piece,
                           size_t piece_count, enum store_durability durability, bool *existed,
                           struct error *err)
{
    FRONT;
    ANSWER("put", f->inner->put(f->state, key, piece, piece_count, durability, existed, err), );
}

static enum error_code flush(void *state, const char *key, struct error *err)
{
    FRONT;
    ANSWER("flush", f->inner->flush(f->state, key, err), );
}

static enum error_code get(void *state, const char *key, struct stored_bytes *out,
                           struct error *err)
{
    FRONT;
    ANSWER("get", f->inner->get(f->state, key, out, err), stored_bytes_release(out));
}

static enum error_code discard(void *state, const char *key, const struct stored_bytes *seen,
                               struct error *err)
{
    FRONT;
    ANSWER("discard", f->inner->discard(f->state, key, seen, err), );
}

static enum error_code has(void *state, const char *key, bool *found, struct error *err)
{
    FRONT;
    ANSWER("has", f->inner->has(f->state, key, found, err), );
}

static enum error_code remove_key(void *state, const char *key, struct error *err)
{
    FRONT;
    ANSWER("remove", f->inner->remove(f->state, key, err), );
}

static enum error_code list(void *state, const char *prefix, store_visitor visit, void *context,
                            struct error *err)
{
    FRONT;
    ANSWER("list", f->inner->list(f->state, prefix, visit, context, err), );
}

static enum error_code scratch(void *state, char path[FILE_PATH_SIZE], struct error *err)
{
    FRONT;
    ANSWER("scratch", f->inner->scratch(f->state, path, err), );
}

static enum error_code publish(void *state, const char *path, const char *key, struct error *err)
{
    FRONT;
    ANSWER("publish", f->inner->publish(f->state, path, key, err), );
}

static enum error_code artifact(void *state, const char *key, char path[FILE_PATH_SIZE],
                                struct error *err)
{
    FRONT;
    ANSWER("artifact", f->inner->artifact(f->state, key, path, err), );
}

static enum error_code sweep(void *state, struct error *err)
{
    FRONT;
    ANSWER("sweep", f->inner->sweep(f->state, err), );
}

static enum error_code switch_set(void *state, const char *key, const char *text, struct error *err)
{
    FRONT;
    ANSWER("switch_set", f->inner->switch_set(f->state, key, text, err), );
}

static enum error_code switch_get(void *state, const char *key, char *text, size_t size,
                                  struct error *err)
{
    FRONT;
    ANSWER("switch_get", f->inner->switch_get(f->state, key, text, size, err), );
}

static enum error_code switch_remove(void *state, const char *key, struct error *err)
{
    FRONT;
    ANSWER("switch_remove", f->inner->switch_remove(f->state, key, err), );
}

static enum error_code switch_list(void *state, store_visitor visit, void *context,
                                   struct error *err)
{
    FRONT;
    ANSWER("switch_list", f->inner->switch_list(f->state, visit, context, err), );
}

static const struct store_backend faulty_backend = {
    .scheme = "faulty",
    .open = open_front,
    .close = close_front,
    .root = root,
    .put = put,
    .flush = flush,
    .get = get,
    .discard = discard,
    .has = has,
    .remove = remove_key,
    .list = list,
    .scratch = scratch,
    .publish = publish,
    .artifact = artifact,
    .sweep = sweep,
    .switch_set = switch_set,
    .switch_get = switch_get,
    .switch_remove = switch_remove,
    .switch_list = switch_list,
};

struct store *store_faults_open(const struct store_backend *inner, const char *place)
{
    struct store *store = NULL;
    struct error err = {0};
    next_inner = inner;
    must(store_open_on(&faulty_backend, place, 0, &store, &err) == ERROR_NONE);
    return store;
}
