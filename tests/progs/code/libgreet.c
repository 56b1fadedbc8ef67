/* SPDX-License-Identifier: BSD-2-Clause */
/* A shared library for the tests. */
int greet(int x);

int greet(int x)
{
	int y = x + 100; /* GREET */

	return y;
}
