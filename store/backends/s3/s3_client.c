#include "store/backends/s3/s3_client.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "store/backends/s3/curl_library.h"
#include "store/backends/s3/s3_answer.h"
#include "store/backends/s3/s3_credentials.h"
#include "store/backends/s3/s3_names.h"
#include "store/backends/s3/s3_signature.h"
#include "store/backends/s3/s3_xml.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_BACKOFF_MS = 50,
    LONGEST_BACKOFF_MS = 3000,
    CONNECT_MS = 5000,
    POLL_MS = 100,
    BYTES_A_MS = 64,        /* the slowest rate that is allowed: 64 KiB a second */
    FAILURE_MAX = 64 << 10, /* bytes that are kept of a failure's answer */
    URL_SIZE = S3_PATH_SIZE + S3_QUERY_SIZE + S3_HOST_SIZE + 16,
};

static const char *const method_name[] = {"GET", "HEAD", "PUT", "POST", "DELETE"};

/* One request in flight. */
struct slot {
    CURL *easy;
    struct curl_slist *headers;
    struct s3_request *request; /* NULL if the slot is free */
    int64_t moved, moved_at_ms; /* bytes so far, and the time of the last one */
    int64_t idle_ms;
    bool overflowed;
    bool has_head; /* all header lines have arrived; curl accepts half of them as complete */
    enum error_code memory; /* result of storing the answer */
    char problem[CURL_ERROR_SIZE];
};

/* The curl handles of one call. A lane is kept, with its connections, for the next call. */
struct lane {
    CURLM *multi;
    struct slot slot[S3_AT_ONCE];
    pid_t owner;
    struct lane *next;
};

struct s3_client {
    struct s3_address address;
    int64_t timeout_ms;
    pthread_mutex_t lock; /* guards the members below */
    struct lane *free_lanes;
    struct s3_credentials credentials;
};

/* The state of a request between its attempts. */
struct progress {
    int64_t begun_ms, deadline_ms, next_ms;
    int attempts;
    bool runs, is_done, renewed, was_short;
    char payload[S3_SHA256_TEXT_SIZE];
    char last[256]; /* the failure of the last attempt */
};

/* --- open and close --- */

enum error_code s3_client_new(const struct s3_address *address, int64_t timeout_ms,
                              struct s3_client **out, struct error *err)
{
    struct s3_client *client = NULL;
    enum error_code rc = curl_library_load(err);
    if (rc == ERROR_NONE)
        rc = memory_new(&client, 1, "a client of S3", err);
    if (rc != ERROR_NONE)
        return rc;
    client->address = *address;
    client->timeout_ms = timeout_ms;
    rc = s3_credentials_load(address->profile, &client->credentials, err);
    if (rc != ERROR_NONE) {
        memory_free(client);
        return rc;
    }
    must(pthread_mutex_init(&client->lock, NULL) == 0);
    *out = client;
    return ERROR_NONE;
}

static void lane_free(struct lane *lane)
{
    for (int i = 0; i < S3_AT_ONCE; i++)
        if (lane->slot[i].easy)
            curl.curl_easy_cleanup(lane->slot[i].easy);
    if (lane->multi)
        (void)curl.curl_multi_cleanup(lane->multi);
    memory_free(lane);
}

void s3_client_close(struct s3_client *client)
{
    if (!client)
        return;
    while (client->free_lanes) {
        struct lane *lane = client->free_lanes;
        client->free_lanes = lane->next;
        if (lane->owner == getpid())
            lane_free(lane);
    }
    (void)pthread_mutex_destroy(&client->lock);
    memory_free(client);
}

const struct s3_address *s3_client_address(const struct s3_client *client)
{
    return &client->address;
}

static struct lane *lane_new(void)
{
    struct lane *lane = memory_alloc(1, sizeof *lane);
    bool works = lane && (lane->multi = curl.curl_multi_init()) != NULL;
    for (int i = 0; works && i < S3_AT_ONCE; i++)
        works = (lane->slot[i].easy = curl.curl_easy_init()) != NULL;
    if (works) {
        lane->owner = getpid();
        return lane;
    }
    if (lane)
        lane_free(lane);
    return NULL;
}

/* Takes a free lane of this process. After a fork, the lanes of the parent have connections that
 * the parent still uses. */
static struct lane *lane_take(struct s3_client *client)
{
    (void)pthread_mutex_lock(&client->lock);
    struct lane **at = &client->free_lanes;
    while (*at && (*at)->owner != getpid())
        at = &(*at)->next;
    struct lane *lane = *at;
    if (lane)
        *at = lane->next;
    (void)pthread_mutex_unlock(&client->lock);
    return lane ? lane : lane_new();
}

