#include "slot.h"

#include "about.h"
#include "aside.h"
#include "crc32c.h"
#include "error.h"
#include "kill.h"
#include "schema.h"
#include "spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- making -------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t bytes) {
    return (bytes + CHUTE_SLOT_BLOCK - 1) / CHUTE_SLOT_BLOCK * CHUTE_SLOT_BLOCK;
}

/* Where everything lies. */
static void lay_out(struct chute_slot_header *header, size_t head_bytes, size_t about_bytes,
                    size_t capacity) {
    uint64_t steps = capacity / CHUTE_MARK_BYTES + 2;
    uint64_t steps_at = round_up(CHUTE_SLOT_ABOUT_AT + about_bytes);
    uint64_t data_at = round_up(steps_at + steps * sizeof(struct chute_slot_step));
    header->magic = CHUTE_SLOT_MAGIC;
    header->version = CHUTE_SLOT_VERSION;
    header->head_bytes = (uint32_t)head_bytes;
    header->about_bytes = (uint32_t)about_bytes;
    header->steps_at = (uint32_t)steps_at;
    header->steps_max = (uint32_t)steps;
    header->data_at = (uint32_t)data_at;
    header->data_bytes = head_bytes + capacity;
    header->file_bytes = round_up(data_at + header->data_bytes + CHUTE_BUFFER_SLACK);
    strcpy(header->boot, chute_boot_id());
}

static struct chute_marks *new_marks(uint32_t max) {
    struct chute_marks *marks = calloc(1, sizeof *marks + max * sizeof *marks->at);
    if (marks) marks->max = max;
    return marks;
}

static int map(chute_spool_slot *slot, size_t capacity, chute_error *err) {
    const struct chute_slot_header *header = &slot->header;
    slot->memory.marks = new_marks(header->steps_max - 2);
    if (!slot->memory.marks) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    void *at = mmap(NULL, header->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, slot->fd, 0);
    if (at == MAP_FAILED) return chute_spool_refuse(slot->spool, "map a batch file", err);
    slot->map = at;
    slot->map_bytes = header->file_bytes;
    slot->memory.data = slot->map + header->data_at;
    slot->memory.capacity = capacity;
    slot->memory.word = (_Atomic uint64_t *)(void *)(slot->map + CHUTE_SLOT_WORD_AT);
    return CHUTE_OK;
}

/* Each page is written once: a fault here is a fault that no row waits for. */
static void warm_up(chute_spool_slot *slot, size_t warm) {
    size_t end = warm < slot->memory.capacity ? warm : slot->memory.capacity;
    for (size_t at = 0; at < end; at += CHUTE_SLOT_BLOCK)
        ((volatile uint8_t *)slot->memory.data)[at] = 0;
}

/* A new header never lies where the last one does. */
static void publish(chute_spool_slot *slot, uint32_t state) {
    struct chute_slot_header *header = &slot->header;
    header->state = state;
    header->generation++;
    header->crc = chute_slot_header_crc(header);
    atomic_thread_fence(memory_order_release);
    chute_kill_point();
    uint8_t *block = slot->map + header->generation % 2 * CHUTE_SLOT_BLOCK;
    memcpy(block, header, sizeof *header / 2);
    chute_kill_point(); /* half of it: the other block counts */
    memcpy(block + sizeof *header / 2, (uint8_t *)header + sizeof *header / 2,
           sizeof *header - sizeof *header / 2);
    atomic_thread_fence(memory_order_release);
    chute_kill_point();
}

static int fill(chute_spool_slot *slot, const uint8_t *about, size_t capacity, size_t warm,
                chute_error *err) {
    int rc =
        chute_spool_make_file(slot->spool, slot->name, slot->header.file_bytes, &slot->fd, err);
    if (rc == CHUTE_OK) rc = map(slot, capacity, err);
    if (rc != CHUTE_OK) return rc;
    memcpy(slot->map + CHUTE_SLOT_ABOUT_AT, about, slot->header.about_bytes);
    slot->header.about_crc = chute_crc32c(0, about, slot->header.about_bytes);
    warm_up(slot, warm);
    publish(slot, CHUTE_SLOT_FREE);
    return chute_spool_name_file(slot->spool, slot->name, err);
}

static void let_go(chute_spool_slot *slot) {
    chute_spool_drop(slot->spool, slot);
    if (slot->map) munmap(slot->map, slot->map_bytes);
    if (slot->fd >= 0) close(slot->fd);
    free(slot->memory.marks);
    free(slot);
}

chute_spool_slot *chute_slot_new(struct chute_spool *spool, const chute_schema *schema,
                                 const chute_insert *insert, size_t ceiling, size_t warm,
                                 chute_error *err) {
    size_t about_bytes, capacity = chute_buffer_room(ceiling);
    uint8_t *about = chute_about_write(insert, schema, &about_bytes);
    chute_spool_slot *slot = calloc(1, sizeof *slot);
    if (!slot || !about) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        goto failed;
    }
    slot->spool = spool;
    slot->fd = -1;
    lay_out(&slot->header, schema->header_len, about_bytes, capacity);
    if (fill(slot, about, capacity, warm, err) != CHUTE_OK) goto failed;
    free(about);
    chute_spool_add(spool, slot);
    return slot;
failed:
    free(about);
    if (slot && slot->name[0]) chute_spool_remove_file(spool, slot->name);
    if (slot) let_go(slot);
    return NULL;
}

