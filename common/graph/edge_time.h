/*
 * edge_time - the times of edges as 64-bit integers.
 *
 * Earlier releases stored times as doubles. Such times can still be read: each becomes the integer
 * with the same rank in the order of all doubles, so that comparing the integers compares the
 * times. The integer has the value of the time only if times are stored as integers;
 * edge_time_to_double() returns the double.
 */
#ifndef COMMON_GRAPH_EDGE_TIME_H
#define COMMON_GRAPH_EDGE_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Earlier and later than every time. */
#define EDGE_TIME_FIRST INT64_MIN
#define EDGE_TIME_LAST  INT64_MAX

/* Treats 0 and -0 as the same time. */
static inline int64_t edge_time_of_double(double time)
{
    int64_t bits = 0;
    memcpy(&bits, &time, sizeof bits);
    return bits >= 0 ? bits : -(bits & INT64_MAX);
}

static inline double edge_time_to_double(int64_t place)
{
    double size = 0;
    const int64_t bits = place < 0 ? -place : place;
    memcpy(&size, &bits, sizeof size);
    return place < 0 ? -size : size;
}

/* The times of several edges as they are stored; {0}: there are none. Borrowed. */
struct edge_times {
    const void *word; /* [edges] of 64 bits */
    bool are_doubles;
};

static inline int64_t edge_time_at(struct edge_times times, uint64_t i)
{
    int64_t time = 0;
    double old = 0;
    if (!times.are_doubles) {
        memcpy(&time, (const char *)times.word + i * sizeof time, sizeof time);
        return time;
    }
    memcpy(&old, (const char *)times.word + i * sizeof old, sizeof old);
    return edge_time_of_double(old);
}

/* Returns the times from edge `first` on. */
static inline struct edge_times edge_times_from(struct edge_times times, uint64_t first)
{
    if (times.word)
        times.word = (const char *)times.word + first * sizeof(int64_t);
    return times;
}

/* Writes a time in its stored form. */
static inline void edge_time_put(void *word, bool is_double, int64_t time)
{
    const double old = is_double ? edge_time_to_double(time) : 0;
    if (is_double)
        memcpy(word, &old, sizeof old);
    else
        memcpy(word, &time, sizeof time);
}

#endif
