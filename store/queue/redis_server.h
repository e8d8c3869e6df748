/*
 * redis_server - a private redis-server for one run on one machine.
 *
 * It listens on a Unix socket only, keeps nothing on disk (the queue is rebuilt from storage) and dies with
 * the process that started it, however that ends. Its log and its pid are in the folder it was given.
 *
 * Threads: one thread opens, checks and closes it, and lives as long as the server: the kernel ends the
 * server when the thread that started it ends.
 */
#ifndef STORE_QUEUE_REDIS_SERVER_H
#define STORE_QUEUE_REDIS_SERVER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct redis_server;

/* Starts a server with its files in `folder` (made when missing) and waits until it answers.
 * Owns:  *out; stop it with redis_server_close().
 * Fails: ERROR_UNAVAILABLE when there is no redis-server in PATH or it does not start; ERROR_IO. */
MUST_CHECK enum error_code redis_server_open(const char *folder, struct redis_server **out,
                                             struct error *err);
/* Kills the server and removes its socket; NULL is fine. */
void redis_server_close(struct redis_server *server);

/* unix:PATH, for work_queue_open(). Borrowed from the server. */
const char *redis_server_url(const struct redis_server *server);
/* The URL of the server that another process runs in `folder`; whether it still answers is another matter.
 * Fails: ERROR_NOT_FOUND when none was started there, or it was closed. */
MUST_CHECK enum error_code redis_server_find(const char *folder, char *url, size_t size,
                                             struct error *err);
pid_t redis_server_pid(const struct redis_server *server);

/* Starts the server again when it has died, or has answered nothing for ten seconds (stopped, or its disk or memory
 * fails it): then it is killed first. *restarted says whether. It is empty then. Does not wait while all is well. */
MUST_CHECK enum error_code redis_server_check(struct redis_server *server, bool *restarted,
                                              struct error *err);

#endif