static void lane_give(struct s3_client *client, struct lane *lane)
{
    (void)pthread_mutex_lock(&client->lock);
    lane->next = client->free_lanes;
    client->free_lanes = lane;
    (void)pthread_mutex_unlock(&client->lock);
}

/* --- what libcurl calls --- */

static bool is_good(CURL *easy)
{
    long status = 0;
    (void)curl.curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status < 300;
}

static size_t take_body(char *bytes, size_t one, size_t count, void *context)
{
    struct slot *slot = context;
    struct s3_request *r = slot->request;
    const size_t size = one * count;
    const bool good = is_good(slot->easy);
    if (good && r->into) {
        slot->overflowed = size > r->into_size - r->answer_size;
        if (slot->overflowed)
            return 0;
        memcpy(r->into + r->answer_size, bytes, size);
    } else {
        if (!good && r->answer_size + size > FAILURE_MAX)
            return size; /* the rest of a long failure is dropped */
        slot->memory = memory_grow(&r->answer, &r->answer_room, r->answer_size + size + 1,
                                   "an answer of S3", NULL);
        if (slot->memory != ERROR_NONE)
            return 0;
        memcpy(r->answer + r->answer_size, bytes, size);
    }
    r->answer_size += size;
    return size;
}

static size_t take_header(char *line, size_t one, size_t count, void *context)
{
    struct slot *slot = context;
    const size_t size = one * count;
    slot->has_head = size == 2 && line[0] == '\r';
    s3_answer_header(slot->request, line, size);
    return size;
}

static int look_at_progress(void *context, curl_off_t to_get, curl_off_t got, curl_off_t to_put,
                            curl_off_t put)
{
    struct slot *slot = context;
    const int64_t now = clock_ms();
    (void)to_get, (void)to_put;
    if (got + put != slot->moved) {
        slot->moved = got + put;
        slot->moved_at_ms = now;
    }
    return now - slot->moved_at_ms > slot->idle_ms || stop_signal_is_pressing();
}

/* --- one attempt --- */

static bool add_header(struct slot *slot, const char *name, const char *value)
{
    char line[S3_TOKEN_SIZE + 64];
    const int size = snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *longer =
        size > 0 && (size_t)size < sizeof line ? curl.curl_slist_append(slot->headers, line) : NULL;
    if (longer)
        slot->headers = longer;
    return longer != NULL;
}

static bool add_conditions(struct slot *slot)
{
    const struct s3_request *r = slot->request;
    char range[64];
    bool added = !r->if_absent || add_header(slot, "If-None-Match", "*");
    if (added && r->if_match)
        added = add_header(slot, "If-Match", r->if_match);
    const uint64_t size = r->into ? r->into_size : r->range_size;
    (void)snprintf(range, sizeof range, "bytes=%llu-%llu", (unsigned long long)r->offset,
                   (unsigned long long)(r->offset + size - 1));
    if (added && r->has_range)
        added = add_header(slot, "Range", range);
    /* Replaces headers that curl would add. */
    return added && add_header(slot, "Content-Type", "application/octet-stream") &&
           (slot->headers = curl.curl_slist_append(slot->headers, "Expect:")) != NULL;
}

static enum error_code sign(struct s3_client *client, struct slot *slot, const char *path,
                            const struct progress *p, struct error *err)
{
    char date[S3_DATE_SIZE], authorization[S3_AUTHORIZATION_SIZE];
    struct s3_credentials credentials;
    const struct s3_request *r = slot->request;
    (void)pthread_mutex_lock(&client->lock);
    credentials = client->credentials;
    (void)pthread_mutex_unlock(&client->lock);
    s3_date_text(time(NULL), date);
    struct s3_header header[5] = {
        {"host", client->address.host}, {"x-amz-content-sha256", p->payload}, {"x-amz-date", date}};
    size_t count = 3;
    if (r->writer)
        header[count++] = (struct s3_header){"x-amz-meta-writer", r->writer};
    if (*credentials.token)
        header[count++] = (struct s3_header){"x-amz-security-token", credentials.token};
    const struct s3_signing signing = {.method = method_name[r->method],
                                       .path = path,
                                       .query = r->query ? r->query : "",
                                       .header = header,
                                       .header_count = count,
                                       .payload = p->payload,
                                       .date = date,
                                       .region = client->address.region,
                                       .credentials = &credentials};
    const enum error_code rc = s3_sign(&signing, authorization, err);
    bool added = rc == ERROR_NONE && add_header(slot, "Authorization", authorization);
    for (size_t i = 0; added && i < count; i++)
        added = add_header(slot, header[i].name, header[i].value);
    if (rc == ERROR_NONE && !added)
        return error_set(err, ERROR_NO_MEMORY, "no memory for a request to S3");
    return rc;
}

