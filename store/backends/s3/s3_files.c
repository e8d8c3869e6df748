#include "store/backends/s3/s3_files.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "store/backends/s3/s3_client.h"
#include "store/backends/s3/s3_names.h"
#include "store/backends/s3/s3_place.h"
#include "store/backends/s3/s3_signature.h"
#include "store/backends/s3/s3_xml.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_MS = 60 * 1000, PIECE_BYTES = 4 << 20, READS_MAX = 4 };

struct s3_entry {
    char *name; /* full name of the object; owned */
    char etag[S3_ETAG_SIZE];
    uint64_t size;
};

struct s3_files {
    struct s3_client *client;    /* of the bucket, without a prefix */
    char folder[S3_PREFIX_SIZE]; /* folder of all names: "" or with '/' at its end */
    char name[S3_PREFIX_SIZE];   /* file, folder or pattern in that folder */
    char listed[S3_PREFIX_SIZE]; /* prefix of the names in the list */
    bool is_one, is_pattern;
    struct s3_entry *entry; /* sorted by name */
    size_t count, room;
    /* The state while the list is read. */
    struct s3_entry next;
    char token[S3_XML_TEXT_MAX + 1];
    bool is_truncated;
};

bool s3_files_is_address(const char *text)
{
    return strncmp(text, "s3:", 3) == 0;
}

void s3_files_close(struct s3_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->count; i++)
        memory_free(files->entry[i].name);
    memory_free(files->next.name);
    memory_free(files->entry);
    s3_client_close(files->client);
    memory_free(files);
}

/* Returns where the name or pattern of a path begins: after the last '/' that precedes the first
 * `*` or `[`. */
static size_t name_begins(const char *path, size_t size)
{
    size_t end = 0;
    while (end < size && path[end] != '*' && path[end] != '[')
        end++;
    while (end == size && end && path[end - 1] == '/')
        end = --size;
    while (end && path[end - 1] != '/')
        end--;
    return end;
}

size_t s3_files_folder_size(const char *address)
{
    size_t size = name_begins(address, strcspn(address, "?"));
    while (size && address[size - 1] == '/')
        size--;
    return size;
}

uint64_t s3_files_bytes(const struct s3_files *files)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < files->count; i++)
        sum += files->entry[i].size;
    return sum;
}

static const char *name_below(const struct s3_files *files, const struct s3_entry *entry)
{
    return entry->name + strlen(files->folder);
}

void s3_files_add_to_sum(const struct s3_files *files, struct checksum_stream *sum)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct s3_entry *entry = &files->entry[i];
        checksum_stream_add(sum, entry->name, strlen(entry->name) + 1);
        checksum_stream_add(sum, entry->etag, strlen(entry->etag) + 1);
        checksum_stream_add(sum, &entry->size, sizeof entry->size);
    }
}

/* --- the list --- */

