/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thread-local storage of a library: too big to be given to every thread at once;
 * with STATIC, a little of the kind that every thread has.
 */
#ifdef STATIC
__thread int tls_big[4] __attribute__((tls_model("initial-exec")));
#else
__thread int tls_big[1 << 16];
#endif
int *tls_touch(int i);

int *tls_touch(int i)
{
	return &tls_big[i];
}
