/*
 * backend_list - the backends of stores: one row each, whose table <name>_backend is in
 * store/backends/.
 *
 * A row has the address as help and messages show it, with what stands before it in the list of
 * all; "" for a backend that people need not be told about. The third text says of a backend which
 * processes it is for, if it is not for all.
 */
#ifndef STORE_BACKENDS_BACKEND_LIST_H
#define STORE_BACKENDS_BACKEND_LIST_H

/* clang-format off */
#define BACKEND_LIST(ROW)                                                                \
    ROW(directory, "dir:PATH", "")                                                       \
    ROW(memory, "", "; memory:NAME is of one process alone")                             \
    ROW(s3, ", s3://BUCKET/PREFIX", "")                                                  \
    ROW(cluster, ", redis+cluster://HOST:PORT/PREFIX", "")                               \
    ROW(cluster_tls, "", "")                                                             \
    ROW(tiered, ", or tiered:FAST^DURABLE of two of them", "")
/* clang-format on */

#define BACKEND_ADDRESS(name, address, limit) address
#define BACKEND_LIMIT(name, address, limit)   limit

/* "dir:PATH, s3://BUCKET/PREFIX, ..." */
#define STORE_ADDRESSES BACKEND_LIST(BACKEND_ADDRESS)
#define STORE_LIMITS    BACKEND_LIST(BACKEND_LIMIT)

#endif