/* Returns whether a name can be a local file below the folder, without leading out of it. */
static bool is_file_name(const char *name)
{
    for (const char *at = name; *at;) {
        const size_t size = strcspn(at, "/");
        if (size == 0 || (size == 1 && at[0] == '.') || (size == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += size + (at[size] == '/');
    }
    return *name && strlen(name) < FILE_PATH_SIZE / 2;
}

/* Returns whether the address means this object: it has the name, or is below it (the prefix "my"
 * also lists "my-other"), or it matches the pattern. */
static bool is_meant(const struct s3_files *files, const char *below)
{
    const size_t size = strlen(files->name);
    const bool begins_so = strncmp(below, files->name, size) == 0;
    if (below[strlen(below) - 1] == '/') /* it stands for a folder */
        return false;
    if (files->is_pattern)
        return (begins_so && !below[size]) ||
               fnmatch(files->name, below, FNM_PATHNAME | FNM_PERIOD) == 0;
    return begins_so && (!below[size] || below[size] == '/');
}

/* Takes the object that was read last into the list. */
static enum error_code take_entry(struct s3_files *files, struct error *err)
{
    struct s3_entry entry = files->next;
    files->next = (struct s3_entry){0};
    if (!entry.name || !*name_below(files, &entry) || !is_meant(files, name_below(files, &entry))) {
        memory_free(entry.name);
        return ERROR_NONE;
    }
    enum error_code rc = ERROR_NONE;
    if (!is_file_name(name_below(files, &entry)))
        rc = error_set(err, ERROR_INPUT,
                       "the name of the object %.200s cannot be the name of a file", entry.name);
    if (rc == ERROR_NONE)
        rc = memory_grow(&files->entry, &files->room, files->count + 1, "a list of objects", err);
    if (rc == ERROR_NONE)
        files->entry[files->count++] = entry;
    else
        memory_free(entry.name);
    return rc;
}

static enum error_code take_name(struct s3_files *files, const char *text, struct error *err)
{
    memory_free(files->next.name);
    files->next = (struct s3_entry){0};
    if (strncmp(text, files->listed, strlen(files->listed)) != 0)
        return error_set(err, ERROR_CORRUPT, "S3 lists %.100s, which does not begin with %s", text,
                         files->listed);
    if (strlen(text) >= S3_OBJECT_SIZE)
        return error_set(err, ERROR_INPUT, "the name of the object %.100s... is too long", text);
    const enum error_code rc =
        memory_new(&files->next.name, strlen(text) + 1, "a list of objects", err);
    if (rc == ERROR_NONE)
        memcpy(files->next.name, text, strlen(text) + 1);
    return rc;
}

static enum error_code take_element(void *context, const char *element, const char *text,
                                    struct error *err)
{
    struct s3_files *files = context;
    if (strcmp(element, "Key") == 0)
        return take_name(files, text, err);
    if (strcmp(element, "ETag") == 0)
        (void)snprintf(files->next.etag, sizeof files->next.etag, "%s", text);
    else if (strcmp(element, "Size") == 0)
        files->next.size = strtoull(text, NULL, 10);
    else if (strcmp(element, "Contents") == 0)
        return take_entry(files, err);
    else if (strcmp(element, "NextContinuationToken") == 0)
        (void)snprintf(files->token, sizeof files->token, "%s", text);
    else if (strcmp(element, "IsTruncated") == 0)
        files->is_truncated = strcmp(text, "true") == 0;
    return ERROR_NONE;
}

static enum error_code read_page(struct s3_files *files, struct error *err)
{
    char query[S3_QUERY_SIZE] = "";
    struct s3_request request = {.method = S3_GET, .query = query};
    enum error_code rc = ERROR_NONE;
    if (*files->token)
        rc = s3_query_add(query, "continuation-token", files->token, err);
    if (rc == ERROR_NONE)
        rc = s3_query_add(query, "list-type", "2", err);
    if (rc == ERROR_NONE)
        rc = s3_query_add(query, "prefix", files->listed, err);
    files->token[0] = '\0';
    files->is_truncated = false;
    if (rc == ERROR_NONE)
        rc = s3_perform_one(files->client, &request, err);
    if (rc == ERROR_NONE)
        rc = s3_xml_visit(request.answer, request.answer_size, take_element, files, err);
    if (rc == ERROR_NONE && files->is_truncated && !*files->token)
        rc = error_set(err, ERROR_IO, "S3 lists a page without the token of the next one");
    s3_request_release(&request);
    return rc;
}

static int compare_entries(const void *a, const void *b)
{
    const struct s3_entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Keeps only the object whose name equals the pattern itself, if there is one. */
static void take_literal(struct s3_files *files)
{
    for (size_t i = 0; files->is_pattern && i < files->count; i++) {
        const struct s3_entry only = files->entry[i];
        if (strcmp(name_below(files, &only), files->name) != 0)
            continue;
        files->entry[i] = files->entry[0];
        files->entry[0] = only;
        while (files->count > 1)
            memory_free(files->entry[--files->count].name);
        files->is_pattern = false;
    }
}

/* Sorts the list. Refuses a file and a folder of the same name, because the address means both. */
static enum error_code sort_entries(struct s3_files *files, const char *host, struct error *err)
{
    if (files->count == 0 && files->is_pattern)
        return error_set(err, ERROR_NOT_FOUND,
                         "expected objects of such names at %s, found none that fits %s%s", host,
                         files->folder, files->name);
    if (files->count == 0)
        return error_set(err, ERROR_NOT_FOUND,
                         "there is no object %s%s, and none below %s%s/, at %s", files->folder,
                         files->name, files->folder, files->name, host);
    take_literal(files);
    qsort(files->entry, files->count, sizeof *files->entry, compare_entries);
    files->is_one =
        !files->is_pattern && strcmp(name_below(files, &files->entry[0]), files->name) == 0;
    if (files->is_one && files->count > 1)
        return error_set(err, ERROR_INPUT, "%s is an object, and %s is below it",
                         files->entry[0].name, files->entry[1].name);
    return ERROR_NONE;
}

/* Splits the address into folder and name, and the address for the client. */
static enum error_code take_address(struct s3_files *files, const char *address,
                                    struct s3_address *at, struct error *err)
{
    static const char scheme[] = "s3://";
    char plain[FILE_PATH_SIZE];
    const size_t size = strcspn(address, "?");
    if (strncmp(address, scheme, sizeof scheme - 1) == 0) {
        const size_t bucket = sizeof scheme - 1 + strcspn(address + sizeof scheme - 1, "/?");
        const size_t begins = name_begins(address, size);
        files->is_pattern = begins > bucket && strcspn(address + begins, "*[") < size - begins;
        if (files->is_pattern) {
            const enum error_code rc =
                file_path(plain, err, "%.*s%s", (int)begins, address, address + size);
            return rc == ERROR_NONE ? s3_address_parse(plain + strlen("s3:"), at, err) : rc;
        }
    }
    return s3_address_parse(address + strlen("s3:"), at, err);
}

/* Splits the prefix "folder/in/it/name/" of a parsed address, or "folder/in/it/" and a pattern. */
static enum error_code take_names(struct s3_files *files, const char *address,
                                  struct s3_address *at, struct error *err)
{
    size_t size = strlen(at->prefix);
    if (files->is_pattern) {
        const size_t path = strcspn(address, "?"), begins = name_begins(address, path);
        (void)snprintf(files->folder, sizeof files->folder, "%s", at->prefix);
        const int name = snprintf(files->name, sizeof files->name, "%.*s", (int)(path - begins),
                                  address + begins);
        const int listed = snprintf(files->listed, sizeof files->listed, "%s%.*s", at->prefix,
                                    (int)strcspn(files->name, "*[\\"), files->name);
        return name < (int)sizeof files->name && listed < (int)sizeof files->listed
                   ? ERROR_NONE
                   : error_set(err, ERROR_INVALID, "the pattern is too long");
    }
    if (size == 0)
        return error_set(err, ERROR_INVALID,
                         "expected s3://%s/PATH, a file or a folder in the bucket", at->bucket);
    at->prefix[--size] = '\0';
    const char *slash = strrchr(at->prefix, '/');
    const int folder = slash ? (int)(slash - at->prefix) + 1 : 0;
    (void)snprintf(files->folder, sizeof files->folder, "%.*s", folder, at->prefix);
    (void)snprintf(files->name, sizeof files->name, "%s", at->prefix + folder);
    (void)snprintf(files->listed, sizeof files->listed, "%s", at->prefix);
    return ERROR_NONE;
}

/* Reads the list, which may be empty. */
static enum error_code open_list(const char *address, struct s3_files **out, struct s3_address *at,
                                 struct error *err)
{
    struct s3_files *files = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&files, 1, "files in S3", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = take_address(files, address, at, err);
    if (rc == ERROR_NONE)
        rc = take_names(files, address, at, err);
    at->prefix[0] = '\0';
    if (rc == ERROR_NONE)
        rc = s3_client_new(at, TIMEOUT_MS, &files->client, err);
    if (rc == ERROR_NONE)
        do
            rc = read_page(files, err);
        while (rc == ERROR_NONE && *files->token);
    if (rc == ERROR_NONE)
        *out = files;
    else
        s3_files_close(files);
    return rc;
}

enum error_code s3_files_list(const char *address, struct s3_files **out, struct error *err)
{
    struct s3_address at;
    enum error_code rc = open_list(address, out, &at, err);
    if (rc == ERROR_NONE)
        rc = sort_entries(*out, at.host, err);
    if (rc != ERROR_NONE) {
        s3_files_close(*out);
        *out = NULL;
    }
    return rc;
}

/* --- download --- */

/* Checks the result of a request for a piece of an object. */
static enum error_code check_piece(const struct s3_request *request, struct error *err)
{
    if (request->rc == ERROR_BUSY)
        return error_set(err, ERROR_UNAVAILABLE, "the object %s was replaced while it was read",
                         request->object);
    if (request->rc != ERROR_NONE && err)
        *err = request->err;
    if (request->rc == ERROR_NONE && request->answer_size != request->into_size)
        return error_set(
            err, ERROR_IO, "the object %s: expected %zu bytes from %" PRIu64 " on, found %zu",
            request->object, request->into_size, request->offset, request->answer_size);
    return request->rc;
}

/* Downloads the next pieces of an object in parallel and appends them to the file. */
static enum error_code fetch_pieces(const struct s3_files *files, const struct s3_entry *entry,
                                    uint64_t *at, uint8_t *bytes, int fd, const char *path,
                                    struct s3_md5 *md5, struct error *err)
{
    struct s3_request request[S3_AT_ONCE];
    enum error_code rc = ERROR_NONE;
    const uint64_t from = *at;
    size_t count = 0;
    for (; count < S3_AT_ONCE && *at < entry->size; count++) {
        const uint64_t left = entry->size - *at;
        const size_t size = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        request[count] = (struct s3_request){.method = S3_GET,
                                             .object = entry->name,
                                             .if_match = *entry->etag ? entry->etag : NULL,
                                             .has_range = true,
                                             .offset = *at,
                                             .into = bytes + count * PIECE_BYTES,
                                             .into_size = size};
        *at += size;
    }
    s3_perform(files->client, request, count);
    for (size_t i = 0; i < count; i++) {
        if (rc == ERROR_NONE)
            rc = check_piece(&request[i], err);
        s3_request_release(&request[i]);
    }
    if (rc == ERROR_NONE)
        (void)s3_md5_update(md5, bytes, (size_t)(*at - from));
    return rc == ERROR_NONE ? file_write_at(fd, bytes, (size_t)(*at - from), from, path, err) : rc;
}

/* Downloads an object once. `sum` receives the MD5 of its bytes; "" if it cannot be computed. */
static enum error_code fetch_once(const struct s3_files *files, const struct s3_entry *entry,
                                  uint8_t *bytes, const char *path, char sum[S3_MD5_TEXT_SIZE],
                                  struct error *err)
{
    struct s3_md5 md5 = {NULL};
    enum error_code rc = ERROR_NONE;
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, "%s", path);
    for (uint64_t at = 0; rc == ERROR_NONE && at < entry->size;)
        rc = fetch_pieces(files, entry, &at, bytes, fd, path, &md5, err);
    if (!s3_md5_end(&md5, sum))
        sum[0] = '\0';
    if (close(fd) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s", path);
    return rc;
}

/* Returns whether the ETag confirms the bytes, or cannot tell. An ETag with a '-' belongs to an
 * upload in parts and is not an MD5. */
static bool is_confirmed(const struct s3_entry *entry, const char *sum)
{
    const char *etag = entry->etag + (*entry->etag == '"');
    const size_t digits = strspn(etag, "0123456789abcdef");
    return !sum[0] || digits != S3_MD5_TEXT_SIZE - 1 || (etag[digits] && etag[digits] != '"') ||
           strncmp(etag, sum, digits) == 0;
}

/* Downloads an object. A byte may change on the way. If the ETag differs, the object is read again,
 * until it is confirmed or two reads agree; in that case the ETag is not an MD5, as on servers that
 * encrypt. */
static enum error_code fetch_entry(const struct s3_files *files, const struct s3_entry *entry,
                                   uint8_t *bytes, const char *path, struct error *err)
{
    char sum[S3_MD5_TEXT_SIZE] = "", before[S3_MD5_TEXT_SIZE] = "";
    for (int i = 0; i < READS_MAX; i++) {
        const enum error_code rc = fetch_once(files, entry, bytes, path, sum, err);
        if (rc != ERROR_NONE || is_confirmed(entry, sum) || strcmp(sum, before) == 0)
            return rc;
        memcpy(before, sum, sizeof before);
    }
    return error_set(
        err, ERROR_IO,
        "the object %s: expected bytes with the MD5 of its ETag %s, and found others in "
        "each of %d reads",
        entry->name, entry->etag, READS_MAX);
}

/* Makes the folders above a file. */
static enum error_code make_folders_of(const char *path, struct error *err)
{
    char folder[FILE_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    (void)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
    return folder[0] ? file_make_folders(folder, err) : ERROR_NONE;
}

enum error_code s3_files_fetch(const struct s3_files *files, const char *folder,
                               char path[FILE_PATH_SIZE], struct error *err)
{
    char target[FILE_PATH_SIZE];
    uint8_t *bytes = NULL;
    enum error_code rc = file_path(path, err, "%s/%s", folder, files->name);
    if (rc == ERROR_NONE)
        rc = memory_new(&bytes, (size_t)S3_AT_ONCE * PIECE_BYTES, "pieces of an object", err);
    for (size_t i = 0; rc == ERROR_NONE && i < files->count; i++) {
        rc = file_path(target, err, "%s/%s", folder, name_below(files, &files->entry[i]));
        if (rc == ERROR_NONE)
            rc = make_folders_of(target, err);
        if (rc == ERROR_NONE)
            rc = fetch_entry(files, &files->entry[i], bytes, target, err);
    }
    memory_free(bytes);
    return rc;
}

/* --- upload --- */

struct sending {
    struct s3_files *files; /* the objects at the address */
    struct s3_place place;  /* only its client is set */
    const char *folder;     /* local folder */
    const char *below;      /* folder below the one that is sent: "", or with '/' at its end */
    bool only_checks;       /* compare with the objects that exist, put nothing */
    int64_t known;          /* how many existing objects will be replaced */
    struct s3_sent *sent;
};

struct open_source {
    int fd;
    uint64_t at;
    const char *path;
};

static enum error_code read_source(void *context, void *to, size_t size, struct error *err)
{
    struct open_source *source = context;
    const enum error_code rc = file_read_at(source->fd, to, size, source->at, source->path, err);
    source->at += size;
    return rc;
}

static enum error_code put_source(struct sending *sending, const char *path, const char *object,
                                  struct error *err)
{
    uint64_t size = 0;
    bool existed = false;
    struct open_source source = {.path = path};
    enum error_code rc = file_size(path, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    source.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (source.fd < 0)
        return error_set_errno(err, ERROR_IO, "%s", path);
    const struct s3_source bytes = {.read = read_source, .context = &source, .size = size};
    rc = s3_put(&sending->place, object, &bytes, false, &existed, err);
    (void)close(source.fd);
    sending->sent->files++;
    sending->sent->bytes += size;
    return rc;
}

static int64_t count_named(const struct s3_files *files, const char *object)
{
    int64_t count = 0;
    for (size_t i = 0; i < files->count; i++)
        count += strcmp(files->entry[i].name, object) == 0;
    return count;
}

/* Sends one file. `name` is its path below `path`'s folder; "" if a single file is sent. */
static enum error_code send_file(struct sending *sending, const char *path, const char *name,
                                 struct error *err)
{
    char object[FILE_PATH_SIZE];
    const enum error_code rc = file_path(object, err, "%s%s%s%s", sending->files->folder,
                                         sending->files->name, *name ? "/" : "", name);
    if (rc != ERROR_NONE)
        return rc;
    if (strlen(object) >= S3_OBJECT_SIZE)
        return error_set(err, ERROR_INPUT, "%s: the name of its object would be too long", path);
    if (!sending->only_checks)
        return put_source(sending, path, object, err);
    sending->known += count_named(sending->files, object);
    return ERROR_NONE;
}

static enum error_code send_entry(void *context, const char *name, struct error *err)
{
    struct sending *sending = context;
    char path[FILE_PATH_SIZE], below[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    enum error_code rc = file_path(path, err, "%s/%s", sending->folder, name);
    if (rc == ERROR_NONE)
        rc = file_path(below, err, "%s%s", sending->below, name);
    if (rc == ERROR_NONE)
        rc = file_look(path, &kind, err);
    if (rc != ERROR_NONE)
        return rc;
    if (kind != FILE_FOLDER)
        return send_file(sending, path, below, err);
    struct sending inner = *sending;
    inner.folder = path;
    rc = file_path(below, err, "%s%s/", sending->below, name);
    inner.below = below;
    if (rc == ERROR_NONE)
        rc = file_list(path, send_entry, &inner, err);
    sending->known = inner.known;
    return rc;
}

static enum error_code send_all(struct sending *sending, const char *path, struct error *err)
{
    enum file_kind kind = FILE_ABSENT;
    const enum error_code rc = file_look(path, &kind, err);
    if (rc != ERROR_NONE)
        return rc;
    if (kind == FILE_ABSENT)
        return error_set(err, ERROR_NOT_FOUND, "%s: there is no such file or folder", path);
    return kind == FILE_FOLDER ? file_list(path, send_entry, sending, err)
                               : send_file(sending, path, "", err);
}

enum error_code s3_files_send(const char *path, const char *address, struct s3_sent *sent,
                              struct error *err)
{
    struct sending sending = {.folder = path, .below = "", .only_checks = true, .sent = sent};
    struct s3_address at;
    *sent = (struct s3_sent){0};
    enum error_code rc = open_list(address, &sending.files, &at, err);
    if (rc == ERROR_NONE && sending.files->is_pattern)
        rc = error_set(err, ERROR_USAGE, "expected the name of a file or a folder, found '%s'",
                       sending.files->name);
    if (rc == ERROR_NONE)
        rc = send_all(&sending, path, err);
    if (rc == ERROR_NONE && (size_t)sending.known < sending.files->count)
        rc = error_set(err, ERROR_USAGE,
                       "%s%s in %s is not empty, and holds files that %s does not have, such as "
                       "%s: " ADVICE "name another place",
                       sending.files->folder, sending.files->name, at.bucket, path,
                       sending.files->entry[0].name);
    if (rc == ERROR_NONE) {
        sending.only_checks = false;
        sending.place.client = sending.files->client;
        rc = send_all(&sending, path, err);
    }
    if (rc == ERROR_NONE && sent->files == 0)
        rc = error_set(err, ERROR_INPUT, "%s: there is no file in it", path);
    s3_files_close(sending.files);
    return rc;
}
