#include "json_paths.h"

#include <stdlib.h>

enum { FIRST = 64, DEPTH_MAX = 100 };

static const uint64_t ROOT = 0xCBF29CE484222325u; /* hash of the path of nothing */

/* A path is known by a hash of its bytes and of the object it is in. */
struct entry {
    uint64_t hash;
    uint32_t round; /* of the check that put it here: others are empty */
    bool value;     /* it has one; else it is only the beginning of longer ones */
};

struct chute_json_paths {
    struct entry *at;
    size_t capacity; /* a power of two */
    size_t used;
    uint32_t round;
    uint64_t scope; /* of the latest object that has paths of its own */
    size_t typed_count;
    uint64_t typed[]; /* hashes of the typed paths */
};

enum outcome { NEW, KNOWN, CLASH, STARVED };

static uint64_t mix(uint64_t hash, uint8_t byte) {
    return (hash ^ byte) * 0x100000001B3u;
}

static uint64_t hash_name(const char *name) {
    uint64_t hash = ROOT;
    for (; *name; name++) hash = mix(hash, (uint8_t)*name);
    return hash;
}

chute_json_paths *chute_json_paths_new(const chute_type *type) {
    chute_json_paths *paths = calloc(1, sizeof *paths + type->count * sizeof *paths->typed);
    if (!paths) return NULL;
    paths->typed_count = type->count;
    for (size_t i = 0; i < type->count; i++) paths->typed[i] = hash_name(type->names[i]);
    paths->at = calloc(FIRST, sizeof *paths->at);
    paths->capacity = FIRST;
    if (paths->at) return paths;
    free(paths);
    return NULL;
}

void chute_json_paths_free(chute_json_paths *paths) {
    if (!paths) return;
    free(paths->at);
    free(paths);
}

/* ---- the set ------------------------------------------------------------------------------- */

static struct entry *find(const chute_json_paths *paths, uint64_t hash) {
    size_t mask = paths->capacity - 1;
    for (size_t i = (size_t)(hash >> 7) & mask;; i = (i + 1) & mask) {
        struct entry *entry = paths->at + i;
        if (entry->round != paths->round || entry->hash == hash) return entry;
    }
}

static bool grow(chute_json_paths *paths) {
    chute_json_paths bigger = *paths;
    bigger.capacity *= 2;
    bigger.at = calloc(bigger.capacity, sizeof *bigger.at);
    if (!bigger.at) return false;
    for (size_t i = 0; i < paths->capacity; i++)
        if (paths->at[i].round == paths->round) *find(&bigger, paths->at[i].hash) = paths->at[i];
    free(paths->at);
    *paths = bigger;
    return true;
}

static enum outcome note(chute_json_paths *paths, uint64_t hash, bool value) {
    if (paths->used * 2 >= paths->capacity && !grow(paths)) return STARVED;
    struct entry *entry = find(paths, hash);
    if (entry->round == paths->round) return !value && !entry->value ? KNOWN : CLASH;
    *entry = (struct entry){.hash = hash, .round = paths->round, .value = value};
    paths->used++;
    return NEW;
}

static void begin(chute_json_paths *paths) {
    paths->used = 0;
    paths->scope = 0;
    if (++paths->round != 0) return;
    for (size_t i = 0; i < paths->capacity; i++) paths->at[i].round = 0;
    paths->round = 1;
}

/* ---- walking ------------------------------------------------------------------------------- */

/* Only paths of the whole value have types; those of objects in lists hash to something else. */
static bool is_typed(const chute_json_paths *paths, uint64_t hash) {
    for (size_t i = 0; i < paths->typed_count; i++)
        if (paths->typed[i] == hash) return true;
    return false;
}

static bool tell(chute_row *row, const chute_cell *key, enum outcome outcome) {
    if (outcome < CLASH) return true;
    if (outcome == CLASH)
        chute_row_refuse(row, key,
                         " is a path of the JSON twice, or one that goes on from another");
    else
        chute_row_refuse(row, key, " found no memory among the paths of the JSON");
    return false;
}

/* A dot in a key is as good as an object. */
static bool hash_key(chute_json_paths *paths, chute_row *row, const chute_cell *key,
                     uint64_t *hash) {
    for (uint32_t i = 0; i < key->len; i++) {
        if (key->ptr[i] == '.' && !tell(row, key, note(paths, *hash, false))) return false;
        *hash = mix(*hash, (uint8_t)key->ptr[i]);
    }
    return true;
}

static bool check_object(chute_json_paths *paths, chute_row *row, const chute_cell *object,
                         uint64_t hash, uint32_t depth);

static bool is_deep(chute_row *row, const chute_cell *cell, uint32_t depth) {
    if (depth <= DEPTH_MAX) return false;
    chute_row_refuse(row, cell, " is nested deeper than %d", DEPTH_MAX);
    return true;
}

static bool check_list(chute_json_paths *paths, chute_row *row, const chute_cell *list,
                       uint32_t depth) {
    if (is_deep(row, list, depth)) return false;
    const chute_cell *child = chute_row_look(row, list);
    for (uint32_t i = 0; child && i < list->len; i++) {
        bool good = true;
        if (child[i].kind == CHUTE_CELL_PAIRS)
            good = check_object(paths, row, child + i, ++paths->scope << 32, depth + 1);
        else if (child[i].kind == CHUTE_CELL_LIST)
            good = check_list(paths, row, child + i, depth + 1);
        if (!good) {
            chute_row_step(row, (struct chute_step){.kind = CHUTE_STEP_INDEX, .index = i + 1});
            return false;
        }
    }
    return true;
}

/* `hash`: of the path of `key`'s object and a dot after it. */
static bool check_pair(chute_json_paths *paths, chute_row *row, const chute_cell *key,
                       uint64_t hash, uint32_t depth) {
    const chute_cell *value = key + 1;
    if (key->kind != CHUTE_CELL_STRING) {
        chute_row_refuse(row, key, " is no key of a JSON object: keys are text");
        return false;
    }
    if (!hash_key(paths, row, key, &hash)) return false;
    bool parts = value->kind == CHUTE_CELL_PAIRS || value->kind == CHUTE_CELL_LIST;
    if (parts && is_typed(paths, hash)) return tell(row, key, note(paths, hash, true));
    bool object = value->kind == CHUTE_CELL_PAIRS;
    if (!tell(row, key, note(paths, hash, !object))) return false;
    if (object) return check_object(paths, row, value, mix(hash, '.'), depth + 1);
    return !parts || check_list(paths, row, value, depth + 1);
}

static bool check_object(chute_json_paths *paths, chute_row *row, const chute_cell *object,
                         uint64_t hash, uint32_t depth) {
    if (is_deep(row, object, depth)) return false;
    const chute_cell *key = chute_row_look(row, object);
    for (uint32_t i = 0; key && i < object->len; i++, key += 2) {
        if (check_pair(paths, row, key, hash, depth)) continue;
        chute_row_step(row, (struct chute_step){.kind = CHUTE_STEP_KEY, .key = key});
        return false;
    }
    return true;
}

bool chute_json_paths_check(chute_json_paths *paths, chute_row *row, const chute_cell *object) {
    begin(paths);
    return check_object(paths, row, object, ROOT, 0);
}
