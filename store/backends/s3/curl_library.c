#include "store/backends/s3/curl_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static const char library_name[] = "libcurl.so.4";

struct curl_library curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct error problem;
static enum error_code result;

static void find(void *library, const char *name, void *out)
{
    void *found = result == ERROR_NONE ? dlsym(library, name) : NULL;
    if (!found && result == ERROR_NONE)
        result = error_set(&problem, ERROR_UNAVAILABLE, "%s has no %s, which s3: needs",
                           library_name, name);
    memcpy(out, &found, sizeof found); /* ISO C cannot cast an object pointer to a function */
}

/* Loads libcurl for good: it has threads and atexit() handlers, so it must not be unloaded. */
static void load(void)
{
    void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        result = error_set(&problem, ERROR_UNAVAILABLE,
                           "s3: needs libcurl (Debian's libcurl4), which cannot be loaded: %s",
                           dlerror());
        return;
    }
#define FIND(name) find(library, #name, &curl.name);
    CURL_FUNCTIONS(FIND)
#undef FIND
    if (result == ERROR_NONE && curl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        result = error_set(&problem, ERROR_UNAVAILABLE, "libcurl cannot be initialised");
}

enum error_code curl_library_load(struct error *err)
{
    (void)pthread_once(&once, load);
    if (result != ERROR_NONE && err)
        *err = problem;
    return result;
}
