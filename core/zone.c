#include "zone.h"

#include "date.h"
#include "error.h"
#include "zone_rule.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_MAX_BYTES = 1 << 20,
    NAME_MAX_BYTES = 100,
    HEADER_BYTES = 44,
    OFFSET_MIN = -89999, /* what RFC 8536 allows: from 25 hours west … */
    OFFSET_MAX = 93599   /* … to 26 hours east, both ends excluded */
};

struct chute_zone {
    size_t count;   /* transitions */
    int64_t *times; /* ascending instants */
    int32_t *after; /* the offset in force from each on */
    int32_t before; /* the offset before the first */
    bool has_rule;  /* `rule` says what holds from the last transition on */
    struct chute_zone_rule rule;
};

/* ---- offsets ------------------------------------------------------------------------------ */

int32_t chute_zone_offset_at(const chute_zone *zone, int64_t utc_seconds) {
    size_t low = 0, high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->times[middle] <= utc_seconds)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->count && zone->has_rule) return chute_zone_rule_at(&zone->rule, utc_seconds);
    return low == 0 ? zone->before : zone->after[low - 1];
}

/* `a - b`, kept inside 64 bits. */
static int64_t minus(int64_t a, int64_t b) {
    int64_t result;
    if (!__builtin_sub_overflow(a, b, &result)) return result;
    return b > 0 ? INT64_MIN : INT64_MAX;
}

/* The offsets a day before and a day after are the only ones that a local time can have: the
 * earlier where both give it back, and the one before a gap where neither does. */
int64_t chute_zone_to_utc(const chute_zone *zone, int64_t local_seconds) {
    int32_t first = chute_zone_offset_at(zone, minus(local_seconds, 86400));
    int32_t then = chute_zone_offset_at(zone, minus(local_seconds, -86400));
    int64_t utc = minus(local_seconds, first);
    if (first == then || chute_zone_offset_at(zone, utc) == first) return utc;
    int64_t later = minus(local_seconds, then);
    return chute_zone_offset_at(zone, later) == then ? later : utc;
}

/* ---- TZif --------------------------------------------------------------------------------- */

struct reader {
    const uint8_t *bytes;
    size_t len;
    size_t at;
};

/* The next `n` bytes, or NULL where they are not there. */
static const uint8_t *take(struct reader *in, size_t n) {
    if (n > in->len - in->at) return NULL;
    const uint8_t *bytes = in->bytes + in->at;
    in->at += n;
    return bytes;
}

