/* SPDX-License-Identifier: BSD-2-Clause */
/* Thread-local storage of a library, too big to be given to every thread at once. */
__thread int tls_big[1 << 16];
int *tls_touch(int i);

int *tls_touch(int i)
{
	return &tls_big[i];
}
