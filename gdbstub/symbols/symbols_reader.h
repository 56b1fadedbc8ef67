/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbols reader: a process that reads the ELF files of inferiors for the server.
 * Such a file may be made to harm whoever reads it: to need memory or time without end,
 * to vanish while it is mapped, or to get at an error in a library that unpacks it. So
 * the reader has no rights, no descriptors but its connection to the server and the
 * files that it is given, few system calls, and bounds on memory and time; the server
 * waits for it no longer than it has patience, and ends it. For symbols.c.
 */
#ifndef TRUEHIT_SYMBOLS_SYMBOLS_READER_H
#define TRUEHIT_SYMBOLS_SYMBOLS_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/base/patience.h"

enum {
	READER_TEXT_MAX = 32 << 10, /* bytes of names in a question or an answer */
	READER_NAME_MAX = READER_TEXT_MAX / 2,
	READER_FOUND_MAX = 1024,     /* symbols in an answer */
	READER_MEMORY_MAX = 40 << 20 /* bytes that a reader may allocate */
};

enum reader_question {
	READER_NAME,	       /* of the symbol that covers the address */
	READER_FRAME_REGISTER, /* at the address */
	READER_CODE,	  /* around the address: bytes before it, and from there on */
	READER_SEQUENCES, /* enum symbols_sequences at the address */
	READER_SMALL_STACKS, /* are they, in the language of the file? */
	READER_HOOK,	     /* is the address one? symbols_is_hook() */
	READER_COVERS,	     /* does the symbol of this name cover the address? */
	READER_FIND,	     /* symbols of these names */
};

struct reader_request {
	enum reader_question question;
	bool forget; /* the files that were given before are not needed any more */
	uint64_t start, end; /* of the file's mappings; they tell which file is meant */
	uint64_t addr;
	uint32_t text_len;
	char text[READER_TEXT_MAX]; /* names, each with its NUL; READER_FIND: sorted */
};

struct reader_reply {
	int32_t number; /* the register; bytes of code; sequences; whether it is so, or
			 * was found; how many were */
	bool lacks_packed; /* the file's packed symbols need too much memory */
	uint64_t offset;   /* of the address in the symbol, or the code */
	union {
		struct {
			/* The symbol's name in the file; for people, "": the same. Both
			 * are cut if need be. */
			char name[READER_NAME_MAX], shown[READER_NAME_MAX];
		};
		struct {
			uint64_t addr;
			uint32_t index; /* of the name in the request */
		} found[READER_FOUND_MAX];
	};
};

struct symbols_reader {
	pid_t pid;  /* 0: none runs */
	int socket; /* valid with pid */
};

/** Starts a process. 0 or a negative errno. */
int symbols_reader_start(struct symbols_reader *reader);
/** Ends it, and waits for its end. Legal if none runs. */
void symbols_reader_stop(struct symbols_reader *reader);

/**
 * Asks, and waits for the answer. @fd: the file to read, where it was not given before;
 * else -1. NULL: *reply holds. Else the reason, for the user, why the file is not read;
 * the reader has ended then.
 */
const char *symbols_reader_ask(struct symbols_reader *reader,
			       const struct reader_request *request, int fd,
			       struct reader_reply *reply, struct patience *patience);

#endif
