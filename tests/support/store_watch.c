#include "tests/support/store_watch.h"

#include "common/base/clock.h"

#include <pthread.h>
#include <stdbool.h>

static struct object_backend watched;
static const struct object_backend *behind;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_watch_count counted;
static int wanted, under_way;

static bool have_met(void)
{
    (void)pthread_mutex_lock(&lock);
    const bool met = counted.most >= wanted;
    (void)pthread_mutex_unlock(&lock);
    return met;
}

static void enter(int reads)
{
    (void)pthread_mutex_lock(&lock);
    counted.calls++;
    counted.reads += reads;
    under_way += reads;
    counted.most = under_way > counted.most ? under_way : counted.most;
    (void)pthread_mutex_unlock(&lock);
    for (int ms = 0; !have_met() && ms < 10000; ms++)
        clock_sleep_ms(1);
}

static void leave(int reads)
{
    (void)pthread_mutex_lock(&lock);
    under_way -= reads;
    (void)pthread_mutex_unlock(&lock);
}

static void get_many(void *state, struct object_get *get, size_t count)
{
    enter((int)count);
    behind->get_many(state, get, count);
    leave((int)count);
}

static enum error_code get_range(void *state, const char *key, const char *file, uint64_t offset,
                                 void *buffer, size_t size, size_t *got, struct error *err)
{
    enter(1);
    const enum error_code rc = behind->get_range(state, key, file, offset, buffer, size, got, err);
    leave(1);
    return rc;
}

struct store *store_watch_open(const struct object_backend *inner, const char *place)
{
    struct store *store = NULL;
    struct error err = {0};
    behind = inner;
    watched = *inner;
    watched.get_many = get_many;
    watched.get_range = get_range;
    store_watch_begin(0);
    must(store_open_on(&watched, place, 0, &store, &err) == ERROR_NONE);
    return store;
}

void store_watch_begin(int together)
{
    (void)pthread_mutex_lock(&lock);
    counted = (struct store_watch_count){0};
    wanted = together;
    (void)pthread_mutex_unlock(&lock);
}

struct store_watch_count store_watch_end(void)
{
    (void)pthread_mutex_lock(&lock);
    const struct store_watch_count count = counted;
    wanted = 0;
    (void)pthread_mutex_unlock(&lock);
    return count;
}
