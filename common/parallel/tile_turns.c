#include "common/parallel/tile_turns.h"

void tile_turns_begin(struct tile_turns *turns)
{
    (void)pthread_mutex_init(&turns->lock, NULL);
    (void)pthread_cond_init(&turns->passed, NULL);
    turns->next = 0;
}

void tile_turns_wait(struct tile_turns *turns, int64_t tile)
{
    (void)pthread_mutex_lock(&turns->lock);
    while (turns->next != tile)
        (void)pthread_cond_wait(&turns->passed, &turns->lock);
    (void)pthread_mutex_unlock(&turns->lock);
}

void tile_turns_pass(struct tile_turns *turns)
{
    (void)pthread_mutex_lock(&turns->lock);
    turns->next++;
    (void)pthread_cond_broadcast(&turns->passed);
    (void)pthread_mutex_unlock(&turns->lock);
}

void tile_turns_end(struct tile_turns *turns)
{
    (void)pthread_cond_destroy(&turns->passed);
    (void)pthread_mutex_destroy(&turns->lock);
}
