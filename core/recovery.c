#include "recovery.h"

#include "about.h"
#include "aside.h"
#include "error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each takes two descriptors. */
enum { MAX_ORPHANS = 16, MAX_CANDIDATES = 4096 };

struct candidate {
    char name[CHUTE_FOLDER_NAME];
    struct timespec made;
};

/* ---- files of a folder --------------------------------------------------------------------- */

static int open_file(const struct chute_orphan *orphan, const char *name, int flags) {
    return openat(orphan->folder.fd, name, flags | O_CLOEXEC | O_NOFOLLOW);
}

static void set_aside(chute_recovery *recovery, const struct chute_orphan *orphan, const char *name,
                      const char *reason) {
    chute_aside_bad(recovery->root, orphan->folder.fd, orphan->folder.name, name, reason, NULL);
}

static chute_found *new_found(struct chute_orphan *orphan, const char *name,
                              const struct chute_slotfile *file) {
    chute_found *found = calloc(1, sizeof *found);
    if (!found) return NULL;
    found->orphan = orphan;
    strcpy(found->name, name);
    found->opened_ms = file->header.opened_ms;
    found->sequence = file->header.sequence;
    found->rows = chute_word_rows(file->word);
    found->bytes = chute_slotfile_data_len(file);
    found->damaged = file->damaged;
    return found;
}

static bool has_suffix(const char *name, const char *suffix) {
    size_t len = strlen(name), end = strlen(suffix);
    return len > end && strcmp(name + len - end, suffix) == 0;
}

/* Reads what the file claims, and whether it is so. */
static int read_slot(struct chute_slotfile *file, const struct chute_orphan *orphan,
                     const char *name, chute_error *err) {
    int fd = open_file(orphan, name, O_RDONLY);
    if (fd < 0) {
        chute_fail(err, CHUTE_E_SPOOL, "it cannot be opened: %s", strerror(errno));
        err->flags = CHUTE_RETRYABLE;
        return CHUTE_E_SPOOL;
    }
    int rc = chute_slotfile_read(file, fd, err);
    if (rc == CHUTE_OK && file->header.state != CHUTE_SLOT_FREE)
        rc = chute_slotfile_load(file, fd, err);
    close(fd);
    return rc;
}

/* What there is to send in the file; NULL: nothing, and the file is dealt with, or left where it is
 * for another look. */
static chute_found *examine_slot(chute_recovery *recovery, struct chute_orphan *orphan,
                                 const char *name) {
    chute_error err = {0};
    struct chute_slotfile file = {0};
    chute_found *found = NULL;
    int rc = read_slot(&file, orphan, name, &err);
    bool has_rows =
        rc == CHUTE_OK && file.header.state != CHUTE_SLOT_FREE && chute_word_rows(file.word) > 0;
    if (has_rows)
        found = new_found(orphan, name, &file);
    else if (rc == CHUTE_OK && file.damaged)
        set_aside(recovery, orphan, name, "none of its rows can be trusted");
    else if (rc == CHUTE_OK)
        unlinkat(orphan->folder.fd, name, 0);
    else if (rc != CHUTE_E_NOMEM && !(err.flags & CHUTE_RETRYABLE))
        set_aside(recovery, orphan, name, err.message);
    chute_slotfile_clear(&file);
    return found;
}

static chute_found *examine(chute_recovery *recovery, struct chute_orphan *orphan,
                            const char *name) {
    if (strcmp(name, "lock") == 0 || name[0] == '.') return NULL;
    if (has_suffix(name, ".new"))
        unlinkat(orphan->folder.fd, name, 0); /* its maker came no further */
    else if (has_suffix(name, ".slot") && strlen(name) < CHUTE_SLOT_NAME)
        return examine_slot(recovery, orphan, name);
    else
        set_aside(recovery, orphan, name, "a batch file has another name");
    return NULL;
}

static bool is_older(const chute_found *a, const chute_found *b) {
    return a->opened_ms != b->opened_ms ? a->opened_ms < b->opened_ms : a->sequence < b->sequence;
}

static void sort_in(chute_found **list, chute_found *found) {
    while (*list && !is_older(found, *list)) list = &(*list)->next;
    found->next = *list;
    *list = found;
}

/* ---- folders ------------------------------------------------------------------------------- */

static void leave(chute_recovery *recovery, struct chute_orphan *orphan) {
    struct chute_orphan **at = &recovery->orphans;
    while (*at != orphan) at = &(*at)->next;
    *at = orphan->next;
    recovery->count--;
    chute_folder_leave(&orphan->folder, recovery->root);
    free(orphan);
}

static void one_less(chute_recovery *recovery, chute_found *found) {
    if (--found->orphan->left == 0) leave(recovery, found->orphan);
    free(found);
}

static DIR *list_folder(int fd) {
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = own >= 0 ? fdopendir(own) : NULL;
    if (!dir && own >= 0) close(own);
    return dir;
}

/* Adds what is in the folder to the list; bytes of it. */
static uint64_t examine_all(chute_recovery *recovery, struct chute_orphan *orphan,
                            chute_found **list) {
    uint64_t bytes = 0;
    DIR *dir = list_folder(orphan->folder.fd);
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        chute_found *found = examine(recovery, orphan, entry->d_name);
        if (!found) continue;
        orphan->left++;
        bytes += found->bytes;
        sort_in(list, found);
    }
    closedir(dir);
    return bytes;
}

static uint64_t adopt(chute_recovery *recovery, int root, const char *name, chute_found **list) {
    struct chute_orphan *orphan = calloc(1, sizeof *orphan);
    if (!orphan || !chute_folder_lock(&orphan->folder, root, name, false)) {
        free(orphan);
        return 0;
    }
    orphan->next = recovery->orphans;
    recovery->orphans = orphan;
    recovery->count++;
    uint64_t bytes = examine_all(recovery, orphan, list);
    if (orphan->left == 0) leave(recovery, orphan);
    return bytes;
}

