/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/log.h"
#include "gdbstub/check/check_json.h"
#include "gdbstub/check/check_text.h"

/* no-color.org. */
static bool are_colours_wanted(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (!no_color || no_color[0] == '\0') && term &&
	       strcmp(term, "dumb") != 0;
}

static int judge(const struct findings *findings)
{
	return findings_has(findings, FOUND_PAD) || findings_kernel_decides(findings)
		       ? CHECK_FAST
		       : CHECK_SLOW;
}

int check_main(enum check_format format)
{
	_cleanup_buffer_ struct buffer out = {0};
	struct findings findings;
	int status;

	findings_make(&findings);
	status = judge(&findings);
	if (format == CHECK_JSON)
		check_print_json(&findings, status, &out);
	else
		check_print_text(&findings, are_colours_wanted(), &out);
	findings_deinit(&findings);
	if (buffer_failed(&out) || fwrite(out.data, 1, out.len, stdout) != out.len ||
	    fflush(stdout) != 0) {
		log_warning("what was found out could not be printed");
		return CHECK_FAILED;
	}
	return status;
}