static void set_options(const struct s3_client *client, struct slot *slot, const char *url,
                        int64_t left_ms)
{
    CURL *easy = slot->easy;
    const struct s3_request *r = slot->request;
    curl.curl_easy_reset(easy); /* keeps the connections */
    (void)curl.curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl.curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl.curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl.curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl.curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    (void)curl.curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    (void)curl.curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->problem);
    (void)curl.curl_easy_setopt(easy, CURLOPT_HTTPHEADER, slot->headers);
    (void)curl.curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    (void)curl.curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
    (void)curl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl.curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    (void)curl.curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl.curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
    (void)curl.curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    (void)curl.curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, look_at_progress);
    (void)curl.curl_easy_setopt(easy, CURLOPT_XFERINFODATA, slot);
    if (*client->address.ca)
        (void)curl.curl_easy_setopt(easy, CURLOPT_CAINFO, client->address.ca);
    if (r->method == S3_HEAD) {
        (void)curl.curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (r->method == S3_PUT || r->method == S3_POST) {
        (void)curl.curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_size);
        (void)curl.curl_easy_setopt(easy, CURLOPT_POSTFIELDS, r->body ? (const char *)r->body : "");
    }
    if (r->method == S3_PUT || r->method == S3_DELETE)
        (void)curl.curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method_name[r->method]);
}

static enum error_code begin(struct s3_client *client, struct lane *lane, struct slot *slot,
                             struct s3_request *request, struct progress *p)
{
    char path[S3_PATH_SIZE], url[URL_SIZE];
    const int64_t now = clock_ms();
    const int64_t left = p->deadline_ms - now;
    slot->request = request;
    slot->headers = NULL;
    slot->overflowed = slot->has_head = false;
    slot->memory = ERROR_NONE;
    slot->problem[0] = '\0';
    slot->moved = 0;
    slot->moved_at_ms = now;
    slot->idle_ms = client->timeout_ms / 3;
    s3_answer_forget(request);
    if (!s3_path(&client->address, request, path))
        return error_set(&request->err, ERROR_INVALID, "a name in S3 is too long");
    (void)snprintf(url, sizeof url, "%s://%s%s%s%s", client->address.is_secure ? "https" : "http",
                   client->address.host, path, request->query ? "?" : "",
                   request->query ? request->query : "");
    enum error_code rc = sign(client, slot, path, p, &request->err);
    if (rc == ERROR_NONE && !add_conditions(slot))
        rc = error_set(&request->err, ERROR_NO_MEMORY, "no memory for a request to S3");
    if (rc == ERROR_NONE) {
        set_options(client, slot, url, left > 1 ? left : 1);
        if (curl.curl_multi_add_handle(lane->multi, slot->easy) != CURLM_OK)
            rc = error_set(&request->err, ERROR_NO_MEMORY, "no memory for a request to S3");
    }
    p->attempts++;
    p->runs = rc == ERROR_NONE;
    return rc;
}

static void end_attempt(struct lane *lane, struct slot *slot, struct progress *p)
{
    if (p->runs)
        (void)curl.curl_multi_remove_handle(lane->multi, slot->easy);
    curl.curl_slist_free_all(slot->headers);
    slot->headers = NULL;
    slot->request = NULL;
    p->runs = false;
}

/* --- what becomes of an attempt --- */

/* Reads the credentials again if the server calls them expired, since their file may have been
 * renewed. Returns whether that was done; each request does it at most once. */
static bool renew_credentials(struct s3_client *client, const char *code, struct progress *p)
{
    struct s3_credentials fresh;
    if (p->renewed || (strcmp(code, "ExpiredToken") != 0 && strcmp(code, "InvalidToken") != 0 &&
                       strcmp(code, "InvalidAccessKeyId") != 0))
        return false;
    p->renewed = true;
    if (s3_credentials_load(client->address.profile, &fresh, NULL) != ERROR_NONE)
        return false;
    (void)pthread_mutex_lock(&client->lock);
    client->credentials = fresh;
    (void)pthread_mutex_unlock(&client->lock);
    return true;
}

