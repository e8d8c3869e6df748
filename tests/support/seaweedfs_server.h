/* seaweedfs_server - a real SeaweedFS with an S3 server, one for each test program, or none if it
 * is not installed. */
#ifndef TESTS_SUPPORT_SEAWEEDFS_SERVER_H
#define TESTS_SUPPORT_SEAWEEDFS_SERVER_H

#include "tests/support/temp_dir.h"

/* Returns its endpoint, http://127.0.0.1:port, with the bucket "graphmill". The server starts with
 * the first call and ends with the program. Returns NULL, after a line that says so, when there is
 * no program `weed`: $GRAPHMILL_WEED (tests/support/seaweedfs_venv.sh makes it), or else one in
 * PATH. The credentials are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY afterwards. */
const char *seaweedfs_endpoint(void);

/* A server between a client and the real one that spoils answers (tests/support/s3_relay.py). */
struct s3_relay {
    char endpoint[64];
    struct temp_dir dir;
    int pid;
};
void s3_relay_start(struct s3_relay *relay);
void s3_relay_stop(struct s3_relay *relay);
/* Plans the effect on the next requests, one word for each; see s3_relay.py. */
void s3_relay_plan(const struct s3_relay *relay, const char *words);
/* Returns whether the whole plan has been carried out. */
bool s3_relay_is_through(const struct s3_relay *relay);
/* Returns the greatest number of requests that were in flight at once since the last call. */
int s3_relay_most_at_once(const struct s3_relay *relay);

#endif
