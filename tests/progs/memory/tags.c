/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory with tags (Arm MTE); exits with the tag that it finds at the end, or with 77
 * where there are none. */
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#ifdef __aarch64__
#include <asm/hwcap.h>
#include <asm/mman.h>

static unsigned char *memory;

static void set_tag(unsigned long tag, unsigned long offset)
{
	const unsigned long addr = (unsigned long)memory + offset;

	__asm__ volatile(".arch armv8.5-a+memtag\n\t"
			 "stg %0, [%0]"
			 :
			 : "r"(addr | tag << 56)
			 : "memory");
}

static int get_tag(unsigned long offset)
{
	unsigned long addr = (unsigned long)memory + offset;

	__asm__ volatile(".arch armv8.5-a+memtag\n\t"
			 "ldg %0, [%0]"
			 : "+r"(addr));
	return (int)(addr >> 56 & 15);
}

int main(void)
{
	if (!(getauxval(AT_HWCAP2) & HWCAP2_MTE) ||
	    prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE | PR_MTE_TCF_SYNC, 0,
		  0, 0) < 0)
		return 77;
	memory = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_MTE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	set_tag(3, 0);
	set_tag(7, 16);
	return get_tag(0) + get_tag(16); /* STOP */
}
#else
int main(void)
{
	return 77;
}
#endif
