/* SPDX-License-Identifier: BSD-2-Clause */
/* truehit.h in C++: a watched variable that is written three times, the third time to the
 * value that is wanted. */
#include <cerrno>
#include <cstdint>
#include <cstdio>

#include <truehit.h>

static volatile long watched;

int main()
{
	truehit *context = nullptr;
	truehit_filter *filter = nullptr;
	truehit_options options{};
	truehit_counts counts{};
	int err = truehit_create(&context);

	options.size = sizeof options;
	options.deed = TRUEHIT_COUNT;
	counts.size = sizeof counts;
	if (err == 0)
		err = truehit_open(context, 0, &options, &filter);
	if (err == 0)
		err = truehit_aim(filter, TRUEHIT_WRITE,
				  reinterpret_cast<std::uintptr_t>(&watched),
				  sizeof watched);
	if (err < 0) {
		std::fprintf(stderr, "%s\n", truehit_why(context));
		return err == -EPERM || err == -EACCES || err == -ENODEV ? 77 : 1;
	}
	truehit_arm(filter, 2);
	for (long i = 0; i < 3; i++)
		watched = i;
	truehit_read(filter, &counts);
	truehit_destroy(context);
	return counts.told == 2 ? 0 : 1;
}