static bool has_rows(const chute_spool_slot *slot) {
    uint32_t state = slot->header.state;
    return state == CHUTE_SLOT_OPEN ? atomic_load(slot->memory.word) != 0
                                    : state != CHUTE_SLOT_FREE;
}

void chute_slot_free(chute_spool_slot *slot) {
    if (!slot) return;
    if (slot->dead && !has_rows(slot))
        chute_aside_remove(slot->spool->root, slot->header.token);
    else if (!has_rows(slot))
        chute_spool_remove_file(slot->spool, slot->name);
    let_go(slot);
}

bool chute_slot_is_there(const chute_spool_slot *slot) {
    struct stat seen;
    return fstat(slot->fd, &seen) == 0 && seen.st_nlink > 0;
}

/* ---- its round ----------------------------------------------------------------------------- */

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void chute_slot_open(chute_spool_slot *slot, const char *token) {
    struct chute_slot_header *header = &slot->header;
    atomic_store_explicit(slot->memory.word, 0, memory_order_release);
    chute_kill_point();
    memcpy(header->token, token, CHUTE_TOKEN_LEN + 1);
    header->sealed = 0;
    header->opened_ms = now_ms();
    header->sequence = chute_spool_next(slot->spool);
    slot->steps = 0;
    slot->stepped = 0;
    atomic_store(&slot->on_disk, CHUTE_SLOT_CLEAN);
    publish(slot, CHUTE_SLOT_OPEN);
}

static void store_step(chute_spool_slot *slot, uint64_t word) {
    const struct chute_slot_header *header = &slot->header;
    if (slot->steps == header->steps_max) return;
    struct chute_slot_step step = {.word = word};
    size_t from = slot->steps ? header->head_bytes + chute_word_bytes(slot->stepped) : 0;
    size_t to = header->head_bytes + chute_word_bytes(word);
    step.crc = chute_slot_data_crc(header->token, from, slot->memory.data + from, to - from);
    step.check = chute_slot_step_check(header->token, slot->steps, &step);
    uint8_t *at = slot->map + header->steps_at + slot->steps * sizeof step;
    memcpy(at, &step, offsetof(struct chute_slot_step, check));
    chute_kill_point();
    memcpy(at + offsetof(struct chute_slot_step, check), &step.check, sizeof step.check);
    slot->steps++;
    slot->stepped = word;
}

void chute_slot_step(chute_spool_slot *slot) {
    const struct chute_marks *marks = slot->memory.marks;
    uint32_t count = atomic_load_explicit(&marks->count, memory_order_acquire);
    while (slot->steps < count) store_step(slot, marks->at[slot->steps]);
}

void chute_slot_seal(chute_spool_slot *slot) {
    uint64_t word = atomic_load_explicit(slot->memory.word, memory_order_acquire);
    chute_slot_step(slot);
    if (word != slot->stepped) store_step(slot, word);
    slot->header.sealed = word;
    publish(slot, CHUTE_SLOT_SEALED);
    atomic_store(&slot->on_disk, CHUTE_SLOT_UNSYNCED);
}

void chute_slot_attempt(chute_spool_slot *slot) {
    if (slot->header.state == CHUTE_SLOT_SEALED) publish(slot, CHUTE_SLOT_ATTEMPTED);
}

void chute_slot_release(chute_spool_slot *slot) {
    publish(slot, CHUTE_SLOT_FREE);
    atomic_store(&slot->on_disk, CHUTE_SLOT_CLEAN);
}

/* After a failure the kernel may have dropped what it could not write: another try would find
 * nothing to do and call it done. */
int chute_slot_sync(chute_spool_slot *slot, chute_error *err) {
    int on_disk = atomic_load(&slot->on_disk);
    if (on_disk == CHUTE_SLOT_LOST_SYNC)
        return chute_fail(err, CHUTE_E_SPOOL, "a batch file could not be written to the disk");
    if (on_disk != CHUTE_SLOT_UNSYNCED) return CHUTE_OK;
    int rc = fdatasync(slot->fd) == 0 ? CHUTE_OK
                                      : chute_spool_refuse(slot->spool, "sync a batch file", err);
    int reached = rc == CHUTE_OK ? CHUTE_SLOT_SYNCED : CHUTE_SLOT_LOST_SYNC;
    atomic_compare_exchange_strong(&slot->on_disk, &on_disk, reached);
    return rc;
}

uint64_t chute_slot_file_bytes(const chute_spool_slot *slot) {
    const struct chute_slot_header *header = &slot->header;
    return round_up(header->data_at + header->head_bytes + chute_word_bytes(header->sealed));
}

int chute_slot_bury(chute_spool_slot *slot, const chute_batch *batch, chute_error *err) {
    const chute_spool *spool = slot->spool;
    const struct chute_slot_header *header = &slot->header;
    struct chute_aside_place from = {spool->root, slot->dead ? -1 : spool->folder.fd, slot->name};
    int rc = chute_aside_bury(&from, header->token, batch, slot->map + CHUTE_SLOT_ABOUT_AT,
                              header->about_bytes, err);
    if (rc != CHUTE_OK || slot->dead) return rc;
    slot->dead = true;
    if (ftruncate(slot->fd, (off_t)chute_slot_file_bytes(slot)) != 0)
        return CHUTE_OK; /* it takes more room than it has to */
    return CHUTE_OK;
}