/* ---- looking ------------------------------------------------------------------------------- */

static int by_age(const void *a, const void *b) {
    const struct timespec *left = &((const struct candidate *)a)->made;
    const struct timespec *right = &((const struct candidate *)b)->made;
    if (left->tv_sec != right->tv_sec) return left->tv_sec < right->tv_sec ? -1 : 1;
    return left->tv_nsec < right->tv_nsec ? -1 : left->tv_nsec > right->tv_nsec;
}

/* A folder is as old as its lock. */
static bool is_candidate(int root, const char *name, struct candidate *out) {
    char lock[CHUTE_FOLDER_NAME + 8];
    struct stat seen;
    if (strncmp(name, "stream-", 7) != 0 || strlen(name) >= sizeof out->name) return false;
    strcpy(out->name, name);
    snprintf(lock, sizeof lock, "%s/lock", out->name);
    out->made =
        fstatat(root, lock, &seen, AT_SYMLINK_NOFOLLOW) == 0 ? seen.st_mtim : (struct timespec){0};
    return true;
}

static size_t find_candidates(int root, struct candidate *out) {
    size_t count = 0;
    DIR *dir = list_folder(root);
    if (!dir) return 0;
    for (struct dirent *entry; count < MAX_CANDIDATES && (entry = readdir(dir));)
        count += is_candidate(root, entry->d_name, out + count);
    closedir(dir);
    qsort(out, count, sizeof *out, by_age);
    return count;
}

chute_found *chute_recovery_look(chute_recovery *recovery, uint64_t room) {
    chute_found *list = NULL;
    uint64_t bytes = 0;
    struct candidate *candidates = malloc(MAX_CANDIDATES * sizeof *candidates);
    int root = open(recovery->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root >= 0 && candidates) {
        size_t count = find_candidates(root, candidates);
        size_t i = 0;
        for (; i < count && recovery->count < MAX_ORPHANS && bytes < room; i++)
            bytes += adopt(recovery, root, candidates[i].name, &list);
        recovery->more = i < count;
    }
    if (root >= 0) close(root);
    free(candidates);
    return list;
}

/* ---- one batch ----------------------------------------------------------------------------- */

static chute_batch *make_batch(struct chute_slotfile *file, chute_error *err) {
    chute_insert *insert = chute_about_read(file->about, file->header.about_bytes, err);
    if (!insert) return NULL;
    chute_buffer *buffer =
        chute_buffer_new_of(file->data, file->header.head_bytes, file->word, err);
    if (buffer) file->data = NULL;
    chute_batch *batch = buffer ? chute_batch_new(buffer, insert, err) : NULL;
    chute_insert_free(insert);
    if (!batch) {
        chute_buffer_free(buffer);
        return NULL;
    }
    memcpy(batch->token, file->header.token, CHUTE_TOKEN_LEN + 1);
    chute_batch_seal(batch);
    return batch;
}

chute_batch *chute_recovery_load(const chute_found *found, chute_error *err) {
    struct chute_slotfile file = {0};
    chute_batch *batch = NULL;
    int fd = open_file(found->orphan, found->name, O_RDWR);
    if (fd < 0) {
        chute_fail(err, CHUTE_E_SPOOL, "it cannot be opened: %s", strerror(errno));
        err->flags = CHUTE_RETRYABLE;
        return NULL;
    }
    int rc = chute_slotfile_read(&file, fd, err);
    if (rc == CHUTE_OK && file.header.state == CHUTE_SLOT_FREE)
        rc = chute_fail(err, CHUTE_E_SPOOL, "no batch is in it any more");
    if (rc == CHUTE_OK) rc = chute_slotfile_load(&file, fd, err);
    if (rc == CHUTE_OK) rc = chute_slotfile_mark(&file, fd, CHUTE_SLOT_ATTEMPTED, err);
    if (rc == CHUTE_OK) batch = make_batch(&file, err);
    chute_slotfile_clear(&file);
    close(fd);
    return batch;
}

void chute_recovery_finish(chute_recovery *recovery, chute_found *found) {
    if (found->damaged)
        set_aside(recovery, found->orphan, found->name,
                  "its last rows could not be trusted; those before them were delivered");
    else
        unlinkat(found->orphan->folder.fd, found->name, 0);
    one_less(recovery, found);
}

int chute_recovery_bury(chute_recovery *recovery, chute_found *found, const chute_batch *batch,
                        chute_error *err) {
    struct chute_slotfile file = {0};
    int fd = open_file(found->orphan, found->name, O_RDWR);
    struct chute_aside_place from = {recovery->root, found->orphan->folder.fd, found->name};
    if (fd >= 0) chute_slotfile_read(&file, fd, NULL);
    int rc = chute_aside_bury(&from, batch->token, batch, file.about,
                              file.about ? file.header.about_bytes : 0, err);
    if (fd >= 0) {
        if (rc == CHUTE_OK && file.about) chute_slotfile_trim(&file, fd);
        close(fd);
    }
    chute_slotfile_clear(&file);
    one_less(recovery, found);
    return rc;
}

void chute_recovery_give_up(chute_recovery *recovery, chute_found *found, const char *reason) {
    set_aside(recovery, found->orphan, found->name, reason);
    one_less(recovery, found);
}

void chute_recovery_put_back(chute_recovery *recovery, chute_found *found) {
    one_less(recovery, found);
}

void chute_recovery_end(chute_recovery *recovery) {
    while (recovery->orphans) leave(recovery, recovery->orphans);
}
