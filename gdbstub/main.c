/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "arch/arch.h"
#include "gdbstub/base/log.h"
#include "gdbstub/base/rights.h"
#include "gdbstub/guard.h"
#include "gdbstub/options.h"
#include "gdbstub/server.h"

int main(int argc, char **argv)
{
	struct server server = {0};
	struct error *error _cleanup_error_ = rights_init();

	if (error) {
		log_warning("%s", error_text(error));
		return EXIT_FAILURE;
	}
	error = options_parse(&server.options, argc, argv);
	if (error) {
		log_warning("%s\nTry 'truehit --help'.", error_text(error));
		return EXIT_FAILURE;
	}
	if (server.options.print) {
		server.options.print();
		return EXIT_SUCCESS;
	}
	if (server.options.check == CHECK_NONE)
		server.guard = guard_start();
	error = arch_native()->init();
	if (error) {
		log_warning("%s", error_text(error));
		return EXIT_FAILURE;
	}
	return server.options.check == CHECK_NONE ? server_main(&server)
						  : check_main(server.options.check);
}
