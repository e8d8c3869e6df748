/*
 * redis_server - a private redis-server for one run on one machine.
 *
 * It listens on a Unix socket only, keeps nothing on disk (the queue is rebuilt from the store) and
 * ends with the process that started it, however that ends. Its log and pid files are in the folder
 * that it was given.
 *
 * Threads: one thread opens, checks and closes the server and lives as long as it: the kernel ends
 * the server when the thread that started it ends.
 */
#ifndef STORE_QUEUE_REDIS_SERVER_H
#define STORE_QUEUE_REDIS_SERVER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct redis_server;

/* Starts a server with its files in `folder`, which is made if missing, and waits until it answers.
 * The caller stops *out with redis_server_close(). Fails: ERROR_UNAVAILABLE when there is no
 * redis-server in PATH or it does not start; ERROR_IO. */
MUST_CHECK enum error_code redis_server_open(const char *folder, struct redis_server **out,
                                             struct error *err);
/* Kills the server and removes its socket. NULL is allowed. */
void redis_server_close(struct redis_server *server);

/* Returns unix:PATH, for work_queue_open(). Borrowed from the server. */
const char *redis_server_url(const struct redis_server *server);
/* Finds the URL of the server that another process runs in `folder`. The server need not answer any
 * more. Fails: ERROR_NOT_FOUND when none was started there, or it was closed. */
MUST_CHECK enum error_code redis_server_find(const char *folder, char *url, size_t size,
                                             struct error *err);
pid_t redis_server_pid(const struct redis_server *server);

/* Starts the server again, empty, if it died or has not answered for ten seconds (it was stopped,
 * or its disk or memory failed); in the latter case kills it first. *restarted says whether it did.
 * Does not wait if the server is well. */
MUST_CHECK enum error_code redis_server_check(struct redis_server *server, bool *restarted,
                                              struct error *err);

#endif
