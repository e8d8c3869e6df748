/*
 * curl_library - loads libcurl when a store in a bucket is opened.
 *
 * libcurl brings thirty other libraries with it (LDAP, Kerberos, SSH). Linked in the usual way,
 * every program would load them at each start, whatever its store: that takes 6 ms, and more
 * address space than a small limit allows.
 */
#ifndef STORE_BACKENDS_S3_CURL_LIBRARY_H
#define STORE_BACKENDS_S3_CURL_LIBRARY_H

#include "common/base/error.h"

#define CURL_DISABLE_TYPECHECK /* its macros have the names of the members */
#include <curl/curl.h>

#define CURL_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(curl_easy_cleanup)                                                                    \
    FUNCTION(curl_easy_getinfo)                                                                    \
    FUNCTION(curl_easy_init)                                                                       \
    FUNCTION(curl_easy_reset)                                                                      \
    FUNCTION(curl_easy_setopt)                                                                     \
    FUNCTION(curl_easy_strerror)                                                                   \
    FUNCTION(curl_global_init)                                                                     \
    FUNCTION(curl_multi_add_handle)                                                                \
    FUNCTION(curl_multi_cleanup)                                                                   \
    FUNCTION(curl_multi_info_read)                                                                 \
    FUNCTION(curl_multi_init)                                                                      \
    FUNCTION(curl_multi_perform)                                                                   \
    FUNCTION(curl_multi_poll)                                                                      \
    FUNCTION(curl_multi_remove_handle)                                                             \
    FUNCTION(curl_slist_append)                                                                    \
    FUNCTION(curl_slist_free_all)

#define CURL_MEMBER(name) __typeof__(name) *(name);
struct curl_library {
    CURL_FUNCTIONS(CURL_MEMBER)
};
#undef CURL_MEMBER

/* libcurl's functions; valid once curl_library_load() has succeeded. */
extern struct curl_library curl;
/* Loads and initialises libcurl, once per process. Fails: ERROR_UNAVAILABLE, naming what is
 * missing. Threads: any. */
MUST_CHECK enum error_code curl_library_load(struct error *err);

#endif