static uint32_t be32(const uint8_t *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int64_t be64(const uint8_t *b) {
    return (int64_t)((uint64_t)be32(b) << 32 | be32(b + 4));
}

struct header {
    uint8_t version;
    size_t utc_flags, standard_flags, leaps, times, types, letters;
};

static bool read_header(struct reader *in, struct header *h) {
    const uint8_t *b = take(in, HEADER_BYTES);
    if (!b || memcmp(b, "TZif", 4) != 0) return false;
    h->version = b[4];
    h->utc_flags = be32(b + 20);
    h->standard_flags = be32(b + 24);
    h->leaps = be32(b + 28);
    h->times = be32(b + 32);
    h->types = be32(b + 36);
    h->letters = be32(b + 40);
    return true;
}

/* Past the block of version 1, with its 32-bit times, which is there for old readers. Counts are
 * below 2^32, so that nothing overflows in 64 bits. */
static bool skip_old_block(struct reader *in) {
    struct header h;
    if (!read_header(in, &h) || h.version < '2') return false;
    size_t size =
        h.times * 5 + h.types * 6 + h.letters + h.leaps * 8 + h.standard_flags + h.utc_flags;
    return take(in, size) != NULL;
}

static bool read_offset(const uint8_t *types, size_t count, size_t index, int32_t *offset) {
    if (index >= count) return false;
    *offset = (int32_t)be32(types + index * 6);
    return *offset >= OFFSET_MIN && *offset <= OFFSET_MAX;
}

static chute_zone *new_zone(size_t count) {
    chute_zone *zone = calloc(1, sizeof *zone + count * (sizeof(int64_t) + sizeof(int32_t)));
    if (!zone) return NULL;
    zone->count = count;
    zone->times = (int64_t *)(void *)(zone + 1);
    zone->after = (int32_t *)(void *)(zone->times + count);
    return zone;
}

static bool fill_zone(chute_zone *zone, const struct header *h, const uint8_t *times,
                      const uint8_t *indexes, const uint8_t *types) {
    if (!read_offset(types, h->types, 0, &zone->before)) return false;
    for (size_t i = 0; i < zone->count; i++) {
        zone->times[i] = be64(times + i * 8);
        if (i && zone->times[i] <= zone->times[i - 1]) return false;
        if (!read_offset(types, h->types, indexes[i], &zone->after[i])) return false;
    }
    return true;
}

/* "\nRULE\n": what holds after the last transition; an empty rule says nothing. */
static bool read_footer(struct reader *in, chute_zone *zone) {
    const uint8_t *start = take(in, 1);
    if (!start || *start != '\n') return false;
    const char *text = (const char *)in->bytes + in->at;
    const char *end = memchr(text, '\n', in->len - in->at);
    if (!end) return false;
    zone->has_rule = end > text;
    return !zone->has_rule || chute_zone_rule_parse(text, (size_t)(end - text), &zone->rule);
}

static chute_zone *no_memory(chute_error *err) {
    chute_fail(err, CHUTE_E_NOMEM, "out of memory for a time zone");
    return NULL;
}

static chute_zone *unsound(chute_error *err) {
    chute_fail(err, CHUTE_E_SCHEMA, "the time zone's file is not sound TZif of version 2 or later");
    return NULL;
}

chute_zone *chute_zone_parse(const void *bytes, size_t len, chute_error *err) {
    struct reader in = {bytes, len, 0};
    struct header h;
    if (len > FILE_MAX_BYTES || !skip_old_block(&in) || !read_header(&in, &h)) return unsound(err);
    if (h.leaps) {
        chute_fail(err, CHUTE_E_SCHEMA, "a time zone that counts leap seconds");
        return NULL;
    }
    const uint8_t *times = take(&in, h.times * 8);
    const uint8_t *indexes = take(&in, h.times);
    const uint8_t *types = take(&in, h.types * 6);
    const uint8_t *rest = take(&in, h.letters + h.standard_flags + h.utc_flags);
    if (!times || !indexes || !types || !rest) return unsound(err);
    chute_zone *zone = new_zone(h.times);
    if (!zone) return no_memory(err);
    if (fill_zone(zone, &h, times, indexes, types) && read_footer(&in, zone)) return zone;
    free(zone);
    return unsound(err);
}

/* ---- files -------------------------------------------------------------------------------- */

/* Letters, digits and _+- in parts between slashes: nothing that leads out of the folder. */
static bool is_name(const char *name, size_t len) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-";
    if (len == 0 || len > NAME_MAX_BYTES || name[0] == '/' || name[len - 1] == '/') return false;
    for (size_t i = 0; i < len; i++) {
        bool slash = name[i] == '/';
        if (slash ? name[i - 1] == '/' : !name[i] || !strchr(allowed, name[i])) return false;
    }
    return true;
}

static ssize_t read_all(int fd, char *out, size_t capacity) {
    size_t len = 0;
    while (len < capacity) {
        ssize_t n = read(fd, out + len, capacity - len);
        if (n < 0) return -1;
        if (n == 0) break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

static int open_file(const char *name, size_t len) {
    const char *folder = getenv("TZDIR");
    if (!folder || folder[0] != '/') folder = "/usr/share/zoneinfo";
    int dir = open(folder, O_DIRECTORY | O_CLOEXEC | O_RDONLY);
    if (dir < 0) return -1;
    char path[NAME_MAX_BYTES + 1];
    memcpy(path, name, len);
    path[len] = '\0';
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    close(dir);
    return fd;
}

static chute_zone *load_zone(int fd, chute_error *err) {
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES)
        return unsound(err);
    char *bytes = malloc((size_t)st.st_size + 1);
    if (!bytes) return no_memory(err);
    ssize_t len = read_all(fd, bytes, (size_t)st.st_size);
    chute_zone *zone = len < 0 ? unsound(err) : chute_zone_parse(bytes, (size_t)len, err);
    free(bytes);
    return zone;
}

static bool is_utc(const char *name, size_t len) {
    return (len == 3 && (memcmp(name, "UTC", 3) == 0 || memcmp(name, "GMT", 3) == 0)) ||
           (len == 7 && memcmp(name, "Etc/UTC", 7) == 0);
}

chute_zone *chute_zone_open(const char *name, size_t len, chute_error *err) {
    char shown[CHUTE_QUOTE_MAX];
    if (is_utc(name, len)) {
        chute_zone *zone = new_zone(0);
        return zone ? zone : no_memory(err);
    }
    int fd = is_name(name, len) ? open_file(name, len) : -1;
    if (fd < 0) {
        chute_fail(err, CHUTE_E_SCHEMA, "unknown time zone %s",
                   chute_quote(name, len, shown, sizeof shown));
        return NULL;
    }
    chute_zone *zone = load_zone(fd, err);
    close(fd);
    return zone;
}

void chute_zone_free(chute_zone *zone) {
    free(zone);
}
