/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that is to be loaded by somebody who should not: where it lies, a file
 * tells of each process that did, with its status. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <stdio.h>

static void __attribute__((constructor)) leave_word(void)
{
	char line[512], name[512];
	FILE *out, *in;
	Dl_info self;

	if (!dladdr((void *)leave_word, &self))
		return;
	snprintf(name, sizeof(name), "%s.was-here", self.dli_fname);
	out = fopen(name, "ae");
	in = fopen("/proc/self/status", "re");
	while (in && out && fgets(line, sizeof(line), in))
		fputs(line, out);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}