/* Returns whether the answer must be incomplete: a range with fewer bytes than the object has
 * there, or a list that is not XML. */
static bool is_short(const struct s3_request *r)
{
    char text[8];
    if (r->method == S3_GET && !r->object)
        return s3_xml_find(r->answer, r->answer_size, "IsTruncated", text, sizeof text, NULL) ==
               ERROR_CORRUPT;
    const uint64_t left = r->total > r->offset ? r->total - r->offset : 0;
    if (r->method != S3_GET || !r->has_range)
        return false;
    return r->into ? r->answer_size < r->into_size
                   : r->answer_size < (left < r->range_size ? left : r->range_size);
}

/* Judges a whole answer. Returns whether the request is to be repeated. */
static bool judge_answer(struct s3_client *client, struct s3_request *r, struct progress *p)
{
    char name[FILE_PATH_SIZE];
    struct s3_failure failure = {.code = ""};
    bool bad = r->status < 200 || r->status >= 300;
    /* A completed upload may fail after its "200 OK" went out. */
    if (bad || (r->method == S3_POST && !r->into))
        bad = s3_xml_failure(r->answer, r->answer_size, &failure) || bad;
    /* if the object really is so, the next answer is the same */
    if (!bad && is_short(r) && !p->was_short) {
        p->was_short = true;
        (void)snprintf(p->last, sizeof p->last, "an answer of %zu bytes is not whole",
                       r->answer_size);
        return true;
    }
    if (!bad) {
        r->rc = ERROR_NONE;
        return false;
    }
    if (r->status >= 200 && r->status < 300)
        r->status = 500;
    (void)snprintf(p->last, sizeof p->last, "%d %s%s%.120s", r->status, failure.code,
                   *failure.message ? ": " : "", failure.message);
    if (s3_answer_may_pass(r->status, failure.code) || renew_credentials(client, failure.code, p))
        return true;
    r->no_bucket = strcmp(failure.code, "NoSuchBucket") == 0;
    r->rc = error_set(&r->err, s3_answer_code(r->status, failure.code), "%s of %s at %s: %s",
                      method_name[r->method], s3_name(&client->address, r, name),
                      client->address.host, p->last);
    return false;
}

/* Judges a missing or broken answer. Returns whether the request is to be repeated. */
static bool judge_failure(struct s3_client *client, const struct slot *slot, CURLcode code,
                          struct progress *p)
{
    struct s3_request *r = slot->request;
    char name[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    (void)snprintf(p->last, sizeof p->last, "%s",
                   code == CURLE_ABORTED_BY_CALLBACK ? "no byte came or went for too long"
                   : *slot->problem                  ? slot->problem
                                                     : curl.curl_easy_strerror(code));
    if (slot->memory != ERROR_NONE || code == CURLE_OUT_OF_MEMORY)
        rc = ERROR_NO_MEMORY;
    else if (slot->overflowed)
        rc = ERROR_IO;
    else if (code == CURLE_PEER_FAILED_VERIFICATION)
        rc = ERROR_DENIED;
    else if (code == CURLE_SSL_CACERT_BADFILE || code == CURLE_URL_MALFORMAT ||
             code == CURLE_UNSUPPORTED_PROTOCOL)
        rc = ERROR_INVALID;
    if (rc == ERROR_NONE)
        return true;
    r->rc = error_set(&r->err, rc, "%s of %s at %s: %s", method_name[r->method],
                      s3_name(&client->address, r, name), client->address.host,
                      slot->overflowed ? "more bytes than were asked for" : p->last);
    return false;
}

static void wait_or_give_up(const struct s3_client *client, struct s3_request *r,
                            struct progress *p)
{
    char name[FILE_PATH_SIZE];
    const int shift = p->attempts < 7 ? p->attempts - 1 : 6;
    const int64_t most = FIRST_BACKOFF_MS << shift, now = clock_ms();
    const int64_t bound = most < LONGEST_BACKOFF_MS ? most : LONGEST_BACKOFF_MS;
    p->next_ms = now + 1 + (int64_t)(host_random_64() % (uint64_t)bound);
    r->was_repeated = true;
    if (p->next_ms < p->deadline_ms && !stop_signal_is_pressing())
        return;
    r->rc = error_set(&r->err, ERROR_UNAVAILABLE, "%s of %s at %s: %s; tried %d times in %lld ms",
                      method_name[r->method], s3_name(&client->address, r, name),
                      client->address.host, p->last, p->attempts, (long long)(now - p->begun_ms));
    p->is_done = true;
}

static void end_one(struct s3_client *client, struct lane *lane, struct slot *slot, CURLcode code,
                    struct progress *p)
{
    struct s3_request *r = slot->request;
    long status = 0;
    (void)curl.curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && !slot->has_head)
        code = CURLE_PARTIAL_FILE;
    r->status = code == CURLE_OK ? (int)status : 0;
    const bool again =
        code == CURLE_OK ? judge_answer(client, r, p) : judge_failure(client, slot, code, p);
    end_attempt(lane, slot, p);
    p->is_done = !again;
    if (again)
        wait_or_give_up(client, r, p);
}

