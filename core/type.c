#include "type.h"

#include "type_internal.h"

#include <stdlib.h>

enum { CHUNK_BYTES = 2048 };

struct chute_type_chunk {
    struct chute_type_chunk *next;
    size_t used;
    size_t size;
    _Alignas(16) unsigned char bytes[];
};

/* What chute_type_parse returns is the first member, so that it leads to the arena. */
struct root {
    struct chute_type type;
    struct chute_type_arena arena;
};

static struct chute_type_chunk *add_chunk(struct chute_type_arena *arena, size_t size) {
    size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
    struct chute_type_chunk *chunk = calloc(1, sizeof *chunk + room);
    if (!chunk) return NULL;
    chunk->size = room;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *chute_type_alloc(struct chute_type_arena *arena, size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    size = (size + 15) & ~(size_t)15;
    struct chute_type_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size) chunk = add_chunk(arena, size);
    if (!chunk) return NULL;
    void *at = chunk->bytes + chunk->used;
    chunk->used += size;
    return at;
}

void chute_type_arena_free(struct chute_type_arena *arena) {
    struct chute_type_chunk *chunk = arena->chunks;
    while (chunk) {
        struct chute_type_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    arena->chunks = NULL;
}

struct chute_type *chute_type_root(struct chute_type_arena *arena, const struct chute_type *node) {
    struct root *root = malloc(sizeof *root);
    if (!root) {
        chute_type_arena_free(arena);
        return NULL;
    }
    root->type = *node;
    root->arena = *arena;
    return &root->type;
}

void chute_type_free(chute_type *type) {
    if (!type) return;
    struct root *root = (struct root *)type;
    chute_type_arena_free(&root->arena);
    free(root);
}

int chute_type_kind(const chute_type *type) {
    return (int)type->kind;
}

size_t chute_type_count(const chute_type *type) {
    return type->count;
}

const chute_type *chute_type_child(const chute_type *type, size_t index) {
    return index < type->count ? type->children[index] : NULL;
}

const char *chute_type_child_name(const chute_type *type, size_t index) {
    return type->names && index < type->count ? type->names[index] : NULL;
}
