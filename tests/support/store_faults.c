#include "tests/support/store_faults.h"

#include "common/base/memory.h"

#include <pthread.h>
#include <stdlib.h>

struct front {
    const struct object_backend *inner;
    void *state;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_fault_plan plan;
static long failed_count;
static bool has_plan;
/* the backend behind this one, for the open that is in progress */
static const struct object_backend *next_inner;

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
    } else if (has_plan && plan.meanwhile) {
        plan.meanwhile(plan.context);
        has_plan = false;
    } else if (has_plan && plan.count != 0) {
        plan.count -= plan.count > 0;
        failed_count++;
        fails = true;
    }
    (void)pthread_mutex_unlock(&lock);
    return fails;
}

/* The result of `call`, or the planned failure; `undo` releases the result of a call that then
 * fails. */
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

static enum error_code open_front(const char *place, const struct object_options *options,
                                  void **state, struct error *err)
{
    struct front *f = calloc(1, sizeof *f);
    must(f != NULL);
    f->inner = next_inner;
    *state = f;
    return f->inner->open(place, options, &f->state, err);
}

static void close_front(void *state)
{
    struct front *f = state;
    f->inner->close(f->state);
    free(f);
}

static unsigned capabilities(const void *state)
{
    FRONT;
    return f->inner->capabilities(f->state);
}

static const char *folder(const void *state)
{
    FRONT;
    return f->inner->folder(f->state);
}

static enum error_code put_if_absent(void *state, const char *key, const struct object_body *body,
                                     enum store_durability durability, bool *existed,
                                     struct error *err)
{
    FRONT;
    ANSWER("put_if_absent",
           f->inner->put_if_absent(f->state, key, body, durability, existed, err), );
}

static enum error_code flush(void *state, const char *key, struct error *err)
{
    FRONT;
    ANSWER("flush", f->inner->flush(f->state, key, err), );
}

static enum error_code get_inner(const struct front *f, struct object_get *get)
{
    f->inner->get_many(f->state, get, 1);
    return get->rc;
}

static enum error_code get_one(const struct front *f, struct object_get *get, struct error *err)
{
    ANSWER("get_many", get_inner(f, get), stored_bytes_release(&get->bytes));
}

/* Makes each request a call of its own, so that each may fail alone. */
static void get_many(void *state, struct object_get *get, size_t count)
{
    FRONT;
    for (size_t i = 0; i < count; i++)
        get[i].rc = get_one(f, &get[i], &get[i].err);
}

static enum error_code delete_if_match(void *state, const char *key,
                                       const struct stored_bytes *seen, struct error *err)
{
    FRONT;
    ANSWER("delete_if_match", f->inner->delete_if_match(f->state, key, seen, err), );
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

static enum error_code list(void *state, const char *prefix, const char *after, store_visitor visit,
                            void *context, struct error *err)
{
    FRONT;
    ANSWER("list", f->inner->list(f->state, prefix, after, visit, context, err), );
}

static enum error_code scratch(void *state, char path[FILE_PATH_SIZE], struct error *err)
{
    FRONT;
    ANSWER("scratch", f->inner->scratch(f->state, path, err), );
}

static enum error_code publish(void *state, const char *path, const char *key, bool *existed,
                               struct error *err)
{
    FRONT;
    ANSWER("publish", f->inner->publish(f->state, path, key, existed, err), );
}

static enum error_code path_of(void *state, const char *key, char path[FILE_PATH_SIZE],
                               struct error *err)
{
    FRONT;
    ANSWER("path", f->inner->path(f->state, key, path, err), );
}

static enum error_code files(void *state, const char *key, object_file_visitor visit, void *context,
                             struct error *err)
{
    FRONT;
    ANSWER("files", f->inner->files(f->state, key, visit, context, err), );
}

static enum error_code get_range(void *state, const char *key, const char *file, uint64_t offset,
                                 void *buffer, size_t size, size_t *got, struct error *err)
{
    FRONT;
    ANSWER("get_range", f->inner->get_range(f->state, key, file, offset, buffer, size, got, err), );
}

static enum error_code sweep(void *state, struct error *err)
{
    FRONT;
    ANSWER("sweep", f->inner->sweep(f->state, err), );
}

static enum error_code ref_get(void *state, const char *name, char *text, size_t size,
                               struct error *err)
{
    FRONT;
    ANSWER("ref_get", f->inner->ref_get(f->state, name, text, size, err), );
}

static enum error_code ref_set(void *state, const char *name, const char *text, struct error *err)
{
    FRONT;
    ANSWER("ref_set", f->inner->ref_set(f->state, name, text, err), );
}

static enum error_code ref_cas(void *state, const char *name, const char *expected,
                               const char *text, bool *matched, struct error *err)
{
    FRONT;
    ANSWER("ref_cas", f->inner->ref_cas(f->state, name, expected, text, matched, err), );
}

static enum error_code ref_list(void *state, store_visitor visit, void *context, struct error *err)
{
    FRONT;
    ANSWER("ref_list", f->inner->ref_list(f->state, visit, context, err), );
}

static enum error_code age(void *state, const char *key, bool is_ref, int64_t *seconds,
                           struct error *err)
{
    FRONT;
    ANSWER("age", f->inner->age(f->state, key, is_ref, seconds, err), );
}

static enum error_code note_put(void *state, const char *name, const char *text, size_t size,
                                struct error *err)
{
    FRONT;
    ANSWER("note_put", f->inner->note_put(f->state, name, text, size, err), );
}

static enum error_code note_get(void *state, const char *name, char **text, size_t *size,
                                struct error *err)
{
    FRONT;
    ANSWER("note_get", f->inner->note_get(f->state, name, text, size, err),
           (memory_free(*text), *text = NULL));
}

static enum error_code note_path(const void *state, const char *name, char path[FILE_PATH_SIZE],
                                 struct error *err)
{
    FRONT;
    return f->inner->note_path(f->state, name, path, err);
}

#define FAULTY                                                                                     \
    .scheme = "faulty", .open = open_front, .close = close_front, .capabilities = capabilities,    \
    .folder = folder, .put_if_absent = put_if_absent, .flush = flush, .get_many = get_many,        \
    .delete_if_match = delete_if_match, .scratch = scratch, .publish = publish, .files = files,    \
    .get_range = get_range, .sweep = sweep, .has = has, .remove = remove_key, .list = list,        \
    .ref_get = ref_get, .ref_set = ref_set, .ref_cas = ref_cas, .ref_list = ref_list,              \
    .note_put = note_put, .note_get = note_get, .age = age

static const struct object_backend faulty_backend = {FAULTY, .path = path_of,
                                                     .note_path = note_path};
static const struct object_backend faulty_without_paths = {FAULTY};

struct store *store_faults_open(const struct object_backend *inner, const char *place)
{
    struct store *store = NULL;
    struct error err = {0};
    next_inner = inner;
    must(store_open_on(inner->path ? &faulty_backend : &faulty_without_paths, place, 0, &store,
                       &err) == ERROR_NONE);
    return store;
}