/* --- many --- */

struct performance {
    struct s3_client *client;
    struct lane *lane;
    struct s3_request *request; /* [count] */
    struct progress *progress;  /* [count] */
    size_t count, done;
};

/* Begins the attempts that are due while slots are free. Returns how long until the next is due. */
static int64_t begin_due(struct performance *w)
{
    int64_t wait = POLL_MS;
    size_t free_slot = 0;
    const int64_t now = clock_ms();
    for (size_t i = 0; i < w->count; i++) {
        struct progress *p = &w->progress[i];
        if (p->is_done || p->runs)
            continue;
        while (free_slot < S3_AT_ONCE && w->lane->slot[free_slot].request)
            free_slot++;
        if (free_slot == S3_AT_ONCE)
            break;
        if (p->next_ms > now && !stop_signal_is_pressing()) {
            wait = p->next_ms - now < wait ? p->next_ms - now : wait;
            continue;
        }
        struct slot *slot = &w->lane->slot[free_slot];
        w->request[i].rc = begin(w->client, w->lane, slot, &w->request[i], p);
        if (w->request[i].rc != ERROR_NONE) {
            end_attempt(w->lane, slot, p);
            p->is_done = true;
            w->done++;
        }
    }
    return wait;
}

static void take_ended(struct performance *w)
{
    int left = 0;
    CURLMsg *message = NULL;
    while ((message = curl.curl_multi_info_read(w->lane->multi, &left)) != NULL) {
        struct slot *slot = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
        struct progress *p = &w->progress[slot->request - w->request];
        end_one(w->client, w->lane, slot, message->data.result, p);
        w->done += p->is_done;
    }
}

static void perform_on(struct performance *w)
{
    while (w->done < w->count) {
        int running = 0;
        const int64_t wait = begin_due(w);
        (void)curl.curl_multi_perform(w->lane->multi, &running);
        take_ended(w);
        if (w->done < w->count)
            (void)curl.curl_multi_poll(w->lane->multi, NULL, 0, (int)wait, NULL);
        (void)curl.curl_multi_perform(w->lane->multi, &running);
        take_ended(w);
    }
}

static void start_progress(const struct s3_client *client, const struct s3_request *r,
                           struct progress *p)
{
    const size_t size = r->body_size + (r->into ? r->into_size : r->range_size);
    p->begun_ms = clock_ms();
    p->deadline_ms = p->begun_ms + client->timeout_ms + (int64_t)(size / BYTES_A_MS);
    s3_sha256_text(r->body ? r->body : "", r->body_size, p->payload);
}

void s3_perform(struct s3_client *client, struct s3_request *request, size_t count)
{
    struct performance w = {.client = client, .request = request, .count = count};
    struct error err = {0};
    enum error_code rc = memory_new(&w.progress, count, "requests to S3", &err);
    w.lane = rc == ERROR_NONE ? lane_take(client) : NULL;
    if (rc == ERROR_NONE && !w.lane)
        rc = error_set(&err, ERROR_NO_MEMORY, "no memory for a connection to S3");
    for (size_t i = 0; i < count; i++) {
        request[i].rc = rc;
        request[i].err = err;
        if (rc == ERROR_NONE)
            start_progress(client, &request[i], &w.progress[i]);
    }
    if (rc == ERROR_NONE)
        perform_on(&w);
    if (w.lane)
        lane_give(client, w.lane);
    memory_free(w.progress);
}

enum error_code s3_perform_one(struct s3_client *client, struct s3_request *request,
                               struct error *err)
{
    s3_perform(client, request, 1);
    if (request->rc != ERROR_NONE && err)
        *err = request->err;
    return request->rc;
}

void s3_request_release(struct s3_request *request)
{
    memory_free(request->answer);
    request->answer = NULL;
    request->answer_size = request->answer_room = 0;
}
