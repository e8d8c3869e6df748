#include "stages/engine/library_failure.h"

#include "common/base/error.h"
#include "common/base/log.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No file here is C++, so the C++ run-time library is called by its symbols: std::set_terminate(),
 * and the type of the current exception, whose second word is its name. */
typedef void (*end_handler)(void);
typedef end_handler (*set_handler)(end_handler handler);
struct exception_type {
    const void *methods;
    const char *name;
};
typedef const struct exception_type *(*current_type)(void);

/* Looks a function up. ISO C has no cast from an object pointer to a function pointer, but POSIX
 * says that the bytes are the same. */
static void look_up(const char *symbol, void *function)
{
    void *address = dlsym(RTLD_DEFAULT, symbol);
    memcpy(function, &address, sizeof address);
}

static const char *exception_name(void)
{
    current_type current = NULL;
    look_up("__cxa_current_exception_type", &current);
    const struct exception_type *type = current ? current() : NULL;
    return type ? type->name : "none";
}

static void on_terminate(void)
{
    static const char *const refusals[][2] = {
        {"St9bad_alloc", "memory"},
        {"St20bad_array_new_length", "memory"},
        {"St12system_error", "a thread"},
    };
    const char *name = exception_name();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strcmp(name, refusals[i][0]) == 0) {
            log_error("no memory: RocksDB was refused %s (%s); this process needs higher limits: "
                      "see ulimit -v, ulimit -u and the limits of the container",
                      refusals[i][1], name);
            _exit(error_exit_status(ERROR_NO_MEMORY));
        }
    log_error("a library ended the program with an exception of type %s", name);
    abort();
}

void library_failure_install(void)
{
    set_handler set = NULL;
    look_up("_ZSt13set_terminatePFvvE", &set);
    if (set)
        (void)set(on_terminate);
}
