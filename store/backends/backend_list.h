/*
 * backend_list - the backends of stores, one row each. The functions of a backend are the table
 * <name>_backend in store/backends/.
 *
 * A row has five columns: the name; the address as help and messages list it, with the text that
 * separates it from the address before it ("" hides the backend from that list); a restriction to
 * certain processes ("" if there is none); the whole address; and a description of the store. The
 * last two are for the reference (pipelines/guide/reference.md).
 */
#ifndef STORE_BACKENDS_BACKEND_LIST_H
#define STORE_BACKENDS_BACKEND_LIST_H

/* clang-format off */
#define BACKEND_LIST(ROW)                                                                          \
    ROW(directory, "dir:PATH", "",                                                                 \
        "dir:PATH",                                                                                \
        "A folder, local or shared. It is the default, and nothing needs to run for it.")          \
    ROW(memory, "", "; memory:NAME is of one process alone",                                       \
        "memory:NAME",                                                                             \
        "Memory of one process: the reference in tests. The programs refuse it, since no "         \
        "other process sees it.")                                                                  \
    ROW(s3, ", s3://BUCKET/PREFIX", "",                                                            \
        "s3://BUCKET/PREFIX",                                                                      \
        "A bucket of S3, or of what speaks its protocol. It is for clusters without a volume "     \
        "that all nodes may write; every record costs a request.")                                 \
    ROW(cluster, ", redis+cluster://HOST:PORT/PREFIX", "",                                         \
        "redis+cluster://HOST:PORT/PREFIX",                                                        \
        "A Redis Cluster. It is for the records of rounds, in memory; what must last has no "      \
        "place there.")                                                                            \
    ROW(cluster_tls, "", "",                                                                       \
        "rediss+cluster://HOST:PORT/PREFIX",                                                       \
        "A Redis Cluster through TLS, for a network that others share.")                           \
    ROW(tiered, ", or tiered:FAST^DURABLE of two of them", "",                                     \
        "tiered:FAST^DURABLE",                                                                     \
        "Two of these (for programs not `memory:`): rounds lie where records are cheap, all "      \
        "else lies where it lasts.")
/* clang-format on */

#define BACKEND_ADDRESS(name, address, limit, place, text) address
#define BACKEND_LIMIT(name, address, limit, place, text)   limit

/* The addresses of all rows, joined: "dir:PATH, s3://BUCKET/PREFIX, ..." */
#define STORE_ADDRESSES BACKEND_LIST(BACKEND_ADDRESS)
#define STORE_LIMITS    BACKEND_LIST(BACKEND_LIMIT)

#endif
