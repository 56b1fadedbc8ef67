/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/kept_decoder.h"

#include <stdlib.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/locations/engine.h"
#include "gdbstub/locations/location.h"

/* Where it is kept; NULL: nowhere, as nothing was ever inserted. */
static struct decoder **place_of(const struct inferior *inferior)
{
	return inferior->breakpoints ? &inferior->breakpoints->engines->decoder : NULL;
}

static struct decoder *create(const struct arch_ops *arch)
{
	_cleanup_free_ struct decoder *decoder = malloc(sizeof(*decoder));

	return decoder && decoder_init(decoder, arch) ? take_ptr(decoder) : NULL;
}

void decoder_destroy(struct decoder *decoder)
{
	if (!decoder)
		return;
	decoder_deinit(decoder);
	free(decoder);
}

struct decoder *decoder_take(const struct inferior *inferior)
{
	struct decoder **place = place_of(inferior);

	if (place && *place && (*place)->arch == inferior->arch)
		return take_ptr(*place);
	return create(inferior->arch);
}

void decoder_give_back(const struct inferior *inferior, struct decoder *decoder)
{
	struct decoder **place = place_of(inferior);

	if (place) {
		decoder_destroy(*place);
		*place = decoder;
	} else {
		decoder_destroy(decoder);
	}
}
